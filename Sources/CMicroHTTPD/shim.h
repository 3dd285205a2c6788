#ifndef ZG_CMICROHTTPD_SHIM_H
#define ZG_CMICROHTTPD_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// Connects to a port of 127.0.0.1 with a timeout for each step. Returns the socket or -1. In C
/// because the address structures belong to different Swift modules in static and in dynamic
/// builds.
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

/// The first callback of a request: gets the undecoded target and returns the request's context.
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
        MHD_OPTION_CONNECTION_LIMIT, 4096u,
        MHD_OPTION_CONNECTION_TIMEOUT, 120u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)(1 << 20),
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_URI_LOG_CALLBACK, target, context,
        MHD_OPTION_END);
}

/// The settings of a server for many idle connections.
struct zg_relay_settings {
    /// An IPv4 or IPv6 address in its usual form.
    const char *_Nonnull address;
    uint16_t port;
    unsigned int thread_count;
    unsigned int connection_limit;
    /// Bytes for each connection's header fields and its output.
    size_t connection_memory;
    MHD_AcceptPolicyCallback _Nonnull accept;
    MHD_AccessHandlerCallback _Nonnull access;
    MHD_RequestCompletedCallback _Nonnull completed;
    zg_target_callback _Nonnull target;
    MHD_NotifyConnectionCallback _Nonnull connection;
    void *_Nullable context;
};

/// Starts a server with a few threads, each with epoll for its part of the connections, which may
/// be suspended. Returns NULL with EINVAL for an invalid address.
static inline struct MHD_Daemon *_Nullable zg_start_relay(struct zg_relay_settings settings) {
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    memset(&six, 0, sizeof six);
    memset(&four, 0, sizeof four);
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    const struct sockaddr *address = (const struct sockaddr *)&four;
    if (inet_pton(AF_INET, settings.address, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(settings.port);
    } else if (inet_pton(AF_INET6, settings.address, &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(settings.port);
        flags |= MHD_USE_IPv6;
        address = (const struct sockaddr *)&six;
    } else {
        errno = EINVAL;
        return NULL;
    }
    return MHD_start_daemon(
        flags, settings.port, settings.accept, settings.context, settings.access, settings.context,
        MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_THREAD_POOL_SIZE, settings.thread_count,
        MHD_OPTION_CONNECTION_LIMIT, settings.connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, 120u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings.connection_memory,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
        MHD_OPTION_NOTIFY_COMPLETED, settings.completed, settings.context,
        MHD_OPTION_NOTIFY_CONNECTION, settings.connection, settings.context,
        MHD_OPTION_URI_LOG_CALLBACK, settings.target, settings.context,
        MHD_OPTION_END);
}

/// Writes a peer's address as text; returns 0 for other families. An IPv4-mapped address is written
/// as IPv4.
static inline int zg_address_text(const struct sockaddr *_Nonnull address, char *_Nonnull text,
                                  socklen_t count) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        return inet_ntop(AF_INET, &four->sin_addr, text, count) != NULL;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
            return inet_ntop(AF_INET, &six->sin6_addr.s6_addr[12], text, count) != NULL;
        }
        return inet_ntop(AF_INET6, &six->sin6_addr, text, count) != NULL;
    }
    return 0;
}

/// Writes an address in canonical form; returns 0 if it is invalid.
static inline int zg_normal_address(const char *_Nonnull written, char *_Nonnull text,
                                    socklen_t count) {
    unsigned char bytes[16];
    int family = inet_pton(AF_INET, written, bytes) == 1    ? AF_INET
                 : inet_pton(AF_INET6, written, bytes) == 1 ? AF_INET6
                                                            : 0;
    return family != 0 && inet_ntop(family, bytes, text, count) != NULL;
}

/// Returns the socket of a connection, or -1. The information is a union read by a variadic call.
static inline int zg_connection_socket(struct MHD_Connection *_Nonnull connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Returns the port a server listens on, or 0. The information is a union read by a variadic call.
static inline uint16_t zg_bound_port(struct MHD_Daemon *_Nonnull daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

/// Closes a connection with RST at once. Connecting to AF_UNSPEC makes Linux disconnect a TCP
/// socket without the FIN of an ordinary close.
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
