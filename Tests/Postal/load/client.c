#define _GNU_SOURCE
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int poll_file = -1;

uint64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void clients_start(void) {
    poll_file = epoll_create1(EPOLL_CLOEXEC);
    if (poll_file < 0) {
        fail("epoll_create1");
    }
}

int client_connect(struct client *client, uint16_t port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->file < 0) {
        return -1;
    }
    int one = 1;
    setsockopt(client->file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(client->file, (struct sockaddr *)&address, sizeof address) != 0) {
        close(client->file);
        client->file = -1;
        return -1;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    return epoll_ctl(poll_file, EPOLL_CTL_ADD, client->file, &event);
}

void client_close(struct client *client) {
    if (client->file >= 0) {
        close(client->file);
        client->file = -1;
    }
}

static void watch(struct client *client, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = client};
    epoll_ctl(poll_file, EPOLL_CTL_MOD, client->file, &event);
}

static void push(struct client *client) {
    while (client->request_sent < client->request_length) {
        ssize_t count = send(client->file, client->request + client->request_sent,
                             client->request_length - client->request_sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (errno == EAGAIN) {
                watch(client, EPOLLIN | EPOLLOUT);
            }
            return;
        }
        client->request_sent += (size_t)count;
    }
    free(client->request);
    client->request = NULL;
    client->request_length = client->request_sent = 0;
}

void client_send(struct client *client, const char *text, size_t length) {
    client->request = malloc(length);
    if (client->request == NULL) {
        fail("malloc");
    }
    memcpy(client->request, text, length);
    client->request_length = length;
    client->request_sent = 0;
    client->status = 0;
    client->has_head = false;
    client->text_length = 0;
    push(client);
}

/// One byte of a stream's text, without the chunks it came in.
static void take_stream_byte(struct client *client, char byte, uint64_t now,
                             const struct client_events *events) {
    if (byte != '\n') {
        if (client->line_length < sizeof client->line - 1) {
            client->line[client->line_length++] = byte;
        }
        return;
    }
    client->line[client->line_length] = 0;
    if (client->line_length == 0) {
        if (client->line_is_sealed) {
            client->events++;
            events->event(client, now);
        }
        client->line_is_sealed = false;
    } else if (strcmp(client->line, "event: sealed") == 0) {
        client->line_is_sealed = true;
    } else if (strcmp(client->line, ": connected") == 0) {
        client->is_connected = true;
        events->connected(client);
    }
    client->line_length = 0;
}

static void take_chunk_byte(struct client *client, char byte, uint64_t now,
                            const struct client_events *events) {
    switch (client->chunk_phase) {
    case 0:
        if (byte == '\n') {
            client->text[client->text_length] = 0;
            client->chunk_left = strtol(client->text, NULL, 16);
            client->text_length = 0;
            client->chunk_phase = client->chunk_left == 0 ? 3 : 1;
        } else if (client->text_length < 16) {
            client->text[client->text_length++] = byte;
        }
        break;
    case 1:
        take_stream_byte(client, byte, now, events);
        if (--client->chunk_left == 0) {
            client->chunk_phase = 2;
        }
        break;
    case 2:
        if (byte == '\n') {
            client->chunk_phase = 0;
        }
        break;
    default: break;
    }
}

static void take_head(struct client *client) {
    client->text[client->text_length] = 0;
    client->status = atoi(client->text + 9);
    const char *length = strcasestr(client->text, "\r\nContent-Length:");
    client->body_left = length == NULL ? 0 : atol(length + 17);
    client->has_head = true;
    client->text_length = 0;
}

static void take(struct client *client, const char *bytes, size_t count, uint64_t now,
                 const struct client_events *events) {
    for (size_t place = 0; place < count; place++) {
        char byte = bytes[place];
        if (client->has_head && client->is_stream && client->status == 200) {
            take_chunk_byte(client, byte, now, events);
            continue;
        }
        if (client->text_length < sizeof client->text - 1) {
            client->text[client->text_length++] = byte;
        }
        if (!client->has_head) {
            if (client->text_length >= 4 &&
                memcmp(client->text + client->text_length - 4, "\r\n\r\n", 4) == 0) {
                take_head(client);
                if (client->body_left == 0 && !(client->is_stream && client->status == 200)) {
                    client->text[0] = 0;
                    events->answered(client);
                }
            }
        } else if (--client->body_left == 0) {
            client->text[client->text_length] = 0;
            events->answered(client);
        }
    }
}

void clients_run(const struct client_events *events, int milliseconds) {
    struct epoll_event ready[256];
    int count = epoll_wait(poll_file, ready, 256, milliseconds);
    for (int number = 0; number < count; number++) {
        struct client *client = ready[number].data.ptr;
        if (ready[number].events & EPOLLOUT) {
            push(client);
            if (client->request == NULL) {
                watch(client, EPOLLIN);
            }
        }
        if (!(ready[number].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
            continue;
        }
        char bytes[16384];
        ssize_t read = recv(client->file, bytes, sizeof bytes, MSG_DONTWAIT);
        if (read > 0) {
            take(client, bytes, (size_t)read, nanoseconds(), events);
        } else if (read == 0 || (errno != EAGAIN && errno != EINTR)) {
            client_close(client);
            client->is_gone = true;
            events->gone(client);
        }
    }
}
