#ifndef ZG_CSECRET_H
#define ZG_CSECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The Secret Service through libsecret, which is opened at first use (dlopen), so that only commands
   that ask a desktop keyring load it and its GLib. This header names what Swift needs in plain
   types; the sources hold it against libsecret's own headers.

   Every call blocks until it is done, at most until the limit of its session; after a call that timed
   out the session is only good for zg_secret_close. Calls on one session must not overlap; they may
   come from different threads. No call reads the environment for an address or starts a bus. */

/// A connection to a bus, with a session of its Secret Service.
typedef struct zg_secret_session zg_secret_session;

/// The items that a search found.
typedef struct zg_secret_matches zg_secret_matches;

/// The secret of one item, in memory of libsecret.
typedef struct zg_secret_value zg_secret_value;

/// What became of a call.
typedef enum {
    /// Done.
    ZG_SECRET_DONE,
    /// libsecret, or a function of it, is not there.
    ZG_SECRET_LIBRARY_MISSING,
    /// No bus at the address.
    ZG_SECRET_NO_BUS,
    /// The bus has no Secret Service and cannot start one.
    ZG_SECRET_NO_PROVIDER,
    /// The collection is locked.
    ZG_SECRET_LOCKED,
    /// The user closed the prompt, or the service could not show one.
    ZG_SECRET_DISMISSED,
    /// The limit of the session was over.
    ZG_SECRET_TIMED_OUT,
    /// What the call was about is not there (any more): an item, or the session after a restart.
    ZG_SECRET_GONE,
    /// The connection or the service went away during the call.
    ZG_SECRET_DISCONNECTED,
    /// Anything else.
    ZG_SECRET_FAILED,
} zg_secret_status;

/// What became of a call, with what the library said about a failure.
typedef struct {
    zg_secret_status status;
    /// Owned by the caller, for free(3); NULL when done, and when there is nothing to say.
    char *_Nullable message;
} zg_secret_result;

/// The default collection: where items are stored.
typedef enum {
    ZG_SECRET_COLLECTION_MISSING,
    ZG_SECRET_COLLECTION_LOCKED,
    ZG_SECRET_COLLECTION_UNLOCKED,
} zg_secret_collection;

/// Opens libsecret, once. False when it, or a function of it, is not there.
bool zg_secret_load(void);

/// Connects to the bus at `address` and opens a session with its Secret Service, which the bus may
/// start for it. On success `*session` is for zg_secret_close.
zg_secret_result zg_secret_open(const char *_Nonnull address, uint32_t limit_milliseconds,
                                zg_secret_session *_Nullable *_Nonnull session);

/// Disconnects and frees `session`.
void zg_secret_close(zg_secret_session *_Nonnull session);

/// Sets how long the calls from now on may take together.
void zg_secret_set_limit(zg_secret_session *_Nonnull session, uint32_t limit_milliseconds);

/// Searches all collections, without a prompt. NULL for `identifier` and `purpose` matches any. On
/// success `*matches` is for zg_secret_free_matches.
zg_secret_result zg_secret_search(zg_secret_session *_Nonnull session, const char *_Nonnull vault,
                                  const char *_Nullable purpose, const char *_Nullable identifier,
                                  zg_secret_matches *_Nullable *_Nonnull matches);

/// Frees what a search found.
void zg_secret_free_matches(zg_secret_matches *_Nonnull matches);

/// Number of items that are unlocked, or that are locked.
size_t zg_secret_match_count(const zg_secret_matches *_Nonnull matches, bool locked);

/// Asks the service to unlock all locked items, by a prompt where it needs one. They move to the
/// unlocked ones as far as that worked; `*count` tells how many did.
zg_secret_result zg_secret_unlock_matches(zg_secret_session *_Nonnull session,
                                          zg_secret_matches *_Nonnull matches,
                                          size_t *_Nonnull count);

/// Reads the secret of the unlocked item at `index`. On success `*value` is for
/// zg_secret_free_value.
zg_secret_result zg_secret_read(zg_secret_session *_Nonnull session,
                                const zg_secret_matches *_Nonnull matches, size_t index,
                                zg_secret_value *_Nullable *_Nonnull value);

/// The bytes of a secret; they live as long as `value`.
const void *_Nullable zg_secret_bytes(zg_secret_value *_Nonnull value, size_t *_Nonnull length);

/// Frees a secret; libsecret wipes it.
void zg_secret_free_value(zg_secret_value *_Nonnull value);

/// Reads one attribute of the unlocked item at `index`. `*text` is for free(3), NULL without such an
/// attribute.
zg_secret_result zg_secret_read_attribute(zg_secret_session *_Nonnull session,
                                          const zg_secret_matches *_Nonnull matches, size_t index,
                                          const char *_Nonnull name,
                                          char *_Nullable *_Nonnull text);

/// Deletes the unlocked item at `index`.
zg_secret_result zg_secret_delete(zg_secret_session *_Nonnull session,
                                  const zg_secret_matches *_Nonnull matches, size_t index);

/// Stores text in the default collection, in place of an item there with the same attributes. May
/// prompt: to unlock the collection, or to create it where there is none.
zg_secret_result zg_secret_store(zg_secret_session *_Nonnull session, const char *_Nonnull vault,
                                 const char *_Nonnull purpose, const char *_Nonnull identifier,
                                 const char *_Nonnull label, const void *_Nullable bytes,
                                 size_t length);

/// Tells the state of the default collection, without a prompt.
zg_secret_result zg_secret_default_collection(zg_secret_session *_Nonnull session,
                                              zg_secret_collection *_Nonnull state);

/// Asks the service to unlock the default collection, by a prompt where it needs one. `*state` is
/// the state afterwards: still locked when nobody could or would.
zg_secret_result zg_secret_unlock_default(zg_secret_session *_Nonnull session,
                                          zg_secret_collection *_Nonnull state);

/// Tells the process id of the Secret Service.
zg_secret_result zg_secret_provider(zg_secret_session *_Nonnull session,
                                    uint32_t *_Nonnull identifier);

#endif
