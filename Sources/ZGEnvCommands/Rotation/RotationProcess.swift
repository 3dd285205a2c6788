internal import Glibc
internal import Sealing
internal import SystemFiles

/// One command of the user's for `/bin/sh`, with one value on its stdin and another one on its
/// descriptor 3. Both go through pipes, so they are on no disk and in no argument or environment.
struct RotationProcess {
    /// How it ended.
    enum End: Equatable {
        /// With this status, or 128 and the number of the signal.
        case status(Int32)
        case timedOut
        case interrupted
    }

    /// The command.
    let command: String
    /// Its whole environment.
    let environment: [[UInt8]]
    /// Where its stdout and stderr go; nil for nowhere.
    let messages: Int32?
    /// A descriptor that it keeps open, as a lock.
    let lock: Int32
    /// How long it may take.
    let limit: Duration
    /// Sleeps, in microseconds.
    let sleep: (UInt32) -> Void
    /// Asked about ten times a second.
    let shouldStop: () -> Bool

    /// Runs it to its end. A command that does not read holds nothing up.
    func run(input: SecretSlice?, other: SecretSlice?) throws -> End {
        Self.closeOnExec()
        let messages = messages.map { ChildProcess.Stream.descriptor($0) } ?? .null
        // A session of its own: all that it starts is one group, which ends with it when the time is
        // over, and none of it has a terminal. In a group of its own alone a question on /dev/tty would
        // stop it, and nobody would see why; and what runs by the clock has no terminal either.
        let process = try ChildProcess.start(
            "/bin/sh", ["sh", "-c", command], environment: environment, input: .pipe,
            output: messages, error: messages, further: [3: .pipe, lock: .descriptor(lock)],
            startsSession: true, searchesPath: false)
        return watch(process, [Writer(process, 0, input), Writer(process, 3, other)])
    }

    /// Descriptors that this process was started with, such as the one of `--passphrase-fd`, are not
    /// the command's.
    private static func closeOnExec() {
        for name in Directory.names(in: "/proc/self/fd") {
            if let number = Int32(name), number >= 3 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        }
    }

    // MARK: Watching

    /// Writes a value to a pipe as far as there is room.
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
            if let status = process.endIfAny() { return .status(status) }
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
