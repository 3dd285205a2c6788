#ifndef ZG_CSECRET_H
#define ZG_CSECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The Secret Service through libsecret, which is opened at first use (dlopen), so that only
   commands that use a desktop keyring load it and GLib. This header declares what Swift needs with
   plain types; the sources check it against libsecret's own headers.

   Every call blocks until it is done, at most until its session's limit; after a timeout the
   session is only valid for zg_secret_close. Calls on one session must not overlap; they may come
   from different threads. No call reads the environment for an address or starts a bus. */

/// A connection to a bus, with a session of its Secret Service.
typedef struct zg_secret_session zg_secret_session;

/// The items found by a search.
typedef struct zg_secret_matches zg_secret_matches;

/// The secret of one item, in memory of libsecret.
typedef struct zg_secret_value zg_secret_value;

/// The status of a call.
typedef enum {
    /// Success.
    ZG_SECRET_DONE,
    /// libsecret, or a function of it, is missing.
    ZG_SECRET_LIBRARY_MISSING,
    /// No bus at the address.
    ZG_SECRET_NO_BUS,
    /// The bus has no Secret Service and cannot start one.
    ZG_SECRET_NO_PROVIDER,
    /// The collection is locked.
    ZG_SECRET_LOCKED,
    /// The user closed the prompt, or the service could not show one.
    ZG_SECRET_DISMISSED,
    /// The session's limit has passed.
    ZG_SECRET_TIMED_OUT,
    /// The item, or the session after a restart, no longer exists.
    ZG_SECRET_GONE,
    /// The connection or the service was lost during the call.
    ZG_SECRET_DISCONNECTED,
    /// Any other failure.
    ZG_SECRET_FAILED,
} zg_secret_status;

/// The status of a call, with the library's message about a failure.
typedef struct {
    zg_secret_status status;
    /// Owned by the caller, for free(3); NULL on success or without a message.
    char *_Nullable message;
} zg_secret_result;

/// The default collection: where items are stored.
typedef enum {
    ZG_SECRET_COLLECTION_MISSING,
    ZG_SECRET_COLLECTION_LOCKED,
    ZG_SECRET_COLLECTION_UNLOCKED,
} zg_secret_collection;

/// Opens libsecret once. Returns false if it, or a function of it, is missing.
bool zg_secret_load(void);

/// Connects to the bus at `address` and opens a session with its Secret Service, which the bus may
/// start. On success free `*session` with zg_secret_close.
zg_secret_result zg_secret_open(const char *_Nonnull address, uint32_t limit_milliseconds,
                                zg_secret_session *_Nullable *_Nonnull session);

/// Disconnects and frees `session`.
void zg_secret_close(zg_secret_session *_Nonnull session);

/// Sets the limit for all calls from now on together.
void zg_secret_set_limit(zg_secret_session *_Nonnull session, uint32_t limit_milliseconds);

/// Searches all collections, without a prompt. NULL for `identifier` and `purpose` matches any. On
/// success free `*matches` with zg_secret_free_matches.
zg_secret_result zg_secret_search(zg_secret_session *_Nonnull session, const char *_Nonnull vault,
                                  const char *_Nullable purpose, const char *_Nullable identifier,
                                  zg_secret_matches *_Nullable *_Nonnull matches);

/// Frees the result of a search.
void zg_secret_free_matches(zg_secret_matches *_Nonnull matches);

/// Returns the number of unlocked or locked items.
size_t zg_secret_match_count(const zg_secret_matches *_Nonnull matches, bool locked);

/// Asks the service to unlock all locked items, with a prompt if needed. `*count` is the number of
/// items that were unlocked.
zg_secret_result zg_secret_unlock_matches(zg_secret_session *_Nonnull session,
                                          zg_secret_matches *_Nonnull matches,
                                          size_t *_Nonnull count);

/// Reads the secret of the unlocked item at `index`. On success free `*value` with
/// zg_secret_free_value.
zg_secret_result zg_secret_read(zg_secret_session *_Nonnull session,
                                const zg_secret_matches *_Nonnull matches, size_t index,
                                zg_secret_value *_Nullable *_Nonnull value);

/// Returns the bytes of a secret, valid as long as `value`.
const void *_Nullable zg_secret_bytes(zg_secret_value *_Nonnull value, size_t *_Nonnull length);

/// Frees a secret; libsecret wipes it.
void zg_secret_free_value(zg_secret_value *_Nonnull value);

/// Reads an attribute of the unlocked item at `index`. `*text` is for free(3), NULL without such an
/// attribute.
zg_secret_result zg_secret_read_attribute(zg_secret_session *_Nonnull session,
                                          const zg_secret_matches *_Nonnull matches, size_t index,
                                          const char *_Nonnull name,
                                          char *_Nullable *_Nonnull text);

/// Deletes the unlocked item at `index`.
zg_secret_result zg_secret_delete(zg_secret_session *_Nonnull session,
                                  const zg_secret_matches *_Nonnull matches, size_t index);

/// Stores text in the default collection, replacing an item with the same attributes. May prompt to
/// unlock or create the collection.
zg_secret_result zg_secret_store(zg_secret_session *_Nonnull session, const char *_Nonnull vault,
                                 const char *_Nonnull purpose, const char *_Nonnull identifier,
                                 const char *_Nonnull label, const void *_Nullable bytes,
                                 size_t length);

/// Reads the state of the default collection, without a prompt.
zg_secret_result zg_secret_default_collection(zg_secret_session *_Nonnull session,
                                              zg_secret_collection *_Nonnull state);

/// Asks the service to unlock the default collection, with a prompt if needed. `*state` is the
/// state afterwards.
zg_secret_result zg_secret_unlock_default(zg_secret_session *_Nonnull session,
                                          zg_secret_collection *_Nonnull state);

/// Returns the process id of the Secret Service.
zg_secret_result zg_secret_provider(zg_secret_session *_Nonnull session,
                                    uint32_t *_Nonnull identifier);

#endif
