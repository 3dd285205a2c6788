#ifndef ZG_CZXCVBN_H
#define ZG_CZXCVBN_H

/* The strength of passphrases by libzxcvbn, which is opened at first use (dlopen) and may be
   missing. */

/// Returns how many bits of guesses find `passphrase`, a text with a NUL at its end; negative
/// without the library.
///
/// The library copies the passphrase to the heap and does not wipe its copies. From this call on,
/// the heap overwrites what is freed; call it only in a process that ends afterwards.
double zg_passphrase_bits(const char *_Nonnull passphrase);

#endif
