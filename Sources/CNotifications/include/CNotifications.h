#ifndef ZG_CNOTIFICATIONS_H
#define ZG_CNOTIFICATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notifications of the desktop (org.freedesktop.Notifications) through GIO, which is opened at first
   use (dlopen), so that only commands that notify load it. This header names what Swift needs in plain
   types; the sources hold it against GIO's own headers.

   Every call blocks until it is done, at most for the time given. Calls on one connection must not
   overlap. No call reads the environment for an address or starts a bus. */

/// A connection to a bus.
typedef struct zg_notify_connection zg_notify_connection;

/// What became of a call.
typedef enum {
    /// Done.
    ZG_NOTIFY_DONE,
    /// GIO, or a function of it, is not there.
    ZG_NOTIFY_LIBRARY_MISSING,
    /// No bus at the address.
    ZG_NOTIFY_NO_BUS,
    /// The bus has no server of notifications and cannot start one.
    ZG_NOTIFY_NO_SERVER,
    /// The time was over.
    ZG_NOTIFY_TIMED_OUT,
    /// The connection went away.
    ZG_NOTIFY_DISCONNECTED,
    /// Anything else, such as a server that refused the message.
    ZG_NOTIFY_FAILED,
} zg_notify_status;

/// What a server says it can do, as bits.
enum {
    ZG_NOTIFY_CAN_ACTIONS = 1,
    ZG_NOTIFY_CAN_BODY = 2,
    ZG_NOTIFY_CAN_MARKUP = 4,
    ZG_NOTIFY_CAN_PERSIST = 8,
};

/// What the server tells of its own accord.
typedef enum {
    /// Nothing within the time.
    ZG_NOTIFY_NOTHING,
    /// Somebody chose an action of a message.
    ZG_NOTIFY_ACTION,
    /// A message is gone.
    ZG_NOTIFY_CLOSED,
    /// The server went away, or another one came: numbers of messages mean nothing any more.
    ZG_NOTIFY_SERVER_CHANGED,
    /// The bus went away.
    ZG_NOTIFY_BUS_GONE,
} zg_notify_event_kind;

/// Something that the server told.
typedef struct {
    zg_notify_event_kind kind;
    /// The message's number, for an action or a closed one.
    uint32_t identifier;
    /// The action's name: at most 31 bytes and an end mark; what is longer is none of ours, and empty.
    char action[32];
} zg_notify_event;

/// A message. All texts are UTF-8 and without NUL but their end mark.
typedef struct {
    /// The message it replaces; 0 for none.
    uint32_t replaces;
    const char *_Nonnull title;
    const char *_Nonnull body;
    /// 0 low, 1 normal, 2 critical.
    uint8_t urgency;
    /// A name of the standard's list, such as "transfer.complete".
    const char *_Nonnull category;
    /// What the message belongs to, where a server shows that; NULL for nothing.
    const char *_Nullable group;
    /// What a newer message with the same tag takes the place of, also after a restart of this process.
    const char *_Nonnull tag;
    /// Names and labels of actions by turns, NULL at the end.
    const char *_Nullable const *_Nonnull actions;
} zg_notify_message;

/// Connects to the bus at `address`. On success `*connection` is for zg_notify_close.
zg_notify_status zg_notify_open(const char *_Nonnull address, uint32_t limit_milliseconds,
                                zg_notify_connection *_Nullable *_Nonnull connection);

/// Disconnects and frees `connection`.
void zg_notify_close(zg_notify_connection *_Nonnull connection);

/// Asks the server what it can do.
zg_notify_status zg_notify_capabilities(zg_notify_connection *_Nonnull connection,
                                        uint32_t limit_milliseconds, uint32_t *_Nonnull bits);

/// Asks the server for its name and version, cut where `capacity` ends.
zg_notify_status zg_notify_server_name(zg_notify_connection *_Nonnull connection,
                                       uint32_t limit_milliseconds, char *_Nonnull name,
                                       size_t capacity);

/// Shows a message; `*identifier` is its number.
zg_notify_status zg_notify_send(zg_notify_connection *_Nonnull connection,
                                uint32_t limit_milliseconds,
                                const zg_notify_message *_Nonnull message,
                                uint32_t *_Nonnull identifier);

/// Takes what arrived, without waiting, and tells whether the server changed since this was last asked:
/// its numbers are not to be used any more.
bool zg_notify_server_changed(zg_notify_connection *_Nonnull connection);

/// Waits for what the server tells, at most `milliseconds`.
zg_notify_event zg_notify_wait(zg_notify_connection *_Nonnull connection, uint32_t milliseconds);

#endif
