#ifndef ZG_CNOTIFICATIONS_LIBRARY_H
#define ZG_CNOTIFICATIONS_LIBRARY_H

#include "CNotifications.h"

#include <gio/gio.h>

/* Functions of GLib and GIO may only be called through `gio`, which the linker enforces: the
   libraries are not linked. Each pointer has the type of the function's own declaration, so that
   the compiler still checks every call. */

#define ZG_FUNCTIONS(X)                                                                             \
    X(g_cancellable_cancel)                                                                         \
    X(g_cancellable_new)                                                                            \
    X(g_dbus_connection_call)                                                                       \
    X(g_dbus_connection_call_finish)                                                                \
    X(g_dbus_connection_close)                                                                      \
    X(g_dbus_connection_is_closed)                                                                  \
    X(g_dbus_connection_new_for_address)                                                            \
    X(g_dbus_connection_new_for_address_finish)                                                     \
    X(g_dbus_connection_set_exit_on_close)                                                          \
    X(g_dbus_connection_signal_subscribe)                                                           \
    X(g_dbus_connection_signal_unsubscribe)                                                         \
    X(g_dbus_error_quark)                                                                           \
    X(g_error_free)                                                                                 \
    X(g_io_error_quark)                                                                             \
    X(g_main_context_iteration)                                                                     \
    X(g_main_context_new)                                                                           \
    X(g_main_context_pop_thread_default)                                                            \
    X(g_main_context_push_thread_default)                                                           \
    X(g_main_context_unref)                                                                         \
    X(g_object_unref)                                                                               \
    X(g_source_attach)                                                                              \
    X(g_source_destroy)                                                                             \
    X(g_source_set_callback)                                                                        \
    X(g_source_unref)                                                                               \
    X(g_timeout_source_new)                                                                         \
    X(g_utf8_validate)                                                                              \
    X(g_variant_builder_add)                                                                        \
    X(g_variant_builder_init)                                                                       \
    X(g_variant_get)                                                                                \
    X(g_variant_is_of_type)                                                                         \
    X(g_variant_iter_free)                                                                          \
    X(g_variant_iter_next)                                                                          \
    X(g_variant_new)                                                                                \
    X(g_variant_new_byte)                                                                           \
    X(g_variant_new_string)                                                                         \
    X(g_variant_unref)

#define ZG_POINTER(function) __typeof__(&function) function;
struct zg_notify_functions {
    ZG_FUNCTIONS(ZG_POINTER)
};

/// The functions, once zg_notify_load has returned true.
extern struct zg_notify_functions zg_notify_functions;
#define gio zg_notify_functions

/// Opens GIO once. Returns false if it, or a function of it, is missing.
bool zg_notify_load(void);

#endif
