internal import CLinux
internal import Glibc

/// What this process gives up before it touches a secret, and what a child of `run` gets back.
struct ProcessHardening {
    private let mask: mode_t
    private let coreLimit: rlimit

    /// Forbids core dumps, tracing by other processes of the user, stacks of crashes, and files for
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

    /// Takes away what Swift's runtime put up to show the stack of a crash, where the machine has a
    /// toolchain: it reads this memory, and waits for ever for a process that nobody may trace.
    private static func forgetCrashHandlers() {
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            var found = sigaction()
            guard unsafe sigaction(signal, nil, &found) == 0 else { continue }
            // 0 is the default and 1 to ignore: both stay as they were found.
            let handler = unsafe unsafeBitCast(
                found.__sigaction_handler.sa_handler, to: UInt.self)
            if handler > 1 { _ = Glibc.signal(signal, SIG_DFL) }
        }
    }

    /// Describes a process that gives nothing up, since it is not the program's own.
    init(mask: mode_t, coreLimit: rlimit) {
        self.mask = mask
        self.coreLimit = coreLimit
    }

    /// Puts back what a child inherits. Being traced and dumped again comes with `execve` itself.
    func undoForChild() {
        umask(mask)
        var limit = coreLimit
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
