#include "Session.h"

#include <stdlib.h>
#include <string.h>

#define APPLICATION "zg-env"

/* DONT_MATCH_NAME: a keyring that was never unlocked since its service started knows the attributes
   of its items but not their schema, and a search with the schema's name finds nothing there. Items
   are stored with the name anyway. */
static const SecretSchema schema = {
    .name = "zg-env.Secret",
    .flags = SECRET_SCHEMA_DONT_MATCH_NAME,
    .attributes = {{"application", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"vault", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"purpose", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"identifier", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {NULL, 0}},
};

struct zg_secret_matches {
    gchar **paths[2]; /* unlocked, locked */
};

/* The table refers to the given strings. */
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
        return zg_secret_failure(session, NULL, ZG_SECRET_FAILED);
    GHashTable *attributes = attributes_of(vault, purpose, identifier);
    zg_secret_begin(session);
    api.secret_service_search_for_dbus_paths(session->service, &schema, attributes,
                                             NULL, zg_secret_finished, session);
    if (zg_secret_await(session))
        found = api.secret_service_search_for_dbus_paths_finish(
            session->service, session->result, &all->paths[0], &all->paths[1], &error);
    zg_secret_end(session);
    api.g_hash_table_unref(attributes);
    if (!found) {
        zg_secret_free_matches(all);
        return zg_secret_failure(session, error, ZG_SECRET_FAILED);
    }
    *matches = all;
    return zg_secret_done();
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

/* Unlocks `paths`. The unlocked ones go to `*unlocked`, for g_strfreev, or NULL. */
static zg_secret_result unlock(zg_secret_session *session, const gchar **paths, gchar ***unlocked) {
    GError *error = NULL;
    *unlocked = NULL;
    zg_secret_begin(session);
    api.secret_service_unlock_dbus_paths(session->service, paths, NULL, zg_secret_finished,
                                         session);
    if (zg_secret_await(session))
        api.secret_service_unlock_dbus_paths_finish(session->service, session->result, unlocked,
                                                    &error);
    bool answered = session->result != NULL;
    zg_secret_end(session);
    return answered && error == NULL && !session->expired
               ? zg_secret_done()
               : zg_secret_failure(session, error, ZG_SECRET_FAILED);
}

zg_secret_result zg_secret_unlock_matches(zg_secret_session *session, zg_secret_matches *matches,
                                          size_t *count) {
    gchar **unlocked = NULL;
    *count = 0;
    if (zg_secret_match_count(matches, true) == 0)
        return zg_secret_done();
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
        return zg_secret_failure(session, NULL, ZG_SECRET_GONE);
    zg_secret_begin(session);
    api.secret_service_get_secret_for_dbus_path(session->service, path, NULL,
                                                zg_secret_finished, session);
    if (zg_secret_await(session))
        read = api.secret_service_get_secret_for_dbus_path_finish(session->service, session->result,
                                                                  &error);
    zg_secret_end(session);
    /* Neither a value nor an error: the service omitted the item, for example because it was locked
       or deleted meanwhile. */
    if (read == NULL)
        return zg_secret_failure(session, error, ZG_SECRET_GONE);
    *value = (zg_secret_value *)read;
    return zg_secret_done();
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
        return zg_secret_failure(session, NULL, ZG_SECRET_GONE);
    GVariant *attributes =
        zg_secret_get_property(session, path, "org.freedesktop.Secret.Item", "Attributes", "a{ss}", &error);
    if (attributes == NULL)
        return zg_secret_failure(session, error, ZG_SECRET_FAILED);
    if (api.g_variant_lookup(attributes, name, "&s", &found))
        *text = strdup(found);
    api.g_variant_unref(attributes);
    return zg_secret_done();
}

zg_secret_result zg_secret_delete(zg_secret_session *session, const zg_secret_matches *matches,
                                  size_t index) {
    GError *error = NULL;
    bool deleted = false;
    const char *path = unlocked_path(matches, index);
    if (path == NULL)
        return zg_secret_failure(session, NULL, ZG_SECRET_GONE);
    zg_secret_begin(session);
    api.secret_service_delete_item_dbus_path(session->service, path, NULL, zg_secret_finished,
                                             session);
    if (zg_secret_await(session))
        deleted = api.secret_service_delete_item_dbus_path_finish(session->service, session->result,
                                                                  &error);
    zg_secret_end(session);
    return deleted ? zg_secret_done() : zg_secret_failure(session, error, ZG_SECRET_DISMISSED);
}

zg_secret_result zg_secret_store(zg_secret_session *session, const char *vault, const char *purpose,
                                 const char *identifier, const char *label, const void *bytes,
                                 size_t length) {
    GError *error = NULL;
    bool stored = false;
    GHashTable *attributes = attributes_of(vault, purpose, identifier);
    SecretValue *value = api.secret_value_new(length == 0 ? "" : bytes, (gssize)length, "text/plain");
    zg_secret_begin(session);
    api.secret_service_store(session->service, &schema, attributes, SECRET_COLLECTION_DEFAULT, label,
                             value, NULL, zg_secret_finished, session);
    if (zg_secret_await(session))
        stored = api.secret_service_store_finish(session->service, session->result, &error);
    zg_secret_end(session);
    api.secret_value_unref(value);
    api.g_hash_table_unref(attributes);
    return stored ? zg_secret_done() : zg_secret_failure(session, error, ZG_SECRET_DISMISSED);
}

/* Returns the path of the default collection, for g_free; NULL without an error if it is missing. */
static zg_secret_result default_path(zg_secret_session *session, gchar **path) {
    GError *error = NULL;
    *path = NULL;
    zg_secret_begin(session);
    api.secret_service_read_alias_dbus_path(session->service, SECRET_COLLECTION_DEFAULT,
                                            NULL, zg_secret_finished, session);
    if (zg_secret_await(session))
        *path = api.secret_service_read_alias_dbus_path_finish(session->service, session->result,
                                                               &error);
    zg_secret_end(session);
    return error == NULL && !session->expired ? zg_secret_done()
                                                : zg_secret_failure(session, error, ZG_SECRET_FAILED);
}

static zg_secret_result state_of(zg_secret_session *session, const char *path,
                                 zg_secret_collection *state) {
    GError *error = NULL;
    gboolean locked = TRUE;
    GVariant *value =
        zg_secret_get_property(session, path, "org.freedesktop.Secret.Collection", "Locked", "b", &error);
    if (value == NULL)
        return zg_secret_failure(session, error, ZG_SECRET_FAILED);
    api.g_variant_get(value, "b", &locked);
    api.g_variant_unref(value);
    *state = locked ? ZG_SECRET_COLLECTION_LOCKED : ZG_SECRET_COLLECTION_UNLOCKED;
    return zg_secret_done();
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
        /* The answer also includes collections that were already unlocked, without a prompt. */
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
        zg_secret_call(session, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
             "GetConnectionUnixProcessID", api.g_variant_new("(s)", SERVICE_NAME), &error);
    *identifier = 0;
    if (reply == NULL)
        return zg_secret_failure(session, error, ZG_SECRET_FAILED);
    if (api.g_variant_is_of_type(reply, (const GVariantType *)"(u)"))
        api.g_variant_get(reply, "(u)", &number);
    api.g_variant_unref(reply);
    *identifier = number;
    return zg_secret_done();
}
