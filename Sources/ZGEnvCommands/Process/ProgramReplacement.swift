internal import CommandLineKit
internal import Glibc

/// Replaces this process by another program: same process id, same descriptors, signals as found.
struct ProgramReplacement {
    /// Why the program did not start: 126 for one that cannot be executed, 127 for none.
    struct Failure: Error {
        let status: Int32
        let message: String
    }

    private let arguments: [[UInt8]]
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
            return Failure(status: 127, message: "The name of the program is empty.")
        }
        hardening.undoForChild()
        do throws(TerminalError) {
            try Interrupts.restoreFoundState()
        } catch {
            // A program that cannot be stopped as its caller expects is not started at all.
            return Failure(status: 125, message: "The signals cannot be put back as they were.")
        }
        let candidates =
            name.contains(0x2F) ? [name] : searchPath.map { Array("\($0)/".utf8) + name }
        var refused: Int32?
        for candidate in candidates {
            let number = execute(candidate, environment)
            if number != ENOENT && number != ENOTDIR { refused = refused ?? number }
            // A directory of the path that may not be entered says nothing about the others.
            if number != ENOENT && number != ENOTDIR && number != EACCES { break }
        }
        let shown = DisplayText.safe(String(decoding: name, as: UTF8.self))
        guard let refused else {
            return Failure(status: 127, message: "There is no program \(shown).")
        }
        let reason = unsafe String(cString: strerror(refused))
        return Failure(status: 126, message: "\(shown) cannot be executed: \(reason).")
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
