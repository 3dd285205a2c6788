#include "CPCRE2.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The most active states at all. PCRE2 needs six integers for each, in two lists. */
#define STATE_LIMIT 2048
#define INTEGERS_PER_STATE 6
/* Assertions are matched by a call each. */
#define CALL_LIMIT 400000
#define DEPTH_LIMIT 100
/* In KiB. */
#define HEAP_LIMIT 1024
#define PATTERN_LIMIT (512 * 1024)
#define NESTING_LIMIT 100

/* Functions of PCRE2 may only be called through `pcre2`, which the linker enforces: the library is
   not linked. Each pointer has the type of the function's own declaration. */
#define ZG_FUNCTIONS(X)                                                                            \
    X(pcre2_code_free_8)                                                                           \
    X(pcre2_compile_8)                                                                             \
    X(pcre2_compile_context_create_8)                                                              \
    X(pcre2_compile_context_free_8)                                                                \
    X(pcre2_dfa_match_8)                                                                           \
    X(pcre2_match_context_create_8)                                                                \
    X(pcre2_match_context_free_8)                                                                  \
    X(pcre2_match_data_create_8)                                                                   \
    X(pcre2_match_data_free_8)                                                                     \
    X(pcre2_set_depth_limit_8)                                                                     \
    X(pcre2_set_heap_limit_8)                                                                      \
    X(pcre2_set_match_limit_8)                                                                     \
    X(pcre2_set_max_pattern_length_8)                                                              \
    X(pcre2_set_parens_nest_limit_8)

#define ZG_POINTER(function) __typeof__(&function) function;
static struct {
    ZG_FUNCTIONS(ZG_POINTER)
} pcre2;

static bool loaded;

static void load_once(void) {
    void *library = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
#define ZG_RESOLVE(function)                                                                       \
    *(void **)&pcre2.function = dlsym(library, #function);                                         \
    if (pcre2.function == NULL)                                                                    \
        return;
    ZG_FUNCTIONS(ZG_RESOLVE)
    loaded = true;
}

static bool load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return loaded;
}

struct zg_pattern {
    pcre2_code_8 *code;
    pcre2_match_data_8 *data;
    pcre2_match_context_8 *limits;
    int workspace[STATE_LIMIT * INTEGERS_PER_STATE];
};

static pcre2_code_8 *compiled(const uint8_t *text, size_t length) {
    pcre2_compile_context_8 *context = pcre2.pcre2_compile_context_create_8(NULL);
    if (context == NULL)
        return NULL;
    pcre2.pcre2_set_max_pattern_length_8(context, PATTERN_LIMIT);
    pcre2.pcre2_set_parens_nest_limit_8(context, NESTING_LIMIT);
    /* Everything comes from the pattern itself: nothing may change how it is read. */
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOTALL |
                       PCRE2_DOLLAR_ENDONLY | PCRE2_ANCHORED;
    int error;
    PCRE2_SIZE offset;
    pcre2_code_8 *code =
        pcre2.pcre2_compile_8(text, length, options, &error, &offset, context);
    pcre2.pcre2_compile_context_free_8(context);
    return code;
}

zg_pattern_status zg_pattern_compile(const uint8_t *text, size_t length, zg_pattern **pattern) {
    if (!load())
        return ZG_PATTERN_LIBRARY_MISSING;
    pcre2_code_8 *code = compiled(text, length);
    if (code == NULL)
        return ZG_PATTERN_REFUSED;
    zg_pattern *result = malloc(sizeof *result);
    pcre2_match_data_8 *data = pcre2.pcre2_match_data_create_8(1, NULL);
    pcre2_match_context_8 *limits = pcre2.pcre2_match_context_create_8(NULL);
    if (result == NULL || data == NULL || limits == NULL) {
        free(result);
        pcre2.pcre2_match_data_free_8(data);
        pcre2.pcre2_match_context_free_8(limits);
        pcre2.pcre2_code_free_8(code);
        return ZG_PATTERN_FAILED;
    }
    pcre2.pcre2_set_match_limit_8(limits, CALL_LIMIT);
    pcre2.pcre2_set_depth_limit_8(limits, DEPTH_LIMIT);
    pcre2.pcre2_set_heap_limit_8(limits, HEAP_LIMIT);
    result->code = code;
    result->data = data;
    result->limits = limits;
    *pattern = result;
    return ZG_PATTERN_DONE;
}

zg_pattern_status zg_pattern_match(zg_pattern *pattern, const uint8_t *text, size_t length,
                                   uint32_t states) {
    static const uint8_t nothing[1];
    if (states > STATE_LIMIT)
        states = STATE_LIMIT;
    /* Two more for PCRE2 itself, which refuses fewer than twenty. */
    size_t integers = (size_t)states * INTEGERS_PER_STATE + 2;
    if (integers > sizeof pattern->workspace / sizeof *pattern->workspace)
        integers = sizeof pattern->workspace / sizeof *pattern->workspace;
    int result = pcre2.pcre2_dfa_match_8(pattern->code, text == NULL ? nothing : text, length, 0,
                                         PCRE2_DFA_SHORTEST, pattern->data, pattern->limits,
                                         pattern->workspace, integers);
    /* 0 and more: found; the rest is how many matches there is room for. */
    if (result >= 0)
        return ZG_PATTERN_DONE;
    if (result <= PCRE2_ERROR_UTF8_ERR1 && result >= PCRE2_ERROR_UTF8_ERR21)
        return ZG_PATTERN_NOT_TEXT;
    switch (result) {
    case PCRE2_ERROR_NOMATCH:
        return ZG_PATTERN_NOT_FOUND;
    case PCRE2_ERROR_DFA_WSSIZE:
    case PCRE2_ERROR_DFA_RECURSE:
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        return ZG_PATTERN_LIMITED;
    default:
        return ZG_PATTERN_FAILED;
    }
}

void zg_pattern_free(zg_pattern *pattern) {
    pcre2.pcre2_match_context_free_8(pattern->limits);
    pcre2.pcre2_match_data_free_8(pattern->data);
    pcre2.pcre2_code_free_8(pattern->code);
    free(pattern);
}
