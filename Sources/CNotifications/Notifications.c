#include "Library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "org.freedesktop.Notifications"
#define PATH "/org/freedesktop/Notifications"
/* Most waiting events; the oldest are dropped first. */
#define EVENT_LIMIT 64

/* Shared by a call and its callback. An abandoned call leaves it to the callback, which runs when
   the canceled call ends. */
typedef struct {
    GVariant *reply;
    GDBusConnection *opened;
    GError *error;
    bool finished;
    bool abandoned;
} call_state;

struct zg_notify_connection {
    GDBusConnection *bus;
    GMainContext *context;
    guint subscriptions[3];
    zg_notify_event events[EVENT_LIMIT];
    size_t first;
    size_t count;
    bool is_over;
    bool server_changed;
};

static zg_notify_status status_of(const GError *error) {
    if (error == NULL)
        return ZG_NOTIFY_TIMED_OUT;
    if (error->domain == gio.g_dbus_error_quark()) {
        switch (error->code) {
        case G_DBUS_ERROR_SERVICE_UNKNOWN:
        case G_DBUS_ERROR_NAME_HAS_NO_OWNER:
        case G_DBUS_ERROR_UNKNOWN_OBJECT:
        case G_DBUS_ERROR_UNKNOWN_INTERFACE:
        case G_DBUS_ERROR_UNKNOWN_METHOD:
        case G_DBUS_ERROR_SPAWN_CHILD_EXITED:
        case G_DBUS_ERROR_SPAWN_CHILD_SIGNALED:
        case G_DBUS_ERROR_SPAWN_CONFIG_INVALID:
        case G_DBUS_ERROR_SPAWN_EXEC_FAILED:
        case G_DBUS_ERROR_SPAWN_FAILED:
        case G_DBUS_ERROR_SPAWN_SETUP_FAILED:
        case G_DBUS_ERROR_SPAWN_FILE_INVALID:
        case G_DBUS_ERROR_SPAWN_FORK_FAILED:
        case G_DBUS_ERROR_SPAWN_NO_MEMORY:
        case G_DBUS_ERROR_SPAWN_PERMISSIONS_INVALID:
        case G_DBUS_ERROR_SPAWN_SERVICE_INVALID:
        case G_DBUS_ERROR_SPAWN_SERVICE_NOT_FOUND:
            return ZG_NOTIFY_NO_SERVER;
        case G_DBUS_ERROR_NO_REPLY:
        case G_DBUS_ERROR_TIMEOUT:
        case G_DBUS_ERROR_TIMED_OUT:
            return ZG_NOTIFY_TIMED_OUT;
        case G_DBUS_ERROR_DISCONNECTED:
            return ZG_NOTIFY_DISCONNECTED;
        default:
            return ZG_NOTIFY_FAILED;
        }
    }
    if (error->domain == gio.g_io_error_quark()) {
        if (error->code == G_IO_ERROR_CLOSED)
            return ZG_NOTIFY_DISCONNECTED;
        if (error->code == G_IO_ERROR_TIMED_OUT)
            return ZG_NOTIFY_TIMED_OUT;
    }
    return ZG_NOTIFY_FAILED;
}

static void free_state(call_state *state) {
    if (state->reply != NULL)
        gio.g_variant_unref(state->reply);
    if (state->opened != NULL)
        gio.g_object_unref(state->opened);
    if (state->error != NULL)
        gio.g_error_free(state->error);
    free(state);
}

static void opened(GObject *source, GAsyncResult *result, gpointer data) {
    call_state *state = data;
    (void)source;
    state->opened = gio.g_dbus_connection_new_for_address_finish(result, &state->error);
    state->finished = true;
    if (state->abandoned)
        free_state(state);
}

static void answered(GObject *source, GAsyncResult *result, gpointer data) {
    call_state *state = data;
    state->reply =
        gio.g_dbus_connection_call_finish((GDBusConnection *)source, result, &state->error);
    state->finished = true;
    if (state->abandoned)
        free_state(state);
}

static gboolean time_over(gpointer data) {
    *(bool *)data = true;
    return G_SOURCE_REMOVE;
}

/* Serves the context until `*done` or a timeout. */
static void serve(GMainContext *context, uint32_t limit, const bool *done) {
    bool over = false;
    GSource *timeout = gio.g_timeout_source_new(limit);
    gio.g_source_set_callback(timeout, time_over, &over, NULL);
    gio.g_source_attach(timeout, context);
    while (!*done && !over)
        gio.g_main_context_iteration(context, TRUE);
    gio.g_source_destroy(timeout);
    gio.g_source_unref(timeout);
}

/* Waits for a call that was started with `cancellable`; returns false if it was abandoned. */
static bool await(zg_notify_connection *connection, uint32_t limit, call_state *state,
                  GCancellable *cancellable) {
    serve(connection->context, limit, &state->finished);
    bool finished = state->finished;
    if (!finished) {
        state->abandoned = true;
        gio.g_cancellable_cancel(cancellable);
        while (gio.g_main_context_iteration(connection->context, FALSE))
            ;
    }
    gio.g_object_unref(cancellable);
    return finished;
}

/* Calls a method. Takes `parameters`. On success free `*reply` with g_variant_unref. */
static zg_notify_status call(zg_notify_connection *connection, uint32_t limit, const char *name,
                             const char *path, const char *interface, const char *method,
                             GVariant *parameters, const char *type, GVariant **reply) {
    call_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ZG_NOTIFY_FAILED;
    GCancellable *cancellable = gio.g_cancellable_new();
    gio.g_main_context_push_thread_default(connection->context);
    gio.g_dbus_connection_call(connection->bus, name, path, interface, method, parameters,
                               (const GVariantType *)type, G_DBUS_CALL_FLAGS_NONE, -1, cancellable,
                               answered, state);
    bool finished = await(connection, limit, state, cancellable);
    gio.g_main_context_pop_thread_default(connection->context);
    if (!finished)
        return ZG_NOTIFY_TIMED_OUT;
    zg_notify_status status = state->reply == NULL ? status_of(state->error) : ZG_NOTIFY_DONE;
    *reply = state->reply;
    state->reply = NULL;
    free_state(state);
    return status;
}

static void add_event(zg_notify_connection *connection, zg_notify_event event) {
    if (connection->count == EVENT_LIMIT) {
        connection->first = (connection->first + 1) % EVENT_LIMIT;
        connection->count--;
    }
    connection->events[(connection->first + connection->count) % EVENT_LIMIT] = event;
    connection->count++;
    connection->is_over = true;
}

static void signalled(GDBusConnection *bus, const gchar *sender, const gchar *path,
                      const gchar *interface, const gchar *name, GVariant *parameters,
                      gpointer data) {
    zg_notify_connection *connection = data;
    zg_notify_event event = {.kind = ZG_NOTIFY_NOTHING, .identifier = 0, .action = {0}};
    (void)bus, (void)sender, (void)path, (void)interface;
    if (strcmp(name, "NameOwnerChanged") == 0 &&
        gio.g_variant_is_of_type(parameters, (const GVariantType *)"(sss)")) {
        const gchar *changed = NULL, *old = NULL, *new = NULL;
        gio.g_variant_get(parameters, "(&s&s&s)", &changed, &old, &new);
        /* The first server has no numbers that could be confused. */
        if (old[0] == 0)
            return;
        event.kind = ZG_NOTIFY_SERVER_CHANGED;
        connection->server_changed = true;
    } else if (strcmp(name, "ActionInvoked") == 0 &&
               gio.g_variant_is_of_type(parameters, (const GVariantType *)"(us)")) {
        const gchar *action = NULL;
        gio.g_variant_get(parameters, "(u&s)", &event.identifier, &action);
        event.kind = ZG_NOTIFY_ACTION;
        if (strlen(action) < sizeof event.action)
            strcpy(event.action, action);
    } else if (strcmp(name, "NotificationClosed") == 0 &&
               gio.g_variant_is_of_type(parameters, (const GVariantType *)"(uu)")) {
        guint32 reason = 0;
        gio.g_variant_get(parameters, "(uu)", &event.identifier, &reason);
        event.kind = ZG_NOTIFY_CLOSED;
    }
    if (event.kind != ZG_NOTIFY_NOTHING)
        add_event(connection, event);
}

static void subscribe(zg_notify_connection *connection) {
    static const char *const names[] = {"ActionInvoked", "NotificationClosed"};
    for (size_t index = 0; index < 2; index++)
        connection->subscriptions[index] = gio.g_dbus_connection_signal_subscribe(
            connection->bus, NAME, NAME, names[index], PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
            signalled, connection, NULL);
    connection->subscriptions[2] = gio.g_dbus_connection_signal_subscribe(
        connection->bus, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        "/org/freedesktop/DBus", NAME, G_DBUS_SIGNAL_FLAGS_NONE, signalled, connection, NULL);
}

zg_notify_status zg_notify_open(const char *address, uint32_t limit,
                                zg_notify_connection **connection) {
    *connection = NULL;
    if (!zg_notify_load())
        return ZG_NOTIFY_LIBRARY_MISSING;
    zg_notify_connection *new = calloc(1, sizeof *new);
    call_state *state = calloc(1, sizeof *state);
    if (new == NULL || state == NULL) {
        free(new);
        free(state);
        return ZG_NOTIFY_FAILED;
    }
    new->context = gio.g_main_context_new();
    GCancellable *cancellable = gio.g_cancellable_new();
    gio.g_main_context_push_thread_default(new->context);
    gio.g_dbus_connection_new_for_address(address,
                                          G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                              G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                          NULL, cancellable, opened, state);
    bool finished = await(new, limit, state, cancellable);
    if (finished && state->opened != NULL) {
        new->bus = state->opened;
        state->opened = NULL;
        /* By default GIO ends the process when the bus goes away. */
        gio.g_dbus_connection_set_exit_on_close(new->bus, FALSE);
        subscribe(new);
    }
    gio.g_main_context_pop_thread_default(new->context);
    if (finished)
        free_state(state);
    if (new->bus == NULL) {
        /* An abandoned call may still end in this context. */
        if (finished) {
            gio.g_main_context_unref(new->context);
            free(new);
        }
        return ZG_NOTIFY_NO_BUS;
    }
    *connection = new;
    return ZG_NOTIFY_DONE;
}

void zg_notify_close(zg_notify_connection *connection) {
    for (size_t index = 0; index < 3; index++)
        gio.g_dbus_connection_signal_unsubscribe(connection->bus,
                                                 connection->subscriptions[index]);
    gio.g_dbus_connection_close(connection->bus, NULL, NULL, NULL);
    while (gio.g_main_context_iteration(connection->context, FALSE))
        ;
    gio.g_object_unref(connection->bus);
    gio.g_main_context_unref(connection->context);
    free(connection);
}

zg_notify_status zg_notify_capabilities(zg_notify_connection *connection, uint32_t limit,
                                        uint32_t *bits) {
    static const struct {
        const char *name;
        uint32_t bit;
    } known[] = {{"actions", ZG_NOTIFY_CAN_ACTIONS},
                 {"body", ZG_NOTIFY_CAN_BODY},
                 {"body-markup", ZG_NOTIFY_CAN_MARKUP},
                 {"persistence", ZG_NOTIFY_CAN_PERSIST}};
    GVariant *reply = NULL;
    GVariantIter *names = NULL;
    const gchar *name = NULL;
    *bits = 0;
    zg_notify_status status =
        call(connection, limit, NAME, PATH, NAME, "GetCapabilities", NULL, "(as)", &reply);
    if (status != ZG_NOTIFY_DONE)
        return status;
    gio.g_variant_get(reply, "(as)", &names);
    while (gio.g_variant_iter_next(names, "&s", &name))
        for (size_t index = 0; index < sizeof known / sizeof known[0]; index++)
            if (strcmp(name, known[index].name) == 0)
                *bits |= known[index].bit;
    gio.g_variant_iter_free(names);
    gio.g_variant_unref(reply);
    return ZG_NOTIFY_DONE;
}

zg_notify_status zg_notify_server_name(zg_notify_connection *connection, uint32_t limit, char *name,
                                       size_t capacity) {
    GVariant *reply = NULL;
    const gchar *parts[4] = {NULL, NULL, NULL, NULL};
    name[0] = '\0';
    zg_notify_status status = call(connection, limit, NAME, PATH, NAME, "GetServerInformation", NULL,
                                   "(ssss)", &reply);
    if (status != ZG_NOTIFY_DONE)
        return status;
    gio.g_variant_get(reply, "(&s&s&s&s)", &parts[0], &parts[1], &parts[2], &parts[3]);
    snprintf(name, capacity, "%s %s", parts[0], parts[2]);
    gio.g_variant_unref(reply);
    return ZG_NOTIFY_DONE;
}

static void add_hint(GVariantBuilder *hints, const char *name, GVariant *value) {
    gio.g_variant_builder_add(hints, "{sv}", name, value);
}

zg_notify_status zg_notify_send(zg_notify_connection *connection, uint32_t limit,
                                const zg_notify_message *message, uint32_t *identifier) {
    const char *const texts[] = {message->title, message->body, message->category,
                                 message->group == NULL ? "" : message->group, message->tag};
    *identifier = 0;
    /* GLib rejects anything else, and a bus disconnects clients that send it. */
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++)
        if (!gio.g_utf8_validate(texts[index], -1, NULL))
            return ZG_NOTIFY_FAILED;
    GVariantBuilder actions, hints;
    gio.g_variant_builder_init(&actions, (const GVariantType *)"as");
    for (const char *const *action = message->actions; *action != NULL; action++)
        gio.g_variant_builder_add(&actions, "s", *action);
    gio.g_variant_builder_init(&hints, (const GVariantType *)"a{sv}");
    add_hint(&hints, "urgency", gio.g_variant_new_byte(message->urgency));
    add_hint(&hints, "category", gio.g_variant_new_string(message->category));
    add_hint(&hints, "desktop-entry", gio.g_variant_new_string("zg-env"));
    if (message->group != NULL)
        add_hint(&hints, "x-kde-origin-name", gio.g_variant_new_string(message->group));
    add_hint(&hints, "x-dunst-stack-tag", gio.g_variant_new_string(message->tag));
    GVariant *parameters =
        gio.g_variant_new("(susssasa{sv}i)", "zg-env", message->replaces, "", message->title,
                          message->body, &actions, &hints, -1);
    GVariant *reply = NULL;
    zg_notify_status status =
        call(connection, limit, NAME, PATH, NAME, "Notify", parameters, "(u)", &reply);
    if (status != ZG_NOTIFY_DONE)
        return status;
    gio.g_variant_get(reply, "(u)", identifier);
    gio.g_variant_unref(reply);
    return ZG_NOTIFY_DONE;
}

bool zg_notify_server_changed(zg_notify_connection *connection) {
    gio.g_main_context_push_thread_default(connection->context);
    while (gio.g_main_context_iteration(connection->context, FALSE))
        ;
    gio.g_main_context_pop_thread_default(connection->context);
    bool changed = connection->server_changed;
    connection->server_changed = false;
    return changed;
}

zg_notify_event zg_notify_wait(zg_notify_connection *connection, uint32_t milliseconds) {
    zg_notify_event event = {.kind = ZG_NOTIFY_NOTHING, .identifier = 0, .action = {0}};
    gio.g_main_context_push_thread_default(connection->context);
    if (connection->count == 0) {
        connection->is_over = false;
        serve(connection->context, milliseconds, &connection->is_over);
    }
    gio.g_main_context_pop_thread_default(connection->context);
    if (connection->count > 0) {
        event = connection->events[connection->first];
        connection->first = (connection->first + 1) % EVENT_LIMIT;
        connection->count--;
    } else if (gio.g_dbus_connection_is_closed(connection->bus)) {
        event.kind = ZG_NOTIFY_BUS_GONE;
    }
    return event;
}
