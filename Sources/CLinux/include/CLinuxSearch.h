#ifndef ZG_CLINUX_SEARCH_H
#define ZG_CLINUX_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The two loops over every byte that `scan` reads. Bounds checks would cost more than the work. */

/// The windows of eight bytes to search for, as keyed fingerprints of 32 bits.
struct zg_search_table {
    uint64_t key;
    uint64_t factor;
    /// A bit for the highest bits of each fingerprint.
    const uint8_t *_Nonnull filter;
    unsigned filter_shift;
    /// The fingerprints, by open addressing from their lowest bits; 0 is a free slot.
    const uint32_t *_Nonnull slots;
    uint32_t slot_mask;
};

/// Returns the fingerprint of eight bytes, never 0.
uint32_t zg_search_fingerprint(uint64_t key, uint64_t factor, const void *_Nonnull bytes);

/// Returns the first position from `from` to before `end` where a window with a fingerprint of the
/// table begins, or `end`. Seven bytes after `end` must be readable.
size_t zg_search_next(const struct zg_search_table *_Nonnull table, const void *_Nonnull bytes,
                      size_t from, size_t end, uint32_t *_Nonnull fingerprint);

/// Returns the number of line feeds.
size_t zg_count_lines(const void *_Nonnull bytes, size_t count);

#endif
