internal import CLinux
internal import Glibc

/// A child process, connected through pipes.
package final class ChildProcess {
    /// What a descriptor of the child refers to.
    package enum Stream: Equatable {
        /// `/dev/null`.
        case null
        /// A pipe to this process.
        case pipe
        /// The same descriptor of this process.
        case inherited
        /// The controlling terminal.
        case terminal
        /// This descriptor of this process.
        case descriptor(Int32)
    }

    /// A program that could not be started.
    package struct Failure: Error, Equatable {
        /// The path or name, or nil if a pipe could not be created.
        package let program: String?
        package let error: SystemError
    }

    /// POSIX_SPAWN_SETSID, which the headers define only with _GNU_SOURCE.
    private static let startsSessionFlag: Int16 = 0x80

    /// The process id, which is also the process group of a child with its own session.
    package let identifier: Int32
    /// This process's pipe ends, by the child's descriptors. Never below 10.
    private var pipes: [Int32: OpenFile] = [:]
    /// The exit code once the child is gone: its id may be another process's from then on.
    private var exitCode: Int32?

    /// The write end of the child's standard input; -1 without a pipe.
    package var inputDescriptor: Int32 { descriptor(0) }
    /// The read end of the child's standard output; -1 without a pipe.
    package var outputDescriptor: Int32 { descriptor(1) }

    private init(identifier: Int32, pipes: [Int32: OpenFile]) {
        (self.identifier, self.pipes) = (identifier, pipes)
    }

    /// Starts a program with exactly these arguments and this environment. Other descriptors must
    /// be close-on-exec.
    ///
    /// - Parameters:
    ///   - further: Descriptors above 2. A pipe is for writing to the child; a descriptor mapped to
    ///     itself stays open.
    ///   - startsSession: Whether the child gets its own session, without a terminal.
    ///   - searchesPath: Whether to search PATH for the program.
    package static func start(
        _ path: String, _ arguments: [String], environment: [[UInt8]], input: Stream,
        output: Stream, error: Stream = .inherited, further: [Int32: Stream] = [:],
        startsSession: Bool = false, searchesPath: Bool
    ) throws(Failure) -> ChildProcess {
        var streams = further
        (streams[0], streams[1], streams[2]) = (input, output, error)
        var (mine, theirs) = ([Int32: OpenFile](), [Int32: OpenFile]())
        for (number, stream) in streams where stream == .pipe {
            let ends = try makePipe()
            let isRead = number == 1 || number == 2
            mine[number] = isRead ? ends.read : ends.write
            theirs[number] = isRead ? ends.write : ends.read
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.sorted(by: { $0.key < $1.key }) {
            func lead(to path: String, _ flags: Int32) {
                unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0)
            }
            switch stream {
            case .inherited: break
            case .null: lead(to: "/dev/null", number == 0 ? O_RDONLY : O_WRONLY)
            case .terminal: lead(to: "/dev/tty", O_RDWR)
            case .descriptor(let own):
                unsafe posix_spawn_file_actions_adddup2(&actions, own, number)
            case .pipe:
                if let end = theirs[number]?.descriptor {
                    unsafe posix_spawn_file_actions_adddup2(&actions, end, number)
                }
            }
        }
        // This process ignores SIGPIPE, which exec would preserve: shell pipelines rely on it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int16(POSIX_SPAWN_SETSIGDEF) | (startsSession ? startsSessionFlag : 0)
        unsafe posix_spawnattr_setflags(&attributes, flags)
        var identifier: pid_t = 0
        let status = unsafe CStringList.with(arguments.map { Array($0.utf8) }) { argv in
            unsafe CStringList.with(environment) { envp in
                unsafe searchesPath
                    ? posix_spawnp(&identifier, path, &actions, &attributes, argv, envp)
                    : posix_spawn(&identifier, path, &actions, &attributes, argv, envp)
            }
        }
        // The child's copies are enough from here on.
        withExtendedLifetime(theirs) {}
        guard status == 0 else { throw Failure(program: path, error: SystemError(status)) }
        return ChildProcess(identifier: identifier, pipes: mine)
    }

    /// Creates a pipe above the child's descriptors, so that dup2 cannot overwrite it.
    private static func makePipe() throws(Failure) -> (read: OpenFile, write: OpenFile) {
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_pipe(&ends) == 0 else { throw Failure(program: nil, error: .last) }
        let files = ends.map(OpenFile.init(owning:))
        return try SystemError.mapped(
            (try files[0].duplicate(notBelow: 10), try files[1].duplicate(notBelow: 10))
        ) { Failure(program: nil, error: $0) }
    }

    /// This process's end of the pipe to a descriptor of the child; -1 without one.
    package func descriptor(_ number: Int32) -> Int32 { pipes[number]?.descriptor ?? -1 }

    /// Closes the pipe to a descriptor of the child, which then reads end of file.
    package func closeInput(_ number: Int32 = 0) { pipes[number] = nil }

    /// Waits for the child to exit. Returns its exit status, 128 plus the signal number, or 255 if
    /// somebody else waited for it.
    package func wait() -> Int32 {
        pipes = [:]
        while true {
            if let code = exitCode(0) { return code }
        }
    }

    /// Returns what ``wait()`` would if the child has exited, otherwise nil. Keeps pipes open.
    package func exitCodeIfEnded() -> Int32? { exitCode(WNOHANG) }

    /// - Returns: nil if the child is running, or a signal ended the wait.
    private func exitCode(_ options: Int32) -> Int32? {
        if let exitCode { return exitCode }
        var status: Int32 = 0
        let found = unsafe waitpid(identifier, &status, options)
        if found == identifier {
            let signal = status & 0x7F
            exitCode = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        } else if found < 0, errno != EINTR {
            exitCode = 255
        }
        return exitCode
    }

    /// Waits for the child up to `limit`. Returns nil if it is still running, in which case only
    /// another call of this function may wait for it.
    ///
    /// - Parameter whileWaiting: Called about fifty times a second; false stops waiting.
    package func wait(atMost limit: Duration?, whileWaiting: () -> Bool = { true }) -> Int32? {
        pipes = [:]
        let end = limit.map { ContinuousClock.now + $0 }
        while true {
            if let status = exitCodeIfEnded() { return status }
            if let end, ContinuousClock.now >= end { return nil }
            guard whileWaiting() else { return nil }
            usleep(20_000)
        }
    }

    package func send(_ signal: Int32) {
        if exitCode == nil { kill(identifier, signal) }
    }

    /// Terminates a child whose result is no longer needed.
    package func terminate() {
        send(SIGTERM)
        if wait(atMost: .seconds(2)) != nil { return }
        send(SIGKILL)
        _ = wait()
    }

    /// Terminates all processes in the child's session: SIGTERM first, then SIGKILL.
    package func endSession() {
        kill(-identifier, SIGTERM)
        let hasEnded = wait(atMost: .seconds(2)) != nil
        kill(-identifier, SIGKILL)
        if !hasEnded { _ = wait() }
    }
}
