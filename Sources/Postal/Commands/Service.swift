internal import CLinux
internal import Glibc

/// The signals of a service, received by one waiting thread.
enum ServiceSignals {
    /// Blocks the signals for ``wait(milliseconds:)``. Call before the first thread starts.
    static func block() {
        // The parent may have ignored SIGINT, and the kernel drops an ignored signal even if a
        // thread waits for it.
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
        var signals = set
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Returns the next signal, or nil after the time.
    static func wait(milliseconds: Int) -> Int32? {
        var signals = set
        var time = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
        let number = unsafe sigtimedwait(&signals, nil, &time)
        return number > 0 ? number : nil
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals, number) }
        return signals
    }
}

/// The limit of open files.
enum FileLimit {
    /// Descriptors in addition to those of connections.
    private static let others: UInt32 = 128

    /// Raises the limit for `connections`.
    ///
    /// - Parameter isWanted: Whether the user chose this number; otherwise fewer will do.
    /// - Returns: How many connections are possible.
    static func raise(for connections: UInt32, isWanted: Bool) throws -> UInt32 {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let needed = rlim_t(connections + others)
        guard limit.rlim_cur < needed else { return connections }
        limit.rlim_cur = min(needed, limit.rlim_max)
        let isRaised = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        let possible =
            UInt32(clamping: limit.rlim_cur) - min(others, UInt32(clamping: limit.rlim_cur))
        guard isRaised, possible >= connections || !isWanted && possible >= 64 else {
            throw PostalError(
                .failed,
                "The limit on open files is \(limit.rlim_max), but \(needed) are needed.",
                hint: "Raise the limit (LimitNOFILE=), or lower --connections.")
        }
        return min(connections, possible)
    }
}

/// Reports the state of the service to systemd, if systemd wants it.
struct SystemdNotifier {
    private let path: String?

    init(_ context: PostalContext) { path = context.variable("NOTIFY_SOCKET") }

    func send(_ text: String) {
        if let path { _ = unsafe zg_notify_service(path, text, text.utf8.count) }
    }
}
