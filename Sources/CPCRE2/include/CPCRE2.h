#ifndef ZG_CPCRE2_H
#define ZG_CPCRE2_H

#include <stddef.h>
#include <stdint.h>

/* Patterns through PCRE2's matcher without backtracking, which is opened at first use (dlopen), so
   that only commands that meet a pattern load it. This header declares what Swift needs with plain
   types; the source checks it against PCRE2's own header. */

/// A compiled pattern with what a search needs.
typedef struct zg_pattern zg_pattern;

/// The outcome of a call.
typedef enum {
    /// Compiled, or found.
    ZG_PATTERN_DONE,
    ZG_PATTERN_NOT_FOUND,
    /// libpcre2-8, or a function of it, is missing.
    ZG_PATTERN_LIBRARY_MISSING,
    /// Not a pattern, or too large.
    ZG_PATTERN_REFUSED,
    /// More states, calls or memory than allowed.
    ZG_PATTERN_LIMITED,
    /// The text is not UTF-8.
    ZG_PATTERN_NOT_TEXT,
    ZG_PATTERN_FAILED,
} zg_pattern_status;

/// Compiles `length` bytes of a pattern. `.` matches everything. On success free `*pattern` with
/// zg_pattern_free.
zg_pattern_status zg_pattern_compile(const uint8_t *_Nonnull text, size_t length,
                                     zg_pattern *_Nullable *_Nonnull pattern);

/// Matches a whole pattern at the start of `length` bytes: one pass, in which at most `states`
/// states are active after a character.
zg_pattern_status zg_pattern_match(zg_pattern *_Nonnull pattern, const uint8_t *_Nullable text,
                                   size_t length, uint32_t states);

/// Frees `pattern`.
void zg_pattern_free(zg_pattern *_Nonnull pattern);

#endif
