#include "Session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

zg_secret_result zg_secret_done(void) {
    return (zg_secret_result){.status = ZG_SECRET_DONE, .message = NULL};
}

static zg_secret_status status_of(const zg_secret_session *session, const GError *error,
                                  zg_secret_status otherwise) {
    if (session->expired)
        return ZG_SECRET_TIMED_OUT;
    if (error == NULL)
        return otherwise;
    if (error->domain == api.secret_error_get_quark()) {
        if (error->code == SECRET_ERROR_IS_LOCKED)
            return ZG_SECRET_LOCKED;
        if (error->code == SECRET_ERROR_NO_SUCH_OBJECT)
            return ZG_SECRET_GONE;
    } else if (error->domain == api.g_dbus_error_quark()) {
        switch (error->code) {
        case G_DBUS_ERROR_SERVICE_UNKNOWN:
        case G_DBUS_ERROR_NAME_HAS_NO_OWNER:
        case G_DBUS_ERROR_SPAWN_CHILD_EXITED:
        case G_DBUS_ERROR_SPAWN_CHILD_SIGNALED:
        case G_DBUS_ERROR_SPAWN_CONFIG_INVALID:
        case G_DBUS_ERROR_SPAWN_EXEC_FAILED:
        case G_DBUS_ERROR_SPAWN_FAILED:
        case G_DBUS_ERROR_SPAWN_SETUP_FAILED:
        case G_DBUS_ERROR_SPAWN_FILE_INVALID:
        case G_DBUS_ERROR_SPAWN_FORK_FAILED:
        case G_DBUS_ERROR_SPAWN_NO_MEMORY:
        case G_DBUS_ERROR_SPAWN_PERMISSIONS_INVALID:
        case G_DBUS_ERROR_SPAWN_SERVICE_INVALID:
        case G_DBUS_ERROR_SPAWN_SERVICE_NOT_FOUND:
            return ZG_SECRET_NO_PROVIDER;
        case G_DBUS_ERROR_UNKNOWN_OBJECT:
            return ZG_SECRET_GONE;
        case G_DBUS_ERROR_DISCONNECTED:
        case G_DBUS_ERROR_NO_REPLY:
            return ZG_SECRET_DISCONNECTED;
        default:
            break;
        }
    } else if (error->domain == api.g_io_error_quark()) {
        if (error->code == G_IO_ERROR_CANCELLED)
            return ZG_SECRET_DISMISSED;
        if (error->code == G_IO_ERROR_CLOSED)
            return ZG_SECRET_DISCONNECTED;
    }
    /* An error without a code of libsecret's. */
    gchar *name = api.g_dbus_error_get_remote_error(error);
    if (name != NULL && strcmp(name, "org.freedesktop.Secret.Error.NoSession") == 0)
        otherwise = ZG_SECRET_GONE;
    api.g_free(name);
    return otherwise;
}

zg_secret_result zg_secret_failure(const zg_secret_session *session, GError *error,
                                   zg_secret_status otherwise) {
    zg_secret_result result = {.status = status_of(session, error, otherwise), .message = NULL};
    if (error != NULL) {
        api.g_dbus_error_strip_remote_error(error);
        result.message = error->message == NULL ? NULL : strdup(error->message);
        api.g_error_free(error);
    }
    return result;
}

void zg_secret_begin(zg_secret_session *session) {
    api.g_main_context_push_thread_default(session->context);
    session->loop = api.g_main_loop_new(session->context, FALSE);
    session->result = NULL;
}

void zg_secret_finished(GObject *source, GAsyncResult *result, gpointer data) {
    zg_secret_session *session = data;
    (void)source;
    session->result = (api.g_object_ref)(result); /* Avoids the macro of that name. */
    api.g_main_loop_quit(session->loop);
}

/* A call that timed out is abandoned, not canceled. Canceling makes libsecret dismiss the
   service's prompt, on which gnome-keyring 42 aborts ("assertion failed: !self->current") and loses
   every program's unlocked keyring; it survives clients that disconnect. Also, libsecret 0.20 never
   finishes a call whose prompt ended without an answer. */
static gboolean deadline_over(gpointer data) {
    zg_secret_session *session = data;
    session->expired = true;
    api.g_main_loop_quit(session->loop);
    return G_SOURCE_REMOVE;
}

bool zg_secret_await(zg_secret_session *session) {
    gint64 rest = (session->deadline - api.g_get_monotonic_time()) / 1000;
    GSource *timeout = api.g_timeout_source_new(rest > 0 ? (guint)rest : 0);
    api.g_source_set_callback(timeout, deadline_over, session, NULL);
    api.g_source_attach(timeout, session->context);
    if (!session->expired)
        api.g_main_loop_run(session->loop);
    api.g_source_destroy(timeout);
    api.g_source_unref(timeout);
    /* Both in one iteration of the loop: it was done in time after all. */
    if (session->result != NULL)
        session->expired = false;
    return session->result != NULL;
}

void zg_secret_end(zg_secret_session *session) {
    if (session->result != NULL)
        api.g_object_unref(session->result);
    session->result = NULL;
    api.g_main_loop_unref(session->loop);
    session->loop = NULL;
    api.g_main_context_pop_thread_default(session->context);
}

GVariant *zg_secret_call(zg_secret_session *session, const char *name, const char *path,
                         const char *interface, const char *method, GVariant *parameters,
                         GError **error) {
    GVariant *reply = NULL;
    zg_secret_begin(session);
    api.g_dbus_connection_call(session->connection, name, path, interface, method, parameters, NULL,
                               G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL, zg_secret_finished,
                               session);
    if (zg_secret_await(session))
        reply = api.g_dbus_connection_call_finish(session->connection, session->result, error);
    zg_secret_end(session);
    return reply;
}

GVariant *zg_secret_get_property(zg_secret_session *session, const char *path,
                                 const char *interface, const char *property, const char *type,
                                 GError **error) {
    GVariant *value = NULL;
    GVariant *reply =
        zg_secret_call(session, SERVICE_NAME, path, "org.freedesktop.DBus.Properties", "Get",
                       api.g_variant_new("(ss)", interface, property), error);
    if (reply == NULL)
        return NULL;
    if (api.g_variant_is_of_type(reply, (const GVariantType *)"(v)"))
        api.g_variant_get(reply, "(v)", &value);
    api.g_variant_unref(reply);
    if (value != NULL && !api.g_variant_is_of_type(value, (const GVariantType *)type)) {
        api.g_variant_unref(value);
        value = NULL;
    }
    return value;
}

void zg_secret_set_limit(zg_secret_session *session, uint32_t limit_milliseconds) {
    session->deadline = api.g_get_monotonic_time() + (gint64)limit_milliseconds * 1000;
}

static zg_secret_result connect_bus(zg_secret_session *session, const char *address) {
    GError *error = NULL;
    zg_secret_begin(session);
    api.g_dbus_connection_new_for_address(address,
                                          G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                              G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                          NULL, session->cancellable, zg_secret_finished, session);
    if (zg_secret_await(session))
        session->connection =
            api.g_dbus_connection_new_for_address_finish(session->result, &error);
    zg_secret_end(session);
    if (session->connection != NULL)
        return zg_secret_done();
    zg_secret_result result = zg_secret_failure(session, error, ZG_SECRET_NO_BUS);
    result.status = ZG_SECRET_NO_BUS; /* Also one that does not respond. */
    return result;
}

/* A SecretService on our connection. The class itself always uses the process's session bus, which
   reads the environment and may start a bus. Its constructor sets this in properties that can be
   changed during construction, which this derived class does. It connects no signals and loads no
   properties: they are unused, and each costs a round trip. So does asking the bus to start the
   service, which it does for the first call anyway. */

static GObject *construct(GType type, guint count, GObjectConstructParam *properties) {
    gpointer parent = api.g_type_class_peek(api.secret_service_get_type());
    GObject *object = ((GObjectClass *)parent)->constructor(type, count, properties);
    /* The name too, which libsecret takes from the environment; its copy leaks 24 bytes. */
    api.g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, "g-name", SERVICE_NAME, "g-flags",
                     G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
                         G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES |
                     G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION,
                     NULL);
    return object;
}

static void initialise_class(gpointer class, gpointer data) {
    (void)data;
    ((GObjectClass *)class)->constructor = construct;
}

static GType service_type;

static void register_type(void) {
    service_type = api.g_type_register_static_simple(
        api.secret_service_get_type(), "ZGSecretService", sizeof(SecretServiceClass),
        initialise_class, sizeof(SecretService), NULL, 0);
}

static zg_secret_result open_service(zg_secret_session *session) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    GError *error = NULL;
    pthread_once(&once, register_type);
    zg_secret_begin(session);
    api.g_async_initable_new_async(service_type, G_PRIORITY_DEFAULT, NULL, zg_secret_finished,
                                   session, "g-connection", session->connection, "flags",
                                   SECRET_SERVICE_OPEN_SESSION, NULL);
    if (zg_secret_await(session)) {
        GObject *source = api.g_async_result_get_source_object(session->result);
        session->service = (SecretService *)api.g_async_initable_new_finish(
            (GAsyncInitable *)source, session->result, &error);
        api.g_object_unref(source);
    }
    zg_secret_end(session);
    return session->service != NULL ? zg_secret_done() : zg_secret_failure(session, error, ZG_SECRET_FAILED);
}

zg_secret_result zg_secret_open(const char *address, uint32_t limit_milliseconds,
                                zg_secret_session **session) {
    *session = NULL;
    if (!zg_secret_load())
        return (zg_secret_result){.status = ZG_SECRET_LIBRARY_MISSING, .message = NULL};
    zg_secret_session *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return (zg_secret_result){.status = ZG_SECRET_FAILED, .message = NULL};
    opened->context = api.g_main_context_new();
    opened->cancellable = api.g_cancellable_new();
    zg_secret_set_limit(opened, limit_milliseconds);
    zg_secret_result result = connect_bus(opened, address);
    if (result.status == ZG_SECRET_DONE)
        result = open_service(opened);
    if (result.status == ZG_SECRET_DONE)
        *session = opened;
    else
        zg_secret_close(opened);
    return result;
}

void zg_secret_close(zg_secret_session *session) {
    if (session->connection != NULL)
        api.g_dbus_connection_close(session->connection, NULL, NULL, NULL);
    if (session->expired) {
        /* The abandoned call refers to all of it, so the memory is leaked. */
        api.g_cancellable_cancel(session->cancellable);
        return;
    }
    if (session->service != NULL)
        api.g_object_unref(session->service);
    if (session->connection != NULL)
        api.g_object_unref(session->connection);
    while (api.g_main_context_iteration(session->context, FALSE))
        ;
    api.g_object_unref(session->cancellable);
    api.g_main_context_unref(session->context);
    free(session);
}
