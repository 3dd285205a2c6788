internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// Replaces this process with another program; the process ID, descriptors and signal state stay.
struct ProgramReplacement {
    let arguments: [[UInt8]]
    private let searchPath: [String]

    /// - Parameters:
    ///   - arguments: Begins with the program's name.
    ///   - path: The search path, for a name without a slash.
    init(_ arguments: [[UInt8]], path: String?) {
        self.arguments = arguments
        searchPath = (path ?? "/usr/local/bin:/usr/bin:/bin").split(
            separator: ":", omittingEmptySubsequences: false
        ).map { $0.isEmpty ? "." : String($0) }
    }

    /// Returns only on failure.
    func execute(
        environment: ChildEnvironment, hardening: ProcessHardening
    ) -> RunFailure {
        guard let name = arguments.first, !name.isEmpty else {
            return RunFailure(127, .notFound, "The program name is empty.")
        }
        hardening.undoForChild()
        do throws(TerminalError) {
            try Interrupts.restoreInitialState()
        } catch {
            return Self.signalFailure
        }
        var refused: Int32?
        for candidate in candidates {
            let number = execute(candidate, environment)
            if number != ENOENT && number != ENOTDIR { refused = refused ?? number }
            // A directory without search permission must not end the search of the path.
            if number != ENOENT && number != ENOTDIR && number != EACCES { break }
        }
        return failure(refused: refused ?? ENOENT, environment)
    }

    /// The program is not started if its caller could not stop it with signals.
    static let signalFailure = RunFailure(125, .failed, "Cannot restore the signal handlers.")

    /// The paths to try, in order.
    var candidates: [[UInt8]] {
        guard let name = arguments.first else { return [] }
        return name.contains(0x2F) ? [name] : searchPath.map { Array("\($0)/".utf8) + name }
    }

    /// Returns the failure for the error number of `execve`.
    func failure(refused: Int32, _ environment: ChildEnvironment) -> RunFailure {
        if refused == E2BIG { return Self.tooLarge(arguments, environment) }
        let name = arguments.first ?? []
        let shown = String(decoding: name, as: UTF8.self)
        guard refused != ENOENT else {
            return RunFailure(127, .notFound, "Program not found: \(shown).")
        }
        let reason = SystemError(refused).reason
        // A lack of resources is not the fault of the program.
        if [EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS].contains(refused) {
            return RunFailure(
                125, .failed, "Cannot start \(shown): \(reason).",
                hint: "Raise the limit (see ulimit -a), or stop other programs.")
        }
        return RunFailure(126, .failed, "Cannot execute \(shown): \(reason).")
    }

    /// Returns the failure for arguments and an environment above the kernel's limit, a quarter of
    /// the stack limit.
    private static func tooLarge(
        _ arguments: [[UInt8]], _ environment: ChildEnvironment
    ) -> RunFailure {
        let bytes = arguments.reduce(environment.byteCount) { $0 + $1.count + 1 }
        return RunFailure(
            125, .usage,
            "The arguments and the environment are too long for this system: "
                + "\((bytes + 1023) >> 10) KiB.",
            hint:
                "Pass fewer variables with --only, or leave out the shell's variables with --no-inherit."
        )
    }

    private func execute(_ path: [UInt8], _ environment: ChildEnvironment) -> Int32 {
        let terminated = path.map { CChar(bitPattern: $0) } + [0]
        return unsafe CStringList.with(arguments) { argv in
            unsafe environment.withPointers { envp in
                unsafe execve(terminated, argv, envp)
                return errno
            }
        }
    }
}
