import CTestSupport
import Foundation
import Glibc

/// A program started with exactly the arguments, environment and descriptors given.
///
/// The child has default signal dispositions, an empty signal mask, and only the named descriptors.
/// It stays a zombie until ``reap()``, so its process id is not reused before.
package struct ChildProcess {
    /// What to start.
    package struct Description {
        /// The program's path.
        package var path: String
        /// All arguments but the program's name, as bytes without NUL.
        package var arguments: [[UInt8]]
        /// The whole environment.
        package var environment: [String: String]
        /// The child's descriptors, by number, each a copy of one of ours.
        package var descriptors: [Int32: Int32]
        /// The directory to start in, or ours.
        package var workingDirectory: String?
        /// Starts a session without a controlling terminal.
        package var startsSession = false
        /// The controlling terminal; requires ``startsSession``.
        package var terminalPath: String?

        /// Describes a program without any descriptors.
        package init(_ path: String, _ arguments: [String], environment: [String: String]) {
            self.path = path
            self.arguments = arguments.map { Array($0.utf8) }
            self.environment = environment
            descriptors = [:]
        }
    }

    /// How a child ended.
    package enum End: Equatable, Sendable {
        /// It exited with this status.
        case exited(Int32)
        /// It was ended by this signal.
        case signalled(Int32)

        /// How zg-env ends when it receives a signal: SIGINT kills it, for the others it exits.
        package static func received(_ signal: Int32) -> Self {
            signal == SIGINT ? .signalled(signal) : .exited(128 + signal)
        }
    }

    /// The child's process id.
    package let identifier: Int32

    /// The sanitizer settings of `make sanitize`, and the output path of `make coverage`, for the
    /// programs as for the tests.
    private static let instrumentation = ProcessInfo.processInfo.environment.filter {
        ["ASAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE"].contains($0.key)
    }

    /// Starts `description`. A missing program is an error here, not an exit status.
    package init(_ description: Description) throws {
        // Sources are moved out of the way first, so that no copy overwrites a later source.
        var moved: [Int32: Int32] = [:]
        defer { for source in moved.values { close(source) } }
        for (target, source) in description.descriptors {
            moved[target] = try Self.copy(of: source, atLeast: 200)
        }

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let terminalPath = description.terminalPath {
            // The first terminal that a session leader opens becomes its controlling terminal.
            unsafe posix_spawn_file_actions_addopen(&actions, 199, terminalPath, O_RDWR, 0)
        }
        for (target, source) in moved {
            unsafe posix_spawn_file_actions_adddup2(&actions, source, target)
        }
        let first = (moved.keys.max() ?? -1) + 1
        for number in 0..<first where moved[number] == nil {
            unsafe posix_spawn_file_actions_addclose(&actions, number)
        }
        unsafe zg_spawn_add_close_from(&actions, first)
        if let directory = description.workingDirectory {
            unsafe zg_spawn_add_directory(&actions, directory)
        }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe zg_spawn_set_flags(&attributes, description.startsSession ? 1 : 0)

        let environment = description.environment.merging(Self.instrumentation) { own, _ in own }
            .sorted { $0.key < $1.key }
            .map { Array("\($0.key)=\($0.value)".utf8) }
        var identifier: pid_t = 0
        let name = [Array(description.path.utf8)]
        let status = unsafe Self.withCStrings(name + description.arguments) { arguments in
            unsafe Self.withCStrings(environment) { environment in
                unsafe posix_spawn(
                    &identifier, description.path, &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else {
            throw SystemCallError("posix_spawn \(description.path)", number: status)
        }
        self.identifier = identifier
    }

    /// Sends a signal. Safe until ``reap()``: a zombie keeps its number.
    package func signal(_ number: Int32) {
        kill(identifier, number)
    }

    /// Blocks until the child has ended, without reaping it.
    package func awaitEnd() {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0,
            errno == EINTR
        {}
    }

    /// Blocks until the child has ended, reaps it and returns how it ended.
    @discardableResult
    package func reap() -> End {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    private static func copy(of descriptor: Int32, atLeast minimum: Int32) throws -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, minimum)
        guard copy >= 0 else { throw SystemCallError("fcntl") }
        return copy
    }

    private static func withCStrings<R>(
        _ strings: [[UInt8]],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let pointers = unsafe strings.map { bytes in
            unsafe strdup((bytes + [0]).map { CChar(bitPattern: $0) })
        }
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe body(pointers + [nil])
    }
}
