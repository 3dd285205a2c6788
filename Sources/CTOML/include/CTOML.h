#ifndef ZG_CTOML_H
#define ZG_CTOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a node of a document is.
typedef enum {
    ZG_TOML_TABLE,
    ZG_TOML_ARRAY,
    ZG_TOML_STRING,
    ZG_TOML_TRUE,
    ZG_TOML_FALSE,
    /// A number, date or time, whose value is not kept.
    ZG_TOML_OTHER,
} zg_toml_kind;

/// A value. Children follow their parent, in the order of the file.
typedef struct {
    zg_toml_kind kind;
    /// Where the key is, or the value itself if it has none. Counted from 1; 0 for the document.
    uint32_t line;
    /// Of the key in the texts. An array's elements have an empty one.
    uint32_t key_start, key_length;
    /// Of a string's value in the texts.
    uint32_t text_start, text_length;
    /// The index of the node after this one and its children.
    uint32_t next;
} zg_toml_node;

/// The outermost table of a file is the first node. `texts` is one UTF-8 text with all keys and
/// strings.
typedef struct {
    zg_toml_node *nodes;
    size_t count;
    uint8_t *texts;
    size_t length;
} zg_toml_document;

/// Parses a file of TOML 1.0.
///
/// The caller limits what is given: the length to less than a gigabyte, and how deeply headers and
/// dotted keys nest tables, because these are freed recursively. Nested values are limited here.
///
/// @return Whether it is one. If so, `zg_toml_free` frees the document; otherwise `line` has the
/// line of the error, or 0 if that is unknown.
int zg_toml_parse(const uint8_t *bytes, size_t length, zg_toml_document *document,
                  uint32_t *line);

void zg_toml_free(zg_toml_document *document);

#ifdef __cplusplus
}
#endif

#endif
