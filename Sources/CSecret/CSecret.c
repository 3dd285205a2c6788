#define SECRET_API_SUBJECT_TO_CHANGE
#include "CSecret.h"

#include <dlfcn.h>
#include <libsecret/secret.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Nothing below may name a function of GLib or libsecret but through `api`, which the linker
   enforces: the libraries are not linked. Each pointer has the type of the function's own
   declaration, so that the compiler still checks every call. */

#define ZG_FUNCTIONS(X)                                                                             \
    X(g_async_initable_new_async)                                                                   \
    X(g_async_initable_new_finish)                                                                  \
    X(g_async_result_get_source_object)                                                            \
    X(g_cancellable_cancel)                                                                         \
    X(g_cancellable_new)                                                                            \
    X(g_dbus_connection_call)                                                                       \
    X(g_dbus_connection_call_finish)                                                                \
    X(g_dbus_connection_close)                                                                      \
    X(g_dbus_connection_new_for_address)                                                            \
    X(g_dbus_connection_new_for_address_finish)                                                     \
    X(g_dbus_error_get_remote_error)                                                                \
    X(g_dbus_error_quark)                                                                           \
    X(g_dbus_error_strip_remote_error)                                                              \
    X(g_error_free)                                                                                 \
    X(g_free)                                                                                       \
    X(g_get_monotonic_time)                                                                         \
    X(g_hash_table_insert)                                                                          \
    X(g_hash_table_new)                                                                             \
    X(g_hash_table_unref)                                                                           \
    X(g_io_error_quark)                                                                             \
    X(g_main_context_iteration)                                                                     \
    X(g_main_context_new)                                                                           \
    X(g_main_context_pop_thread_default)                                                            \
    X(g_main_context_push_thread_default)                                                           \
    X(g_main_context_unref)                                                                         \
    X(g_main_loop_new)                                                                              \
    X(g_main_loop_quit)                                                                             \
    X(g_main_loop_run)                                                                              \
    X(g_main_loop_unref)                                                                            \
    X(g_object_ref)                                                                                 \
    X(g_object_set)                                                                                 \
    X(g_object_unref)                                                                               \
    X(g_source_attach)                                                                              \
    X(g_source_destroy)                                                                             \
    X(g_source_set_callback)                                                                        \
    X(g_source_unref)                                                                               \
    X(g_str_equal)                                                                                  \
    X(g_str_hash)                                                                                   \
    X(g_strfreev)                                                                                   \
    X(g_timeout_source_new)                                                                         \
    X(g_type_class_peek)                                                                            \
    X(g_type_register_static_simple)                                                                \
    X(g_variant_get)                                                                                \
    X(g_variant_lookup)                                                                             \
    X(g_variant_new)                                                                                \
    X(g_variant_is_of_type)                                                                         \
    X(g_variant_unref)                                                                              \
    X(secret_error_get_quark)                                                                       \
    X(secret_service_delete_item_dbus_path)                                                         \
    X(secret_service_delete_item_dbus_path_finish)                                                  \
    X(secret_service_get_secret_for_dbus_path)                                                      \
    X(secret_service_get_secret_for_dbus_path_finish)                                               \
    X(secret_service_get_type)                                                                      \
    X(secret_service_read_alias_dbus_path)                                                          \
    X(secret_service_read_alias_dbus_path_finish)                                                   \
    X(secret_service_search_for_dbus_paths)                                                         \
    X(secret_service_search_for_dbus_paths_finish)                                                  \
    X(secret_service_store)                                                                         \
    X(secret_service_store_finish)                                                                  \
    X(secret_service_unlock_dbus_paths)                                                             \
    X(secret_service_unlock_dbus_paths_finish)                                                      \
    X(secret_value_get)                                                                             \
    X(secret_value_new)                                                                             \
    X(secret_value_unref)

#define ZG_POINTER(function) __typeof__(&function) function;
static struct {
    ZG_FUNCTIONS(ZG_POINTER)
} api;

static bool loaded;

static void load_once(void) {
    /* Never closed: GLib's types and threads do not survive that. */
    void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    /* A handle finds the functions of GLib too: dlsym searches what the library depends on. */
#define ZG_RESOLVE(function)                                                                        \
    *(void **)&api.function = dlsym(library, #function);                                            \
    if (api.function == NULL)                                                                       \
        return;
    ZG_FUNCTIONS(ZG_RESOLVE)
    loaded = true;
}

bool zg_secret_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return loaded;
}

#define SERVICE_NAME "org.freedesktop.secrets"
#define APPLICATION "zg-env"

/* DONT_MATCH_NAME: a keyring that was not unlocked since its service started knows its items by
   their attributes but not by their schema, and a search with the schema's name finds none there.
   Items are stored with the name all the same. */
static const SecretSchema schema = {
    .name = "zg-env.Secret",
    .flags = SECRET_SCHEMA_DONT_MATCH_NAME,
    .attributes = {{"application", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"vault", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"purpose", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"identifier", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {NULL, 0}},
};

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

struct zg_secret_matches {
    gchar **paths[2]; /* unlocked, locked */
};

static zg_secret_result done(void) {
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
    /* An error that libsecret did not give a code to. */
    gchar *name = api.g_dbus_error_get_remote_error(error);
    if (name != NULL && strcmp(name, "org.freedesktop.Secret.Error.NoSession") == 0)
        otherwise = ZG_SECRET_GONE;
    api.g_free(name);
    return otherwise;
}

/* The only place that owns an error: takes `error`, which may be NULL, and frees it. */
static zg_secret_result failed(const zg_secret_session *session, GError *error,
                               zg_secret_status otherwise) {
    zg_secret_result result = {.status = status_of(session, error, otherwise), .message = NULL};
    if (error != NULL) {
        api.g_dbus_error_strip_remote_error(error);
        result.message = error->message == NULL ? NULL : strdup(error->message);
        api.g_error_free(error);
    }
    return result;
}

/* A call: begin, start something with finished() and its session as the callback, await; where that
   is true, the matching finish function with session->result; end. */

static void begin(zg_secret_session *session) {
    api.g_main_context_push_thread_default(session->context);
    session->loop = api.g_main_loop_new(session->context, FALSE);
    session->result = NULL;
}

static void finished(GObject *source, GAsyncResult *result, gpointer data) {
    zg_secret_session *session = data;
    (void)source;
    session->result = (api.g_object_ref)(result); /* Without the macro of that name. */
    api.g_main_loop_quit(session->loop);
}

/* A call whose time is over is given up, not cancelled. libsecret would have the service dismiss its
   prompt, on which gnome-keyring 42 aborts ("assertion failed: !self->current") and takes every
   program's unlocked keyring with it; it lives through clients that go away. And libsecret 0.20
   does not finish a call whose prompt ended without an answer. */
static gboolean deadline_over(gpointer data) {
    zg_secret_session *session = data;
    session->expired = true;
    api.g_main_loop_quit(session->loop);
    return G_SOURCE_REMOVE;
}

static bool await(zg_secret_session *session) {
    gint64 rest = (session->deadline - api.g_get_monotonic_time()) / 1000;
    GSource *timeout = api.g_timeout_source_new(rest > 0 ? (guint)rest : 0);
    api.g_source_set_callback(timeout, deadline_over, session, NULL);
    api.g_source_attach(timeout, session->context);
    if (!session->expired)
        api.g_main_loop_run(session->loop);
    api.g_source_destroy(timeout);
    api.g_source_unref(timeout);
    return session->result != NULL;
}

static void end(zg_secret_session *session) {
    if (session->result != NULL)
        api.g_object_unref(session->result);
    session->result = NULL;
    api.g_main_loop_unref(session->loop);
    session->loop = NULL;
    api.g_main_context_pop_thread_default(session->context);
}

/* Calls a method by hand; NULL with `*error` on failure. Takes `parameters`. */
static GVariant *call(zg_secret_session *session, const char *name, const char *path,
                      const char *interface, const char *method, GVariant *parameters,
                      GError **error) {
    GVariant *reply = NULL;
    begin(session);
    api.g_dbus_connection_call(session->connection, name, path, interface, method, parameters, NULL,
                               G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL, finished,
                               session);
    if (await(session))
        reply = api.g_dbus_connection_call_finish(session->connection, session->result, error);
    end(session);
    return reply;
}

static GVariant *get_property(zg_secret_session *session, const char *path, const char *interface,
                              const char *property, const char *type, GError **error) {
    GVariant *value = NULL;
    GVariant *reply =
        call(session, SERVICE_NAME, path, "org.freedesktop.DBus.Properties", "Get",
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
    begin(session);
    api.g_dbus_connection_new_for_address(address,
                                          G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                              G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                          NULL, session->cancellable, finished, session);
    if (await(session))
        session->connection =
            api.g_dbus_connection_new_for_address_finish(session->result, &error);
    end(session);
    if (session->connection != NULL)
        return done();
    zg_secret_result result = failed(session, error, ZG_SECRET_NO_BUS);
    result.status = ZG_SECRET_NO_BUS; /* Also one that does not answer. */
    return result;
}

/* A SecretService on a connection of ours. The class itself always takes the process's own session
   bus, which reads the environment and may start a bus. Its constructor says so by properties that
   can be changed while the object is being made, which is what this derived class does. It connects
   no signals and loads no properties: nothing here uses them, and each is a round trip. */

static GObject *construct(GType type, guint count, GObjectConstructParam *properties) {
    gpointer parent = api.g_type_class_peek(api.secret_service_get_type());
    GObject *object = ((GObjectClass *)parent)->constructor(type, count, properties);
    /* The name too, which libsecret takes from the environment; its copy is lost, 24 bytes. */
    api.g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, "g-name", SERVICE_NAME, "g-flags",
                     G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
                         G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES,
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
    begin(session);
    api.g_async_initable_new_async(service_type, G_PRIORITY_DEFAULT, NULL, finished,
                                   session, "g-connection", session->connection, "flags",
                                   SECRET_SERVICE_OPEN_SESSION, NULL);
    if (await(session)) {
        GObject *source = api.g_async_result_get_source_object(session->result);
        session->service = (SecretService *)api.g_async_initable_new_finish(
            (GAsyncInitable *)source, session->result, &error);
        api.g_object_unref(source);
    }
    end(session);
    return session->service != NULL ? done() : failed(session, error, ZG_SECRET_FAILED);
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
        /* The call given up refers to all of it: the memory is given up too. */
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

/* The table refers to the strings given. */
static GHashTable *attributes_of(const char *vault, const char *purpose, const char *identifier) {
    GHashTable *attributes = api.g_hash_table_new(api.g_str_hash, api.g_str_equal);
    api.g_hash_table_insert(attributes, (gpointer) "application", (gpointer)APPLICATION);
    api.g_hash_table_insert(attributes, (gpointer) "vault", (gpointer)vault);
    if (purpose != NULL)
        api.g_hash_table_insert(attributes, (gpointer) "purpose", (gpointer)purpose);
    if (identifier != NULL)
        api.g_hash_table_insert(attributes, (gpointer) "identifier", (gpointer)identifier);
    return attributes;
}

zg_secret_result zg_secret_search(zg_secret_session *session, const char *vault,
                                  const char *purpose, const char *identifier,
                                  zg_secret_matches **matches) {
    GError *error = NULL;
    bool found = false;
    *matches = NULL;
    zg_secret_matches *all = calloc(1, sizeof *all);
    if (all == NULL)
        return failed(session, NULL, ZG_SECRET_FAILED);
    GHashTable *attributes = attributes_of(vault, purpose, identifier);
    begin(session);
    api.secret_service_search_for_dbus_paths(session->service, &schema, attributes,
                                             NULL, finished, session);
    if (await(session))
        found = api.secret_service_search_for_dbus_paths_finish(
            session->service, session->result, &all->paths[0], &all->paths[1], &error);
    end(session);
    api.g_hash_table_unref(attributes);
    if (!found) {
        zg_secret_free_matches(all);
        return failed(session, error, ZG_SECRET_FAILED);
    }
    *matches = all;
    return done();
}

void zg_secret_free_matches(zg_secret_matches *matches) {
    api.g_strfreev(matches->paths[0]);
    api.g_strfreev(matches->paths[1]);
    free(matches);
}

size_t zg_secret_match_count(const zg_secret_matches *matches, bool locked) {
    gchar **paths = matches->paths[locked ? 1 : 0];
    size_t count = 0;
    while (paths != NULL && paths[count] != NULL)
        count++;
    return count;
}

static const char *unlocked_path(const zg_secret_matches *matches, size_t index) {
    return index < zg_secret_match_count(matches, false) ? matches->paths[0][index] : NULL;
}

/* Unlocks `paths`; those that are unlocked then go to `*unlocked`, for g_strfreev, or NULL. */
static zg_secret_result unlock(zg_secret_session *session, const gchar **paths, gchar ***unlocked) {
    GError *error = NULL;
    *unlocked = NULL;
    begin(session);
    api.secret_service_unlock_dbus_paths(session->service, paths, NULL, finished,
                                         session);
    if (await(session))
        api.secret_service_unlock_dbus_paths_finish(session->service, session->result, unlocked,
                                                    &error);
    bool answered = session->result != NULL;
    end(session);
    return answered && error == NULL && !session->expired
               ? done()
               : failed(session, error, ZG_SECRET_FAILED);
}

zg_secret_result zg_secret_unlock_matches(zg_secret_session *session, zg_secret_matches *matches,
                                          size_t *count) {
    gchar **unlocked = NULL;
    *count = 0;
    if (zg_secret_match_count(matches, true) == 0)
        return done();
    zg_secret_result result = unlock(session, (const gchar **)matches->paths[1], &unlocked);
    if (unlocked != NULL && unlocked[0] != NULL) {
        api.g_strfreev(matches->paths[0]);
        matches->paths[0] = unlocked;
        *count = zg_secret_match_count(matches, false);
    } else {
        api.g_strfreev(unlocked);
    }
    return result;
}

zg_secret_result zg_secret_read(zg_secret_session *session, const zg_secret_matches *matches,
                                size_t index, zg_secret_value **value) {
    GError *error = NULL;
    SecretValue *read = NULL;
    const char *path = unlocked_path(matches, index);
    *value = NULL;
    if (path == NULL)
        return failed(session, NULL, ZG_SECRET_GONE);
    begin(session);
    api.secret_service_get_secret_for_dbus_path(session->service, path, NULL,
                                                finished, session);
    if (await(session))
        read = api.secret_service_get_secret_for_dbus_path_finish(session->service, session->result,
                                                                  &error);
    end(session);
    /* Neither a value nor an error: the service left the item out of its answer, as one does that
       was locked or deleted meanwhile. */
    if (read == NULL)
        return failed(session, error, ZG_SECRET_GONE);
    *value = (zg_secret_value *)read;
    return done();
}

const void *zg_secret_bytes(zg_secret_value *value, size_t *length) {
    gsize size = 0;
    const gchar *bytes = api.secret_value_get((SecretValue *)value, &size);
    *length = size;
    return bytes;
}

void zg_secret_free_value(zg_secret_value *value) {
    api.secret_value_unref((SecretValue *)value);
}

zg_secret_result zg_secret_read_attribute(zg_secret_session *session,
                                          const zg_secret_matches *matches, size_t index,
                                          const char *name, char **text) {
    GError *error = NULL;
    const gchar *found = NULL;
    const char *path = unlocked_path(matches, index);
    *text = NULL;
    if (path == NULL)
        return failed(session, NULL, ZG_SECRET_GONE);
    GVariant *attributes =
        get_property(session, path, "org.freedesktop.Secret.Item", "Attributes", "a{ss}", &error);
    if (attributes == NULL)
        return failed(session, error, ZG_SECRET_FAILED);
    if (api.g_variant_lookup(attributes, name, "&s", &found))
        *text = strdup(found);
    api.g_variant_unref(attributes);
    return done();
}

zg_secret_result zg_secret_delete(zg_secret_session *session, const zg_secret_matches *matches,
                                  size_t index) {
    GError *error = NULL;
    bool deleted = false;
    const char *path = unlocked_path(matches, index);
    if (path == NULL)
        return failed(session, NULL, ZG_SECRET_GONE);
    begin(session);
    api.secret_service_delete_item_dbus_path(session->service, path, NULL, finished,
                                             session);
    if (await(session))
        deleted = api.secret_service_delete_item_dbus_path_finish(session->service, session->result,
                                                                  &error);
    end(session);
    return deleted ? done() : failed(session, error, ZG_SECRET_DISMISSED);
}

zg_secret_result zg_secret_store(zg_secret_session *session, const char *vault, const char *purpose,
                                 const char *identifier, const char *label, const void *bytes,
                                 size_t length) {
    GError *error = NULL;
    bool stored = false;
    GHashTable *attributes = attributes_of(vault, purpose, identifier);
    SecretValue *value = api.secret_value_new(length == 0 ? "" : bytes, (gssize)length, "text/plain");
    begin(session);
    api.secret_service_store(session->service, &schema, attributes, SECRET_COLLECTION_DEFAULT, label,
                             value, NULL, finished, session);
    if (await(session))
        stored = api.secret_service_store_finish(session->service, session->result, &error);
    end(session);
    api.secret_value_unref(value);
    api.g_hash_table_unref(attributes);
    return stored ? done() : failed(session, error, ZG_SECRET_DISMISSED);
}

/* The path of the default collection, for g_free; NULL without an error where there is none. */
static zg_secret_result default_path(zg_secret_session *session, gchar **path) {
    GError *error = NULL;
    *path = NULL;
    begin(session);
    api.secret_service_read_alias_dbus_path(session->service, SECRET_COLLECTION_DEFAULT,
                                            NULL, finished, session);
    if (await(session))
        *path = api.secret_service_read_alias_dbus_path_finish(session->service, session->result,
                                                               &error);
    end(session);
    return error == NULL && !session->expired ? done()
                                                : failed(session, error, ZG_SECRET_FAILED);
}

static zg_secret_result state_of(zg_secret_session *session, const char *path,
                                 zg_secret_collection *state) {
    GError *error = NULL;
    gboolean locked = TRUE;
    GVariant *value =
        get_property(session, path, "org.freedesktop.Secret.Collection", "Locked", "b", &error);
    if (value == NULL)
        return failed(session, error, ZG_SECRET_FAILED);
    api.g_variant_get(value, "b", &locked);
    api.g_variant_unref(value);
    *state = locked ? ZG_SECRET_COLLECTION_LOCKED : ZG_SECRET_COLLECTION_UNLOCKED;
    return done();
}

zg_secret_result zg_secret_default_collection(zg_secret_session *session,
                                              zg_secret_collection *state) {
    gchar *path = NULL;
    *state = ZG_SECRET_COLLECTION_MISSING;
    zg_secret_result result = default_path(session, &path);
    if (path != NULL)
        result = state_of(session, path, state);
    api.g_free(path);
    return result;
}

zg_secret_result zg_secret_unlock_default(zg_secret_session *session, zg_secret_collection *state) {
    gchar *path = NULL;
    gchar **unlocked = NULL;
    *state = ZG_SECRET_COLLECTION_MISSING;
    zg_secret_result result = default_path(session, &path);
    if (path != NULL) {
        /* A collection that is unlocked already is in the answer too, without a prompt. */
        const gchar *paths[] = {path, NULL};
        result = unlock(session, paths, &unlocked);
        *state = unlocked != NULL && unlocked[0] != NULL ? ZG_SECRET_COLLECTION_UNLOCKED
                                                         : ZG_SECRET_COLLECTION_LOCKED;
    }
    api.g_strfreev(unlocked);
    api.g_free(path);
    return result;
}

zg_secret_result zg_secret_provider(zg_secret_session *session, uint32_t *identifier) {
    GError *error = NULL;
    guint32 number = 0;
    GVariant *reply =
        call(session, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
             "GetConnectionUnixProcessID", api.g_variant_new("(s)", SERVICE_NAME), &error);
    *identifier = 0;
    if (reply == NULL)
        return failed(session, error, ZG_SECRET_FAILED);
    if (api.g_variant_is_of_type(reply, (const GVariantType *)"(u)"))
        api.g_variant_get(reply, "(u)", &number);
    api.g_variant_unref(reply);
    *identifier = number;
    return done();
}
