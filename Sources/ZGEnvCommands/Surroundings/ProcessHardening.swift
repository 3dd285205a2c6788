internal import CLinux
internal import Glibc

/// Hardens this process before it handles a secret, and undoes that for a child of `run`.
struct ProcessHardening {
    private let mask: mode_t
    private let coreLimit: rlimit

    /// Disables core dumps, tracing by other processes of the user, crash handlers, and file access for
    /// others.
    init() {
        // Before anything is opened. Close-on-exec: a child of `run` finds them closed again.
        _ = zg_fill_standard_descriptors()
        mask = umask(0o077)
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        coreLimit = limit
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = zg_set_not_dumpable()
        Self.forgetCrashHandlers()
    }

    /// Removes the crash handlers of the Swift runtime, which print a backtrace where a toolchain is
    /// installed: they read this memory, and wait forever for a process that cannot be traced.
    private static func forgetCrashHandlers() {
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            var found = sigaction()
            guard unsafe sigaction(signal, nil, &found) == 0 else { continue }
            // 0 is the default and 1 to ignore: both are kept.
            let handler = unsafe unsafeBitCast(
                found.__sigaction_handler.sa_handler, to: UInt.self)
            if handler > 1 { _ = Glibc.signal(signal, SIG_DFL) }
        }
    }

    /// Describes a process that was not hardened.
    init(mask: mode_t, coreLimit: rlimit) {
        self.mask = mask
        self.coreLimit = coreLimit
    }

    /// Restores what a child inherits. `execve` itself makes the child dumpable and traceable again.
    func undoForChild() {
        umask(mask)
        var limit = coreLimit
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
