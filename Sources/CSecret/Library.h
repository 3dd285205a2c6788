#ifndef ZG_CSECRET_LIBRARY_H
#define ZG_CSECRET_LIBRARY_H

#define SECRET_API_SUBJECT_TO_CHANGE
#include "CSecret.h"

#include <libsecret/secret.h>

/* Functions of GLib and libsecret may only be called through `api`, which the linker enforces: the
   libraries are not linked. Each pointer has the type of the function's own declaration, so that
   the compiler still checks every call. */

#define ZG_FUNCTIONS(X)                                                                             \
    X(g_async_initable_new_async)                                                                   \
    X(g_async_initable_new_finish)                                                                  \
    X(g_async_result_get_source_object)                                                            \
    X(g_cancellable_cancel)                                                                         \
    X(g_cancellable_new)                                                                            \
    X(g_dbus_connection_call)                                                                       \
    X(g_dbus_connection_call_finish)                                                                \
    X(g_dbus_connection_close)                                                                      \
    X(g_dbus_connection_new_for_address)                                                            \
    X(g_dbus_connection_new_for_address_finish)                                                     \
    X(g_dbus_error_get_remote_error)                                                                \
    X(g_dbus_error_quark)                                                                           \
    X(g_dbus_error_strip_remote_error)                                                              \
    X(g_error_free)                                                                                 \
    X(g_free)                                                                                       \
    X(g_get_monotonic_time)                                                                         \
    X(g_hash_table_insert)                                                                          \
    X(g_hash_table_new)                                                                             \
    X(g_hash_table_unref)                                                                           \
    X(g_io_error_quark)                                                                             \
    X(g_main_context_iteration)                                                                     \
    X(g_main_context_new)                                                                           \
    X(g_main_context_pop_thread_default)                                                            \
    X(g_main_context_push_thread_default)                                                           \
    X(g_main_context_unref)                                                                         \
    X(g_main_loop_new)                                                                              \
    X(g_main_loop_quit)                                                                             \
    X(g_main_loop_run)                                                                              \
    X(g_main_loop_unref)                                                                            \
    X(g_object_ref)                                                                                 \
    X(g_object_set)                                                                                 \
    X(g_object_unref)                                                                               \
    X(g_source_attach)                                                                              \
    X(g_source_destroy)                                                                             \
    X(g_source_set_callback)                                                                        \
    X(g_source_unref)                                                                               \
    X(g_str_equal)                                                                                  \
    X(g_str_hash)                                                                                   \
    X(g_strfreev)                                                                                   \
    X(g_timeout_source_new)                                                                         \
    X(g_type_class_peek)                                                                            \
    X(g_type_register_static_simple)                                                                \
    X(g_variant_get)                                                                                \
    X(g_variant_lookup)                                                                             \
    X(g_variant_new)                                                                                \
    X(g_variant_is_of_type)                                                                         \
    X(g_variant_unref)                                                                              \
    X(secret_error_get_quark)                                                                       \
    X(secret_service_delete_item_dbus_path)                                                         \
    X(secret_service_delete_item_dbus_path_finish)                                                  \
    X(secret_service_get_secret_for_dbus_path)                                                      \
    X(secret_service_get_secret_for_dbus_path_finish)                                               \
    X(secret_service_get_type)                                                                      \
    X(secret_service_read_alias_dbus_path)                                                          \
    X(secret_service_read_alias_dbus_path_finish)                                                   \
    X(secret_service_search_for_dbus_paths)                                                         \
    X(secret_service_search_for_dbus_paths_finish)                                                  \
    X(secret_service_store)                                                                         \
    X(secret_service_store_finish)                                                                  \
    X(secret_service_unlock_dbus_paths)                                                             \
    X(secret_service_unlock_dbus_paths_finish)                                                      \
    X(secret_value_get)                                                                             \
    X(secret_value_new)                                                                             \
    X(secret_value_unref)

#define ZG_POINTER(function) __typeof__(&function) function;
struct zg_secret_functions {
    ZG_FUNCTIONS(ZG_POINTER)
};

/// The functions, once zg_secret_load has returned true.
extern struct zg_secret_functions zg_secret_functions;
#define api zg_secret_functions

#endif
