internal import EnvOperations
internal import Glibc

/// Observes what a ``RefreshSchedule`` depends on: the clocks, the vault file, the response cache,
/// and whether a network is up. Takes only a few system calls.
struct RefreshObserver {
    private let vault: String
    private let answers: String?

    init(_ workspace: Workspace) {
        vault = workspace.options.vaultPath
        answers = Directories(workspace.context).cache
    }

    /// By `CLOCK_MONOTONIC`.
    var now: Duration { Self.time(CLOCK_MONOTONIC) }

    /// Returns the current state, without the response cache.
    func observation() -> RefreshObservation {
        RefreshObservation(
            monotonic: now, sinceBoot: Self.time(CLOCK_BOOTTIME),
            wallMilliseconds: Int64(clamping: ProcessParts.milliseconds()),
            vault: Self.mark(vault), hasNetwork: Self.hasNetwork())
    }

    /// Returns the mark of the response cache's directory; nil if it does not exist.
    func cacheMark() -> RefreshObservation.FileMark? {
        answers.flatMap { Self.mark($0) }
    }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Returns the mark of a file or directory; nil if it does not exist.
    static func mark(_ path: String) -> RefreshObservation.FileMark? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let changed = status.st_mtim
        return .init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
            changedAt: Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec))
    }

    /// Returns whether an interface other than the loopback is up and has an address; nil if
    /// unknown.
    private static func hasNetwork() -> Bool? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return nil }
        defer { unsafe freeifaddrs(first) }
        let needed = UInt32(IFF_UP) | UInt32(IFF_RUNNING)
        var next = unsafe first
        while let interface = unsafe next {
            let flags = unsafe interface.pointee.ifa_flags
            let family = unsafe interface.pointee.ifa_addr?.pointee.sa_family
            let hasAddress = family == sa_family_t(AF_INET) || family == sa_family_t(AF_INET6)
            if hasAddress, flags & needed == needed, flags & UInt32(IFF_LOOPBACK) == 0 {
                return true
            }
            unsafe next = interface.pointee.ifa_next
        }
        return false
    }
}
