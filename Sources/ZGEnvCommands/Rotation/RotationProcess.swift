internal import CLinux
internal import Glibc
internal import Sealing

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
        let first = try Self.makePipe()
        let second: Pipe
        do {
            second = try Self.makePipe()
        } catch {
            first.close()
            throw error
        }
        let process: pid_t
        do {
            process = try start(first.read, second.read)
        } catch {
            first.close()
            second.close()
            throw error
        }
        close(first.read)
        close(second.read)
        var writers = [Writer(first.write, input), Writer(second.write, other)]
        let end = watch(process, &writers)
        for writer in writers { writer.close() }
        return end
    }

    // MARK: Starting

    private struct Pipe {
        let read: Int32
        let write: Int32

        func close() {
            Glibc.close(read)
            Glibc.close(write)
        }
    }

    /// A pipe above the descriptors that the command gets, so that none is replaced by another.
    private static func makePipe() throws -> Pipe {
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_pipe(&ends) == 0 else {
            throw CommandError(.failed, "No pipe could be made.")
        }
        let raised = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        for end in ends { Glibc.close(end) }
        guard raised.allSatisfy({ $0 >= 0 }) else {
            for end in raised where end >= 0 { Glibc.close(end) }
            throw CommandError(.failed, "No pipe could be made.")
        }
        return Pipe(read: raised[0], write: raised[1])
    }

    /// Descriptors that this process was started with, such as the one of `--passphrase-fd`, are not
    /// the command's.
    private static func closeOnExec() {
        guard let directory = unsafe opendir("/proc/self/fd") else {
            for number in 3..<256 as Range<Int32> { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
            return
        }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name), number >= 3 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        }
    }

    private func start(_ input: Int32, _ other: Int32) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, other, 3)
        if let messages {
            unsafe posix_spawn_file_actions_adddup2(&actions, messages, 1)
            unsafe posix_spawn_file_actions_adddup2(&actions, messages, 2)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        // Onto itself: it stays open there alone.
        unsafe posix_spawn_file_actions_adddup2(&actions, lock, lock)
        // This process ignores SIGPIPE, which would outlive exec: shell pipelines rely on it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        // A session of its own: all that it starts is one group, which ends with it when the time is
        // over, and none of it has a terminal. In a group of its own alone a question on /dev/tty would
        // stop it, and nobody would see why; and what runs by the clock has no terminal either.
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | ChildProcess.startsSessionFlag)
        var process: pid_t = 0
        let arguments = ["sh", "-c", command].map { Array($0.utf8) }
        let status = unsafe CStringList.with(arguments) { argv in
            unsafe CStringList.with(environment) { envp in
                unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, argv, envp)
            }
        }
        guard status == 0 else {
            let reason = unsafe String(cString: strerror(status))
            throw CommandError(.failed, "/bin/sh cannot be started: \(reason).")
        }
        return process
    }

    // MARK: Watching

    /// Writes a value to a pipe as far as there is room.
    private struct Writer {
        private var descriptor: Int32
        private let value: SecretSlice?
        private var written = 0

        init(_ descriptor: Int32, _ value: SecretSlice?) {
            self.descriptor = descriptor
            self.value = value
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }

        var isDone: Bool { descriptor < 0 }

        mutating func writeSome() {
            guard !isDone else { return }
            while let value, written < value.count {
                let count = value.part(written..<value.count).withBytes { bytes in
                    unsafe bytes.withUnsafeBytes {
                        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
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
            Glibc.close(descriptor)
            descriptor = -1
        }

        func close() {
            if descriptor >= 0 { Glibc.close(descriptor) }
        }
    }

    private func watch(_ process: pid_t, _ writers: inout [Writer]) -> End {
        let end = ContinuousClock.now + limit
        var pause: UInt32 = 1_000
        while true {
            for place in writers.indices { writers[place].writeSome() }
            var status: Int32 = 0
            let found = unsafe waitpid(process, &status, WNOHANG)
            if found == process {
                let signal = status & 0x7F
                return .status(signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
            }
            if found < 0 && errno != EINTR { return .status(255) }
            let isLate = ContinuousClock.now >= end
            if isLate || shouldStop() {
                Self.end(process)
                return isLate ? .timedOut : .interrupted
            }
            sleep(pause)
            pause = min(pause * 2, writers.allSatisfy(\.isDone) ? 50_000 : 5_000)
        }
    }

    /// Ends the whole group, gently at first.
    private static func end(_ process: pid_t) {
        kill(-process, SIGTERM)
        for _ in 0..<100 {
            if waitpid(process, nil, WNOHANG) != 0 {
                kill(-process, SIGKILL)
                return
            }
            usleep(20_000)
        }
        kill(-process, SIGKILL)
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
    }
}
