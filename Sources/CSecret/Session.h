#ifndef ZG_CSECRET_SESSION_H
#define ZG_CSECRET_SESSION_H

#include "Library.h"

#define SERVICE_NAME "org.freedesktop.secrets"

struct zg_secret_session {
    GDBusConnection *connection;
    SecretService *service;
    /* Of the connecting only. */
    GCancellable *cancellable;
    GMainContext *context;
    /* Of the call under way. */
    GMainLoop *loop;
    GAsyncResult *result;
    /* Monotonic microseconds. */
    gint64 deadline;
    /* The deadline of a call was over: its callback may still be due, so nothing serves the context
       any more, and no other call is made. */
    bool expired;
};

/// The result of a call that is done.
zg_secret_result zg_secret_done(void);

/// The result of a call that failed, `otherwise` where the error does not tell more. The only place
/// that owns an error: takes `error`, which may be NULL, and frees it.
zg_secret_result zg_secret_failure(const zg_secret_session *session, GError *error,
                                   zg_secret_status otherwise);

/* A call: zg_secret_begin, then something started with zg_secret_finished and its session as the
   callback, then zg_secret_await; where that is true, the finish function that belongs to it with
   `session->result`; zg_secret_end. */

void zg_secret_begin(zg_secret_session *session);
void zg_secret_finished(GObject *source, GAsyncResult *result, gpointer session);
bool zg_secret_await(zg_secret_session *session);
void zg_secret_end(zg_secret_session *session);

/// Calls a method by hand; NULL, with `*error` unless the time was over, on failure. Takes
/// `parameters`.
GVariant *zg_secret_call(zg_secret_session *session, const char *name, const char *path,
                         const char *interface, const char *method, GVariant *parameters,
                         GError **error);

/// Reads a property of the given type; NULL, with `*error` unless the time was over or the type is
/// another, on failure.
GVariant *zg_secret_get_property(zg_secret_session *session, const char *path,
                                 const char *interface, const char *property, const char *type,
                                 GError **error);

#endif
