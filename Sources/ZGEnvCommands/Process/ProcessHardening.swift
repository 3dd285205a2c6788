internal import CLinux
internal import Glibc

/// What this process gives up before it touches a secret, and what a child of `run` gets back.
struct ProcessHardening {
    private let mask: mode_t
    private let coreLimit: rlimit

    /// Forbids core dumps and tracing by other processes of the user, and files for others.
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
