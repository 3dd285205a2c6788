#ifndef ZG_GNUTLS_SHIM_H
#define ZG_GNUTLS_SHIM_H

#include <stddef.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

/// Computes HMAC-SHA1, 20 bytes. Returns 0 on success. Swift imports the algorithm's name with
/// another type than the parameter's.
static inline int zg_hmac_sha1(
    const void *_Nullable key, size_t key_length, const void *_Nullable text, size_t length,
    void *_Nonnull digest) {
    return gnutls_hmac_fast(GNUTLS_MAC_SHA1, key, key_length, text, length, digest);
}

/// Compares in constant time.
static inline int zg_equal_in_constant_time(
    const void *_Nonnull left, const void *_Nonnull right, size_t length) {
    return gnutls_memcmp(left, right, length) == 0;
}

#endif
