internal import CLinux
internal import Glibc

/// The signals of a service: taken by one thread that waits for them, and none else.
enum ServiceSignals {
    /// Keeps them for ``wait(milliseconds:)``. Before the first thread starts.
    static func block() {
        // Whoever starts programs in the background may have SIGINT ignored, and what is ignored is
        // dropped even where somebody waits for it.
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
        var signals = set
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// The next one; nil when the time is over.
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

/// How many files the process may have open.
enum FileLimit {
    /// Descriptors beside those of connections.
    private static let others: UInt32 = 128

    /// Raises the limit to what so many connections need.
    ///
    /// - Parameter isWanted: Whether somebody asked for just so many; else fewer do.
    /// - Returns: How many connections there may be.
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
                "The system lets this process have \(limit.rlim_max) open files, and \(needed) are needed.",
                hint: "Raise the limit (LimitNOFILE=), or lower --connections.")
        }
        return min(connections, possible)
    }
}

/// Tells systemd how far the service is, where it asked for that.
struct ServiceNotice {
    private let path: String?

    init(_ context: PostalContext) { path = context.variable("NOTIFY_SOCKET") }

    func send(_ text: String) {
        if let path { _ = unsafe zg_notify_service(path, text, text.utf8.count) }
    }
}
