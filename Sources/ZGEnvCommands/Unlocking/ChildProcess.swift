internal import CLinux
internal import Glibc

/// A program started beside this one, with one end of a pipe here.
final class ChildProcess {
    /// Where a standard stream of the child leads.
    enum Stream {
        case null
        case pipe
        case inherited
        /// The terminal that controls this process.
        case terminal
    }

    /// POSIX_SPAWN_SETSID, which the headers show to GNU programs alone.
    static let startsSessionFlag: Int16 = 0x80

    private let identifier: pid_t
    /// What this process writes for the child to read; -1 without a pipe.
    private(set) var inputDescriptor: Int32
    /// What this process reads of the child's output; -1 without a pipe.
    private(set) var outputDescriptor: Int32

    private init(identifier: pid_t, inputDescriptor: Int32, outputDescriptor: Int32) {
        self.identifier = identifier
        self.inputDescriptor = inputDescriptor
        self.outputDescriptor = outputDescriptor
    }

    /// Starts a program with exactly these arguments and this environment. Descriptors other than
    /// the standard ones are closed on exec by those who opened them.
    ///
    /// - Parameters:
    ///   - passed: A further descriptor that the child gets under the same number.
    ///   - startsSession: Whether the child gets a session of its own, without a terminal.
    static func start(
        _ path: String, _ arguments: [String], environment: [[UInt8]], input: Stream,
        output: Stream, error: Stream = .inherited, passed: Int32? = nil,
        startsSession: Bool = false, searchesPath: Bool
    ) throws -> ChildProcess {
        let inputPipe = input == .pipe ? try makePipe() : nil
        let outputPipe = output == .pipe ? try makePipe() : nil
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let inputPipe {
            unsafe posix_spawn_file_actions_adddup2(&actions, inputPipe.read, 0)
        } else if input == .null {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let outputPipe {
            unsafe posix_spawn_file_actions_adddup2(&actions, outputPipe.write, 1)
        } else if output == .null {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        if error == .null {
            unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        for (number, stream) in [(0, input), (1, output), (2, error)] as [(Int32, Stream)]
        where stream == .terminal {
            unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/tty", O_RDWR, 0)
        }
        if let passed { unsafe posix_spawn_file_actions_adddup2(&actions, passed, passed) }
        // This process ignores SIGPIPE, which would outlive exec: shell pipelines rely on it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        var flags = Int16(POSIX_SPAWN_SETSIGDEF)
        if startsSession { flags |= startsSessionFlag }
        unsafe posix_spawnattr_setflags(&attributes, flags)
        var identifier: pid_t = 0
        let argumentBytes = arguments.map { Array($0.utf8) }
        let status = unsafe CStringList.with(argumentBytes) { argv in
            unsafe CStringList.with(environment) { envp in
                unsafe searchesPath
                    ? posix_spawnp(&identifier, path, &actions, &attributes, argv, envp)
                    : posix_spawn(&identifier, path, &actions, &attributes, argv, envp)
            }
        }
        if let inputPipe { close(inputPipe.read) }
        if let outputPipe { close(outputPipe.write) }
        guard status == 0 else {
            if let inputPipe { close(inputPipe.write) }
            if let outputPipe { close(outputPipe.read) }
            let reason = unsafe String(cString: strerror(status))
            throw CommandError(.failed, "\(path) cannot be started: \(reason).")
        }
        return ChildProcess(
            identifier: identifier, inputDescriptor: inputPipe?.write ?? -1,
            outputDescriptor: outputPipe?.read ?? -1)
    }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_pipe(&ends) == 0 else {
            throw CommandError(.failed, "No pipe could be made.")
        }
        return (ends[0], ends[1])
    }

    /// Closes the pipe to the child, which then reads its end.
    func closeInput() {
        if inputDescriptor >= 0 { close(inputDescriptor) }
        inputDescriptor = -1
    }

    private func closePipes() {
        closeInput()
        if outputDescriptor >= 0 { close(outputDescriptor) }
        outputDescriptor = -1
    }

    /// Waits for the end. Returns the exit status, or 128 and the signal's number.
    func wait() -> Int32 {
        closePipes()
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Looks whether the child has ended, for so long. Nil when it has not, and nobody may wait
    /// for it then but this again.
    ///
    /// - Parameter whileWaiting: Asked about twenty times a second; false ends the wait.
    func wait(atMost limit: Duration?, whileWaiting: () -> Bool = { true }) -> Int32? {
        closePipes()
        let end = limit.map { ContinuousClock.now + $0 }
        while true {
            var status: Int32 = 0
            let found = unsafe waitpid(identifier, &status, WNOHANG)
            if found == identifier {
                let signal = status & 0x7F
                return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
            }
            if found < 0 && errno != EINTR { return 255 }
            if let end, ContinuousClock.now >= end { return nil }
            guard whileWaiting() else { return nil }
            usleep(20_000)
        }
    }

    /// Sends the child a signal.
    func send(_ signal: Int32) { kill(identifier, signal) }

    /// Ends the child, whose answer is not wanted any more.
    func abandon() {
        kill(identifier, SIGTERM)
        if wait(atMost: .seconds(2)) != nil { return }
        kill(identifier, SIGKILL)
        _ = wait()
    }
}

/// Lists of C strings, as `exec` and `spawn` take them.
enum CStringList {
    /// Lends a null-terminated list of null-terminated copies of `strings`.
    static func with<R>(
        _ strings: [[UInt8]],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var storage = Array(strings.map { $0 + [0] }.joined())
        return unsafe storage.withUnsafeMutableBytes { buffer in
            var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
            var offset = 0
            for string in strings {
                unsafe pointers.append(
                    buffer.baseAddress.map {
                        unsafe ($0 + offset).assumingMemoryBound(to: CChar.self)
                    })
                offset += string.count + 1
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let start = list.baseAddress else { preconditionFailure("not empty") }
                return unsafe body(start)
            }
        }
    }
}
