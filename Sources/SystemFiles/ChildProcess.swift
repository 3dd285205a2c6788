internal import CLinux
internal import Glibc

/// A program started beside this one, with ends of pipes here.
package final class ChildProcess {
    /// Where a descriptor of the child leads.
    package enum Stream: Equatable {
        /// Nowhere.
        case null
        /// To this process.
        case pipe
        /// Where that of this process leads.
        case inherited
        /// The terminal that controls this process.
        case terminal
        /// Where this descriptor of this process leads.
        case descriptor(Int32)
    }

    /// A program that could not be started.
    package struct Failure: Error, Equatable {
        /// Its path or name; nil where no pipe could be made.
        package let program: String?
        /// What the kernel said.
        package let error: SystemError
    }

    /// POSIX_SPAWN_SETSID, which the headers show to GNU programs alone.
    private static let startsSessionFlag: Int16 = 0x80

    /// Its number, and its group's where it has a session of its own.
    package let identifier: Int32
    /// This process's ends of pipes, by the child's descriptors. Never below 10.
    private var pipes: [Int32: OpenFile] = [:]

    /// What this process writes for the child to read; -1 without a pipe.
    package var inputDescriptor: Int32 { descriptor(0) }
    /// What this process reads of the child's output; -1 without a pipe.
    package var outputDescriptor: Int32 { descriptor(1) }

    private init(identifier: Int32, pipes: [Int32: OpenFile]) {
        (self.identifier, self.pipes) = (identifier, pipes)
    }

    /// Starts a program with exactly these arguments and this environment. Descriptors other than those named
    /// are closed on exec by those who opened them.
    ///
    /// - Parameters:
    ///   - further: Descriptors above 2; a pipe there is for writing to the child, and one that leads to itself
    ///     stays open there.
    ///   - startsSession: Whether the child gets a session of its own, without a terminal.
    ///   - searchesPath: Whether `path` is a name to be looked for.
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
        // This process ignores SIGPIPE, which would outlive exec: shell pipelines rely on it.
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
        // The child has them now, or nobody.
        withExtendedLifetime(theirs) {}
        guard status == 0 else { throw Failure(program: path, error: SystemError(status)) }
        return ChildProcess(identifier: identifier, pipes: mine)
    }

    /// A pipe above the descriptors that a child gets, so that none is replaced by another.
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

    /// Closes the pipe to a descriptor of the child, which then reads its end.
    package func closeInput(_ number: Int32 = 0) { pipes[number] = nil }

    /// Waits for the end. Returns the exit status, or 128 and the signal's number.
    package func wait() -> Int32 {
        pipes = [:]
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return Self.code(status)
    }

    /// The same if the child has ended; nil where it has not. Pipes stay open.
    package func endIfAny() -> Int32? {
        var status: Int32 = 0
        let found = unsafe waitpid(identifier, &status, WNOHANG)
        if found == identifier { return Self.code(status) }
        return found < 0 && errno != EINTR ? 255 : nil
    }

    private static func code(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Looks whether the child has ended, for so long. Nil when it has not, and nobody may wait
    /// for it then but this again.
    ///
    /// - Parameter whileWaiting: Asked about fifty times a second; false ends the wait.
    package func wait(atMost limit: Duration?, whileWaiting: () -> Bool = { true }) -> Int32? {
        pipes = [:]
        let end = limit.map { ContinuousClock.now + $0 }
        while true {
            if let status = endIfAny() { return status }
            if let end, ContinuousClock.now >= end { return nil }
            guard whileWaiting() else { return nil }
            usleep(20_000)
        }
    }

    /// Sends the child a signal.
    package func send(_ signal: Int32) { kill(identifier, signal) }

    /// Ends the child, whose answer is not wanted any more.
    package func abandon() {
        send(SIGTERM)
        if wait(atMost: .seconds(2)) != nil { return }
        send(SIGKILL)
        _ = wait()
    }

    /// Ends all processes of the session that the child has of its own, gently at first.
    package func endSession() {
        kill(-identifier, SIGTERM)
        let hasEnded = wait(atMost: .seconds(2)) != nil
        kill(-identifier, SIGKILL)
        if !hasEnded { _ = wait() }
    }
}
