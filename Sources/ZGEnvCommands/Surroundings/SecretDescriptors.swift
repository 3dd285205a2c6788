internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// The descriptors that options give as sources of passphrases. No child process inherits them, even if
/// this process does not read them: the child could read the passphrase.
package final class SecretDescriptors {
    /// The new descriptor of stdin after /dev/null replaced it.
    private var movedInput: Int32?

    package init() {}

    /// Withholds every descriptor in the options and the environment from child processes.
    ///
    /// - Throws: ``ExitCode/usage`` for stdout and stderr, which children must inherit.
    func withhold(namedBy command: ParsedCommand, _ context: Context) throws {
        for option in command.spec.options + GlobalOptions.specs {
            if Self.numberOptions.contains(option.name), let number = command.integer(option.name) {
                guard number != 1, number != 2 else {
                    throw CommandError(
                        .usage,
                        "Descriptor \(number) is for output and cannot provide a passphrase.",
                        hint: "Use another number for --\(option.name).")
                }
                try withhold(Int32(clamping: number))
            } else if Self.fileOptions.contains(option.name) {
                for path in command.values(option.name) { try withhold(path: path) }
            }
        }
        if let path = context.variable("ZG_ENV_PASSPHRASE_FILE") { try withhold(path: path) }
    }

    static let numberOptions: Set = ["passphrase-fd", "new-passphrase-fd"]
    static let fileOptions: Set = ["passphrase-file", "new-passphrase-file", "slot-secret-file"]

    /// Returns the descriptor to read for the given number.
    func current(_ number: Int32) -> Int32 {
        number == 0 ? movedInput ?? 0 : number
    }

    /// Throws if stdin is the source of a passphrase and so cannot be read for anything else.
    func checkInput(for what: String, hint: String? = nil) throws {
        guard movedInput != nil else { return }
        throw CommandError(
            .usage, "Cannot read both the passphrase and the \(what) from stdin.", hint: hint)
    }

    /// Returns the descriptor that a path stands for: `/dev/stdin`, `/dev/fd/63` as in `<(…)`, and any
    /// other path or link into this process's `/proc/self/fd`.
    static func number(of path: String) -> Int32? {
        var path = path
        // As many links as the kernel follows.
        for _ in 0..<40 {
            guard let slash = path.lastIndex(of: "/") else {
                path = "./" + path
                continue
            }
            let directory = String(path[...slash])
            if let real = RealPath.of(directory), isDescriptorDirectory(real) {
                return Int32(path[path.index(after: slash)...])
            }
            guard let target = linkTarget(path) else { return nil }
            path = target.hasPrefix("/") ? target : directory + target
        }
        return nil
    }

    private static func isDescriptorDirectory(_ path: String) -> Bool {
        let own = "/proc/\(getpid())/"
        return path == own + "fd" || path.hasPrefix(own + "task/") && path.hasSuffix("/fd")
    }

    private static func linkTarget(_ path: String) -> String? {
        var text = [CChar](repeating: 0, count: 4_096)
        let count = unsafe text.withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress else { return -1 }
            return unsafe readlink(path, start, room.count)
        }
        let bytes = text.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }

    private func withhold(path: String) throws {
        guard let number = Self.number(of: path), number != 1, number != 2 else { return }
        try withhold(number)
    }

    private func withhold(_ number: Int32) throws {
        guard number == 0 else {
            // A descriptor that is not open is reported when it is read.
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            return
        }
        // Stdin that was closed at the start is close-on-exec already.
        guard movedInput == nil, fcntl(0, F_GETFD) & FD_CLOEXEC == 0 else { return }
        let moved = fcntl(0, F_DUPFD_CLOEXEC, 3)
        let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard moved >= 0, null >= 0, dup2(null, 0) == 0 else {
            throw CommandError(
                .failed, "Cannot prevent programs started by zg-env from inheriting stdin.",
                hint: "Use --passphrase-file instead.")
        }
        close(null)
        movedInput = moved
    }
}
