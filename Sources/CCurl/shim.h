#ifndef ZG_CCURL_SHIM_H
#define ZG_CCURL_SHIM_H

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* libcurl is opened at first use and never linked: commands that send nothing must not pay for
   loading it and its thirty dependencies. So only types of libcurl may be used here. The functions
   below take the table of addresses, and replace libcurl's variadic ones, which Swift cannot call.
   */

struct zg_curl {
    __typeof__(&curl_global_init_mem) _Nonnull global_init_mem;
    __typeof__(&curl_easy_init) _Nonnull easy_init;
    __typeof__(&curl_easy_cleanup) _Nonnull easy_cleanup;
    __typeof__(&curl_easy_reset) _Nonnull easy_reset;
    __typeof__(&curl_easy_setopt) _Nonnull easy_setopt;
    __typeof__(&curl_easy_getinfo) _Nonnull easy_getinfo;
    __typeof__(&curl_easy_strerror) _Nonnull easy_strerror;
    __typeof__(&curl_multi_init) _Nonnull multi_init;
    __typeof__(&curl_multi_cleanup) _Nonnull multi_cleanup;
    __typeof__(&curl_multi_setopt) _Nonnull multi_setopt;
    __typeof__(&curl_multi_add_handle) _Nonnull multi_add_handle;
    __typeof__(&curl_multi_remove_handle) _Nonnull multi_remove_handle;
    __typeof__(&curl_multi_perform) _Nonnull multi_perform;
    __typeof__(&curl_multi_poll) _Nonnull multi_poll;
    __typeof__(&curl_multi_info_read) _Nonnull multi_info_read;
};

/* An allocator for libcurl that wipes what it frees, because libcurl's buffers contain the token
   and values. */

static inline void *_Nullable zg_wiping_malloc(size_t size) { return malloc(size); }

static inline void zg_wiping_free(void *_Nullable block) {
    if (block == NULL) return;
    explicit_bzero(block, malloc_usable_size(block));
    free(block);
}

static inline void *_Nullable zg_wiping_realloc(void *_Nullable block, size_t size) {
    if (block == NULL) return malloc(size);
    size_t old = malloc_usable_size(block);
    if (size <= old && size >= old / 2) return block;
    void *fresh = malloc(size > 0 ? size : 1);
    if (fresh == NULL) return NULL;
    memcpy(fresh, block, old < size ? old : size);
    zg_wiping_free(block);
    return fresh;
}

static inline char *_Nullable zg_wiping_strdup(const char *_Nonnull text) { return strdup(text); }

static inline void *_Nullable zg_wiping_calloc(size_t count, size_t size) {
    return calloc(count, size);
}

/* Returns 0 on success, 1 without the library, 2 if it lacks a function, 3 if it fails to start.
   The library stays open for the life of the process, as libcurl's own dependencies expect. */
static inline int zg_curl_load(struct zg_curl *_Nonnull table, const char *_Nonnull name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 1;
#define ZG_CURL_FIND(member)                                                                       \
    do {                                                                                           \
        void *address = dlsym(library, "curl_" #member);                                           \
        if (address == NULL) {                                                                     \
            dlclose(library);                                                                      \
            return 2;                                                                              \
        }                                                                                          \
        memcpy(&table->member, &address, sizeof address);                                          \
    } while (0)
    ZG_CURL_FIND(global_init_mem);
    ZG_CURL_FIND(easy_init);
    ZG_CURL_FIND(easy_cleanup);
    ZG_CURL_FIND(easy_reset);
    ZG_CURL_FIND(easy_setopt);
    ZG_CURL_FIND(easy_getinfo);
    ZG_CURL_FIND(easy_strerror);
    ZG_CURL_FIND(multi_init);
    ZG_CURL_FIND(multi_cleanup);
    ZG_CURL_FIND(multi_setopt);
    ZG_CURL_FIND(multi_add_handle);
    ZG_CURL_FIND(multi_remove_handle);
    ZG_CURL_FIND(multi_perform);
    ZG_CURL_FIND(multi_poll);
    ZG_CURL_FIND(multi_info_read);
#undef ZG_CURL_FIND
    CURLcode started = table->global_init_mem(
        CURL_GLOBAL_DEFAULT, zg_wiping_malloc, zg_wiping_free, zg_wiping_realloc,
        zg_wiping_strdup, zg_wiping_calloc);
    return started == CURLE_OK ? 0 : 3;
}

typedef size_t (*zg_curl_data_callback)(char *_Nullable, size_t, size_t, void *_Nullable);
typedef int (*zg_curl_seek_callback)(void *_Nullable, curl_off_t, int);

static inline CURLcode zg_curl_set_long(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLoption option, long value) {
    return table->easy_setopt(easy, option, value);
}

static inline CURLcode zg_curl_set_size(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLoption option,
    curl_off_t value) {
    return table->easy_setopt(easy, option, value);
}

static inline CURLcode zg_curl_set_text(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLoption option,
    const char *_Nullable value) {
    return table->easy_setopt(easy, option, value);
}

static inline CURLcode zg_curl_set_pointer(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLoption option,
    void *_Nullable value) {
    return table->easy_setopt(easy, option, value);
}

static inline CURLcode zg_curl_set_data_callback(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLoption option,
    zg_curl_data_callback _Nonnull value) {
    return table->easy_setopt(easy, option, value);
}

static inline CURLcode zg_curl_set_seek_callback(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy,
    zg_curl_seek_callback _Nonnull value) {
    return table->easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

/* The option with names exists since 7.85; the older one takes a mask. */
static inline CURLcode zg_curl_allow_only_http(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy) {
    CURLcode done = table->easy_setopt(easy, (CURLoption)10318, "http,https");
    if (done == CURLE_UNKNOWN_OPTION) {
        done = table->easy_setopt(easy, (CURLoption)181, 3L);
    }
    return done;
}

static inline CURLMcode zg_curl_set_multi_long(
    const struct zg_curl *_Nonnull table, void *_Nonnull multi, CURLMoption option, long value) {
    return table->multi_setopt(multi, option, value);
}

static inline long zg_curl_long_info(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLINFO info) {
    long value = 0;
    return table->easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t zg_curl_size_info(
    const struct zg_curl *_Nonnull table, void *_Nonnull easy, CURLINFO info) {
    curl_off_t value = 0;
    return table->easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/* Returns a finished transfer, if any. The message itself is a union that Swift cannot read. */
static inline void *_Nullable zg_curl_next_finished(
    const struct zg_curl *_Nonnull table, void *_Nonnull multi, CURLcode *_Nonnull result) {
    int left = 0;
    CURLMsg *message;
    while ((message = table->multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

/* With CURLOPT_NOSIGNAL libcurl does not handle SIGPIPE, and its TLS library may raise it on a
   closed connection. The program needs the signal for its own output, so these calls block it in
   this thread, discard it if it came, and unblock it. */
struct zg_pipe_guard {
    sigset_t mask;
    int was_pending;
};

static inline void zg_pipe_guard_enter(struct zg_pipe_guard *_Nonnull guard) {
    sigset_t pipe_only, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &guard->mask);
}

static inline void zg_pipe_guard_leave(const struct zg_pipe_guard *_Nonnull guard) {
    if (guard->was_pending == 0) {
        sigset_t pipe_only;
        struct timespec none = {0, 0};
        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        while (sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
}

/* Milliseconds of a monotonic clock. */
static inline int64_t zg_curl_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
