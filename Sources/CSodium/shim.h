#ifndef ZG_CSODIUM_SHIM_H
#define ZG_CSODIUM_SHIM_H

#include <sodium.h>

/* Variants of libsodium's functions with `void *`, because Swift's spans are raw memory, and with
   nullable parameters, because an empty span has no address (libsodium allows that with length 0,
   but its headers mark most parameters as non-null). The caller checks sizes, as with the
   originals. */

static inline int zg_aead_encrypt(
    void *_Nonnull out, const void *_Nullable text, size_t text_length, const void *_Nullable data,
    size_t data_length, const void *_Nonnull nonce, const void *_Nonnull key) {
    return crypto_aead_xchacha20poly1305_ietf_encrypt(
        (unsigned char *)out, NULL, (const unsigned char *)text, text_length,
        (const unsigned char *)data, data_length, NULL, (const unsigned char *)nonce,
        (const unsigned char *)key);
}

static inline int zg_aead_decrypt(
    void *_Nullable out, const void *_Nonnull sealed, size_t sealed_length,
    const void *_Nullable data, size_t data_length, const void *_Nonnull nonce,
    const void *_Nonnull key) {
    return crypto_aead_xchacha20poly1305_ietf_decrypt(
        (unsigned char *)out, NULL, NULL, (const unsigned char *)sealed, sealed_length,
        (const unsigned char *)data, data_length, (const unsigned char *)nonce,
        (const unsigned char *)key);
}

static inline int zg_generichash(
    void *_Nonnull out, size_t out_length, const void *_Nullable bytes, size_t length,
    const void *_Nullable key, size_t key_length) {
    return crypto_generichash(
        (unsigned char *)out, out_length, (const unsigned char *)bytes, length,
        (const unsigned char *)key, key_length);
}

static inline int zg_generichash_both(
    void *_Nonnull out, size_t out_length, const void *_Nullable bytes, size_t length,
    const void *_Nullable more, size_t more_length) {
    crypto_generichash_state state;
    return crypto_generichash_init(&state, NULL, 0, out_length)
        | crypto_generichash_update(&state, (const unsigned char *)bytes, length)
        | crypto_generichash_update(&state, (const unsigned char *)more, more_length)
        | crypto_generichash_final(&state, (unsigned char *)out, out_length);
}

static inline int zg_kdf_derive(
    void *_Nonnull out, size_t out_length, uint64_t id, const void *_Nonnull context,
    const void *_Nonnull key) {
    return crypto_kdf_derive_from_key(
        (unsigned char *)out, out_length, id, (const char *)context, (const unsigned char *)key);
}

static inline int zg_pwhash(
    void *_Nonnull out, size_t out_length, const void *_Nonnull passphrase, size_t length,
    const void *_Nonnull salt, uint32_t operations, size_t memory) {
    return crypto_pwhash(
        (unsigned char *)out, out_length, (const char *)passphrase, length,
        (const unsigned char *)salt, operations, memory, crypto_pwhash_ALG_ARGON2ID13);
}

static inline int zg_box_seed_keypair(
    void *_Nonnull public_key, void *_Nonnull secret_key, const void *_Nonnull seed) {
    return crypto_box_seed_keypair(
        (unsigned char *)public_key, (unsigned char *)secret_key, (const unsigned char *)seed);
}

static inline int zg_box_seal(
    void *_Nonnull out, const void *_Nullable text, size_t length,
    const void *_Nonnull public_key) {
    return crypto_box_seal(
        (unsigned char *)out, (const unsigned char *)text, length,
        (const unsigned char *)public_key);
}

static inline int zg_box_seal_open(
    void *_Nonnull out, const void *_Nonnull sealed, size_t length,
    const void *_Nonnull public_key, const void *_Nonnull secret_key) {
    return crypto_box_seal_open(
        (unsigned char *)out, (const unsigned char *)sealed, length,
        (const unsigned char *)public_key, (const unsigned char *)secret_key);
}

static inline int zg_sign_seed_keypair(
    void *_Nonnull public_key, void *_Nonnull secret_key, const void *_Nonnull seed) {
    return crypto_sign_seed_keypair(
        (unsigned char *)public_key, (unsigned char *)secret_key, (const unsigned char *)seed);
}

static inline int zg_sign_detached(
    void *_Nonnull signature, const void *_Nullable bytes, size_t length,
    const void *_Nonnull secret_key) {
    return crypto_sign_detached(
        (unsigned char *)signature, NULL, (const unsigned char *)bytes, length,
        (const unsigned char *)secret_key);
}

static inline int zg_sign_verify(
    const void *_Nonnull signature, const void *_Nullable bytes, size_t length,
    const void *_Nonnull public_key) {
    return crypto_sign_verify_detached(
        (const unsigned char *)signature, (const unsigned char *)bytes, length,
        (const unsigned char *)public_key);
}

static inline void zg_bin2base64(
    void *_Nonnull letters, size_t letters_length, const void *_Nullable bytes, size_t length,
    int variant) {
    sodium_bin2base64(
        (char *)letters, letters_length, (const unsigned char *)bytes, length, variant);
}

static inline int zg_base642bin(
    void *_Nonnull out, size_t out_length, const void *_Nullable letters, size_t length,
    size_t *_Nonnull written, int variant) {
    return sodium_base642bin(
        (unsigned char *)out, out_length, (const char *)letters, length, NULL, written, NULL,
        variant);
}

#endif
