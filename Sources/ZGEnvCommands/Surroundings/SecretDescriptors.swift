internal import CommandLineKit
internal import Glibc

/// The descriptors that options name as sources of passphrases. No child process inherits one, whether or
/// not this process reads it: a file behind it could be read again, and a pipe for the first time.
package final class SecretDescriptors {
    /// Where the standard input is since /dev/null took its place.
    private var movedInput: Int32?

    /// Starts with none.
    package init() {}

    /// Withholds every descriptor that the options and the environment name.
    ///
    /// - Throws: ``ExitCode/usage`` for stdout and stderr, which children must inherit.
    func withhold(namedBy command: ParsedCommand, _ context: Context) throws {
        for option in command.spec.options + GlobalOptions.specs {
            if Self.numberOptions.contains(option.name), let number = command.integer(option.name) {
                guard number != 1, number != 2 else {
                    throw CommandError(
                        .usage, "Descriptor \(number) is for output and cannot give a passphrase.",
                        hint: "Give another number to --\(option.name).")
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

    /// Where to read what was given as this descriptor.
    func current(_ number: Int32) -> Int32 {
        number == 0 ? movedInput ?? 0 : number
    }

    /// Refuses to read the standard input for anything but the passphrase that it gives.
    func checkInput(for what: String, hint: String? = nil) throws {
        guard movedInput != nil else { return }
        throw CommandError(
            .usage, "Descriptor 0 cannot give the passphrase and the \(what).", hint: hint)
    }

    /// The descriptor that opening a path would open: `/dev/stdin`, `/dev/fd/63` as shells make it of
    /// `<(…)`, and whatever else leads into this process's `/proc/self/fd`, spelled otherwise or linked.
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
            // One that is not open has nothing to give, which a message says once it is to be read.
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            return
        }
        // An input that was closed at the start is close-on-exec already.
        guard movedInput == nil, fcntl(0, F_GETFD) & FD_CLOEXEC == 0 else { return }
        let moved = fcntl(0, F_DUPFD_CLOEXEC, 3)
        let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard moved >= 0, null >= 0, dup2(null, 0) == 0 else {
            throw CommandError(
                .failed, "Descriptor 0 cannot be kept from programs that zg-env starts.",
                hint: "Nothing was started. Give the passphrase with --passphrase-file.")
        }
        close(null)
        movedInput = moved
    }
}
