internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// Replaces this process by another program: same process id, same descriptors, signals as found.
struct ProgramReplacement {
    /// Why the program did not start: 126 for one that cannot be executed, 127 for none, 125 where the
    /// program is not to blame.
    struct Failure: Error {
        let status: Int32
        let error: CommandError

        init(_ status: Int32, _ code: ExitCode, _ message: String, hint: String? = nil) {
            self.status = status
            error = CommandError(code, message, hint: hint)
        }
    }

    let arguments: [[UInt8]]
    private let searchPath: [String]

    /// - Parameters:
    ///   - arguments: The program's name first.
    ///   - path: The search path, for a name without a slash.
    init(_ arguments: [[UInt8]], path: String?) {
        self.arguments = arguments
        searchPath = (path ?? "/usr/local/bin:/usr/bin:/bin").split(
            separator: ":", omittingEmptySubsequences: false
        ).map { $0.isEmpty ? "." : String($0) }
    }

    /// Does not return where it succeeds.
    func execute(
        environment: ChildEnvironment, hardening: ProcessHardening
    ) -> Failure {
        guard let name = arguments.first, !name.isEmpty else {
            return Failure(127, .notFound, "The name of the program is empty.")
        }
        hardening.undoForChild()
        do throws(TerminalError) {
            try Interrupts.restoreFoundState()
        } catch {
            return Self.signalsLost
        }
        var refused: Int32?
        for candidate in candidates {
            let number = execute(candidate, environment)
            if number != ENOENT && number != ENOTDIR { refused = refused ?? number }
            // A directory of the path that may not be entered says nothing about the others.
            if number != ENOENT && number != ENOTDIR && number != EACCES { break }
        }
        return failure(refused: refused ?? ENOENT, environment)
    }

    /// A program that cannot be stopped as its caller expects is not started at all.
    static let signalsLost = Failure(125, .failed, "The signals cannot be put back as they were.")

    /// The paths to try in turn.
    var candidates: [[UInt8]] {
        guard let name = arguments.first else { return [] }
        return name.contains(0x2F) ? [name] : searchPath.map { Array("\($0)/".utf8) + name }
    }

    /// What the number of a failed `execve` means; ENOENT for a program that is nowhere.
    func failure(refused: Int32, _ environment: ChildEnvironment) -> Failure {
        if refused == E2BIG { return Self.tooLarge(arguments, environment) }
        let name = arguments.first ?? []
        let shown = String(decoding: name, as: UTF8.self)
        guard refused != ENOENT else {
            return Failure(127, .notFound, "There is no program \(shown).")
        }
        let reason = SystemError(refused).reason
        // The process or the system is short of something, which is no fault of the program either.
        if [EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS].contains(refused) {
            return Failure(
                125, .failed, "\(shown) could not be started: \(reason).",
                hint: "Raise the limit (ulimit -a shows them), or end other programs.")
        }
        return Failure(126, .failed, "\(shown) cannot be executed: \(reason).")
    }

    /// The kernel takes arguments and environment up to a quarter of the limit of the stack, which is
    /// no fault of the program.
    private static func tooLarge(
        _ arguments: [[UInt8]], _ environment: ChildEnvironment
    ) -> Failure {
        let bytes = arguments.reduce(environment.byteCount) { $0 + $1.count + 1 }
        return Failure(
            125, .usage,
            "The environment and the arguments are together longer than the system takes "
                + "(\((bytes + 1023) >> 10) KiB).",
            hint: "Name the variables to hand over with --only, or leave the shell's out with "
                + "--no-inherit.")
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

extension RunFailure {
    init(_ failure: ProgramReplacement.Failure) {
        self.init(status: failure.status, error: failure.error)
    }
}
