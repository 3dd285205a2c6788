internal import Glibc
internal import Sealing
internal import SystemFiles

/// Runs a user's command with `/bin/sh`, with one value on stdin and another on descriptor 3. Both go
/// through pipes, so they are never on disk, in arguments or in the environment.
struct RotationProcess {
    /// How the command ended.
    enum End: Equatable {
        /// The exit code, or 128 plus the signal number.
        case status(Int32)
        case timedOut
        case interrupted
    }

    let command: String
    /// The complete environment, as NAME=VALUE entries.
    let environment: [[UInt8]]
    /// The descriptor for stdout and stderr; nil discards them.
    let messages: Int32?
    /// A lock descriptor that the command inherits.
    let lock: Int32
    let limit: Duration
    /// Sleeps for a number of microseconds.
    let sleep: (UInt32) -> Void
    /// Polled at least every 50 ms.
    let shouldStop: () -> Bool

    /// Runs the command until it ends. A command that does not read its input blocks nothing.
    func run(input: SecretSlice?, other: SecretSlice?) throws -> End {
        Self.closeOnExec()
        let messages = messages.map { ChildProcess.Stream.descriptor($0) } ?? .null
        // A new session: its processes can be ended together after the time limit, and none has a
        // terminal. With only a new process group, a prompt on /dev/tty would stop the command
        // silently; and under a timer there is no terminal either.
        let process = try ChildProcess.start(
            "/bin/sh", ["sh", "-c", command], environment: environment, input: .pipe,
            output: messages, error: messages, further: [3: .pipe, lock: .descriptor(lock)],
            startsSession: true, searchesPath: false)
        return watch(process, [Writer(process, 0, input), Writer(process, 3, other)])
    }

    /// Keeps the command from inheriting descriptors of this process, such as that of
    /// `--passphrase-fd`.
    private static func closeOnExec() {
        for name in Directory.names(in: "/proc/self/fd") {
            if let number = Int32(name), number >= 3 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        }
    }

    // MARK: Watching

    /// Writes a value to a pipe without blocking.
    private struct Writer {
        private let process: ChildProcess
        private let number: Int32
        private let value: SecretSlice?
        private var written = 0

        init(_ process: ChildProcess, _ number: Int32, _ value: SecretSlice?) {
            (self.process, self.number, self.value) = (process, number, value)
            let descriptor = process.descriptor(number)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }

        var isDone: Bool { process.descriptor(number) < 0 }

        mutating func writeSome() {
            guard !isDone else { return }
            while let value, written < value.count {
                let count = value.part(written..<value.count).withBytes { bytes in
                    unsafe bytes.withUnsafeBytes {
                        unsafe Glibc.write(process.descriptor(number), $0.baseAddress, $0.count)
                    }
                }
                if count > 0 {
                    written += count
                } else if count < 0, errno == EAGAIN {
                    return
                } else if count < 0, errno != EINTR {
                    break
                }
            }
            process.closeInput(number)
        }
    }

    private func watch(_ process: ChildProcess, _ writers: [Writer]) -> End {
        var writers = writers
        let end = ContinuousClock.now + limit
        var pause: UInt32 = 1_000
        while true {
            for place in writers.indices { writers[place].writeSome() }
            if let status = process.exitCodeIfEnded() { return .status(status) }
            let isLate = ContinuousClock.now >= end
            if isLate || shouldStop() {
                process.endSession()
                return isLate ? .timedOut : .interrupted
            }
            sleep(pause)
            pause = min(pause * 2, writers.allSatisfy(\.isDone) ? 50_000 : 5_000)
        }
    }
}
