#ifndef ZG_LOAD_CLIENT_H
#define ZG_LOAD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One connection to the relay: either a stream of events, or requests one after the other.
struct client {
    int file;
    bool is_stream;
    /// What is to be sent, and how much of it was.
    char *request;
    size_t request_length, request_sent;
    /// The status of the answer; 0 while it is not known.
    int status;
    /// The end of the head, of what a body says, or of a line of the stream.
    char text[1200];
    size_t text_length;
    bool has_head;
    long body_left;
    /// How far a chunk of a stream is: 0 its size, 1 its bytes, 2 the line end after it.
    int chunk_phase;
    long chunk_left;
    char line[64];
    size_t line_length;
    bool line_is_sealed;
    /// Events that came on the stream.
    uint32_t events;
    bool is_connected;
    bool is_gone;
    /// Whatever the caller needs to know it by.
    uint32_t number;
};

/// What a client calls when something is whole.
struct client_events {
    void (*answered)(struct client *client);
    void (*connected)(struct client *client);
    void (*event)(struct client *client, uint64_t now);
    void (*gone)(struct client *client);
};

uint64_t nanoseconds(void);
int client_connect(struct client *client, uint16_t port);
void client_send(struct client *client, const char *text, size_t length);
void client_close(struct client *client);
/// Takes and gives what the sockets have, for at most so long.
void clients_run(const struct client_events *events, int milliseconds);
void clients_start(void);
_Noreturn void fail(const char *what);

#endif
