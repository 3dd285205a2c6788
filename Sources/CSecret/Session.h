#ifndef ZG_CSECRET_SESSION_H
#define ZG_CSECRET_SESSION_H

#include "Library.h"

#define SERVICE_NAME "org.freedesktop.secrets"

struct zg_secret_session {
    GDBusConnection *connection;
    SecretService *service;
    /* Only while connecting. */
    GCancellable *cancellable;
    GMainContext *context;
    /* Of the running call. */
    GMainLoop *loop;
    GAsyncResult *result;
    /* Monotonic microseconds. */
    gint64 deadline;
    /* A call timed out: its callback may still be due, so nothing may serve the context any more,
       and no other call is made. */
    bool expired;
};

/// Returns the result of a successful call.
zg_secret_result zg_secret_done(void);

/// Returns the result of a failed call, `otherwise` if the error does not tell more. The only place
/// that frees errors: takes `error`, which may be NULL.
zg_secret_result zg_secret_failure(const zg_secret_session *session, GError *error,
                                   zg_secret_status otherwise);

/* A call: zg_secret_begin, then a function started with zg_secret_finished and its session as the
   callback, then zg_secret_await; if that is true, the matching finish function with
   `session->result`; zg_secret_end. */

void zg_secret_begin(zg_secret_session *session);
void zg_secret_finished(GObject *source, GAsyncResult *result, gpointer session);
bool zg_secret_await(zg_secret_session *session);
void zg_secret_end(zg_secret_session *session);

/// Calls a method directly. Returns NULL on failure, with `*error` unless it timed out. Takes
/// `parameters`.
GVariant *zg_secret_call(zg_secret_session *session, const char *name, const char *path,
                         const char *interface, const char *method, GVariant *parameters,
                         GError **error);

/// Reads a property of the given type. Returns NULL on failure, with `*error` unless it timed out
/// or the type differs.
GVariant *zg_secret_get_property(zg_secret_session *session, const char *path,
                                 const char *interface, const char *property, const char *type,
                                 GError **error);

#endif
