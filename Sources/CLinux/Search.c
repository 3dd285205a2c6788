#include "CLinuxSearch.h"

#include <string.h>

static inline uint32_t fingerprint_of(uint64_t key, uint64_t factor, const uint8_t *bytes) {
    uint64_t window;
    memcpy(&window, bytes, sizeof window);
    return (uint32_t)(((window ^ key) * factor) >> 32);
}

uint32_t zg_search_fingerprint(uint64_t key, uint64_t factor, const void *bytes) {
    uint32_t found = fingerprint_of(key, factor, bytes);
    return found ? found : 1;
}

static int is_known(const struct zg_search_table *table, uint32_t wanted) {
    for (uint32_t slot = wanted & table->slot_mask; table->slots[slot];
         slot = (slot + 1) & table->slot_mask)
        if (table->slots[slot] == wanted) return 1;
    return 0;
}

size_t zg_search_next(const struct zg_search_table *table, const void *bytes, size_t from, size_t end,
                      uint32_t *fingerprint) {
    /* Copies, because the compiler cannot know that nothing else changes them. */
    const uint8_t *text = bytes, *filter = table->filter;
    uint64_t key = table->key, factor = table->factor;
    unsigned shift = table->filter_shift;
    for (size_t place = from; place < end; place++) {
        uint32_t found = fingerprint_of(key, factor, text + place);
        uint32_t bit = found >> shift;
        if (!((filter[bit >> 3] >> (bit & 7)) & 1)) continue;
        found = found ? found : 1;
        if (!is_known(table, found)) continue;
        *fingerprint = found;
        return place;
    }
    return end;
}

size_t zg_count_lines(const void *bytes, size_t count) {
    const uint8_t *text = bytes;
    size_t lines = 0;
    for (size_t place = 0; place < count; place++) lines += text[place] == '\n';
    return lines;
}
