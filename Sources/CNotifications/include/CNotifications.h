#ifndef ZG_CNOTIFICATIONS_H
#define ZG_CNOTIFICATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Desktop notifications (org.freedesktop.Notifications) through GIO, which is opened at first use
   (dlopen), so that only commands that notify load it. This header declares what Swift needs with
   plain types; the sources check it against GIO's own headers.

   Every call blocks until it is done, at most for the given time. Calls on one connection must not
   overlap. No call reads the environment for an address or starts a bus. */

/// A connection to a bus.
typedef struct zg_notify_connection zg_notify_connection;

/// The status of a call.
typedef enum {
    /// Success.
    ZG_NOTIFY_DONE,
    /// GIO, or a function of it, is missing.
    ZG_NOTIFY_LIBRARY_MISSING,
    /// No bus at the address.
    ZG_NOTIFY_NO_BUS,
    /// The bus has no notification server and cannot start one.
    ZG_NOTIFY_NO_SERVER,
    /// The call timed out.
    ZG_NOTIFY_TIMED_OUT,
    /// The connection was lost.
    ZG_NOTIFY_DISCONNECTED,
    /// Any other failure, such as a server that refused the message.
    ZG_NOTIFY_FAILED,
} zg_notify_status;

/// The capabilities of a server, as bits.
enum {
    ZG_NOTIFY_CAN_ACTIONS = 1,
    ZG_NOTIFY_CAN_BODY = 2,
    ZG_NOTIFY_CAN_MARKUP = 4,
    ZG_NOTIFY_CAN_PERSIST = 8,
};

/// An event from the server.
typedef enum {
    /// Nothing within the time.
    ZG_NOTIFY_NOTHING,
    /// The user chose an action of a message.
    ZG_NOTIFY_ACTION,
    /// A message was closed.
    ZG_NOTIFY_CLOSED,
    /// The server ended or was replaced: message numbers are no longer valid.
    ZG_NOTIFY_SERVER_CHANGED,
    /// The bus connection was lost.
    ZG_NOTIFY_BUS_GONE,
} zg_notify_event_kind;

/// An event with its details.
typedef struct {
    zg_notify_event_kind kind;
    /// The message's number, for an action or a closed message.
    uint32_t identifier;
    /// The action's name with a terminating NUL; empty for longer names, which are not ours.
    char action[32];
} zg_notify_event;

/// A message. All texts are UTF-8.
typedef struct {
    /// The message it replaces; 0 for none.
    uint32_t replaces;
    const char *_Nonnull title;
    const char *_Nonnull body;
    /// 0 low, 1 normal, 2 critical.
    uint8_t urgency;
    /// A category of the specification, such as "transfer.complete".
    const char *_Nonnull category;
    /// The message's origin, for servers that show it; NULL for none.
    const char *_Nullable group;
    /// A newer message with the same tag replaces this one, also after a restart of this process.
    const char *_Nonnull tag;
    /// Alternating names and labels of actions, NULL-terminated.
    const char *_Nullable const *_Nonnull actions;
} zg_notify_message;

/// Connects to the bus at `address`. On success free `*connection` with zg_notify_close.
zg_notify_status zg_notify_open(const char *_Nonnull address, uint32_t limit_milliseconds,
                                zg_notify_connection *_Nullable *_Nonnull connection);

/// Disconnects and frees `connection`.
void zg_notify_close(zg_notify_connection *_Nonnull connection);

/// Reads the server's capabilities.
zg_notify_status zg_notify_capabilities(zg_notify_connection *_Nonnull connection,
                                        uint32_t limit_milliseconds, uint32_t *_Nonnull bits);

/// Reads the server's name and version, cut at `capacity`.
zg_notify_status zg_notify_server_name(zg_notify_connection *_Nonnull connection,
                                       uint32_t limit_milliseconds, char *_Nonnull name,
                                       size_t capacity);

/// Shows a message; `*identifier` is its number.
zg_notify_status zg_notify_send(zg_notify_connection *_Nonnull connection,
                                uint32_t limit_milliseconds,
                                const zg_notify_message *_Nonnull message,
                                uint32_t *_Nonnull identifier);

/// Processes what has arrived, without waiting, and returns whether the server changed since the
/// last call: its numbers must no longer be used.
bool zg_notify_server_changed(zg_notify_connection *_Nonnull connection);

/// Waits at most `milliseconds` for an event.
zg_notify_event zg_notify_wait(zg_notify_connection *_Nonnull connection, uint32_t milliseconds);

#endif
