#ifndef ZG_CMICROHTTPD_SHIM_H
#define ZG_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// A socket connected to a port of 127.0.0.1 whose every step takes at most so many seconds, or -1.
/// The address structures belong to different Swift modules in static and in dynamic builds.
static inline int zg_connect_loopback(uint16_t port, long patience_seconds) {
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
        return -1;
    }
    struct timeval patience = {.tv_sec = patience_seconds, .tv_usec = 0};
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        connect(file, (struct sockaddr *)&address, sizeof address) != 0) {
        close(file);
        return -1;
    }
    return file;
}

/// The first callback of a request: gets the undecoded target and makes the request's context.
typedef void *_Nullable (*zg_target_callback)(void *_Nullable context, const char *_Nonnull target,
                                              struct MHD_Connection *_Nonnull connection);

/// Starts a server with a thread per connection on 127.0.0.1. MHD_start_daemon is variadic, which
/// Swift cannot call.
static inline struct MHD_Daemon *_Nullable
zg_start_loopback(uint16_t port, MHD_AccessHandlerCallback _Nonnull access,
                  MHD_RequestCompletedCallback _Nonnull completed,
                  zg_target_callback _Nonnull target, void *_Nullable context) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, port, NULL,
        NULL, access, context,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_CONNECTION_LIMIT, 512u,
        MHD_OPTION_CONNECTION_TIMEOUT, 120u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_URI_LOG_CALLBACK, target, context,
        MHD_OPTION_END);
}

/// The port a server listens on, or 0. The information is a union read through a variadic call.
static inline uint16_t zg_bound_port(struct MHD_Daemon *_Nonnull daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

/// Ends a connection with RST at once. Connecting to AF_UNSPEC is how Linux disconnects a TCP
/// socket without the FIN that an ordinary close would send first.
static inline int zg_reset_connection(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) {
        return -1;
    }
    struct sockaddr unspecified;
    memset(&unspecified, 0, sizeof unspecified);
    unspecified.sa_family = AF_UNSPEC;
    return connect(info->connect_fd, &unspecified, sizeof unspecified);
}

#endif
