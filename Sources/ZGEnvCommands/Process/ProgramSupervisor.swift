internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import Searching
internal import SystemFiles

/// Runs a program as a child process and masks values in its output.
///
/// If the output is a terminal, the program gets a session and a pseudo-terminal of its own, and
/// signals, stops, keys and the window size are forwarded. Otherwise it stays in this process
/// group, with a pipe for each output, or one pipe if both go to the same file.
final class ProgramSupervisor {
    /// How long to wait for terminal output after the program ended, in milliseconds: its
    /// background processes may keep the terminal open forever.
    private static let drainTime: UInt64 = 100
    /// How often to check whether this process has come to the foreground, in milliseconds.
    private static let foregroundCheck: UInt64 = 200

    private let signals: Int32
    private let child: pid_t
    /// The socket to the monitor of a program with a terminal, or -1.
    private var control: Int32
    private let relay: TerminalRelay?
    private let streams: [RedactedStream]
    /// The stream that reads the pseudo-terminal.
    private let screen: RedactedStream?
    /// The program's wait(2) status after it ended.
    private var ended: Int32?
    private var lastOutput: UInt64 = 0

    /// Starts the program.
    ///
    /// - Throws: ``RunFailure``.
    init(
        _ program: ProgramReplacement, environment: ChildEnvironment,
        patterns: ValuePatterns, hardening: ProcessHardening
    ) throws {
        let name = program.arguments.first ?? []
        guard !name.isEmpty else { throw program.failure(refused: ENOENT, environment) }
        hardening.undoForChild()
        signals = zg_supervise_signals()
        guard signals >= 0 else { throw ProgramReplacement.signalFailure }
        var outputs = try Outputs(patterns)
        defer { outputs.closeProgramEnds() }
        streams = outputs.streams
        screen = outputs.screen
        let relay = outputs.screen.map {
            TerminalRelay(controller: $0.source, screen: $0.destination)
        }
        self.relay = relay
        var supervision = zg_supervision()
        let started = unsafe CStringList.with(program.candidates) { candidates in
            unsafe CStringList.with(program.arguments) { arguments in
                unsafe environment.withPointers { variables in
                    var description = unsafe zg_supervised_program(
                        candidates: candidates, arguments: arguments, environment: variables,
                        descriptors: outputs.theirs, ours: outputs.ours,
                        terminal: outputs.terminal,
                        in_foreground: relay.map { $0.wantsKeys && $0.isForeground } ?? false)
                    return unsafe zg_supervise(&description, &supervision) == 0 ? 0 : errno
                }
            }
        }
        child = supervision.child
        control = started == 0 ? supervision.control : -1
        var refused = started
        if started == 0, control >= 0 {
            var message = zg_supervision_message()
            guard unsafe zg_supervision_receive(control, &message) != 0 else {
                throw ProgramReplacement.signalFailure
            }
            refused = Int(message.kind) == ZG_STARTED ? 0 : message.value
        }
        guard refused == 0 else {
            throw refused == ECANCELED
                ? ProgramReplacement.signalFailure
                : program.failure(refused: refused, environment)
        }
    }

    deinit {
        if control >= 0 { close(control) }
        if signals >= 0 { close(signals) }
    }

    /// Forwards everything until the program has ended and its output is written.
    ///
    /// - Returns: Its exit status, or 128 plus the number of the signal that ended it. For a program
    ///   that did not notice that its output is no longer read, as if it had.
    /// - Throws: ``RunFailure`` if output was lost in another way, and the program reports nothing
    ///   itself.
    func run() throws -> Int32 {
        _ = relay?.take()
        lastOutput = Self.now()
        while !isDone { serve() }
        relay?.restoreOriginal()
        if control >= 0 { close(control) }
        control = -1
        if relay != nil {
            var status: Int32 = 0
            while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        }
        let status = ended ?? SIGKILL
        let signal = status & 0x7F
        let code = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        let lost = streams.compactMap(\.failure)
        let broken = 128 + SIGPIPE
        if let number = lost.first(where: { $0 != EPIPE }), code == 0 || code == broken {
            throw RunFailure(
                125, .failed,
                "The program's output could not be written: \(SystemError(number).reason).")
        }
        return code == 0 && !lost.isEmpty ? broken : code
    }

    /// Whether the program and its output have ended. Pipes are read to their end, even if
    /// background processes keep them open; a terminal only for ``drainTime``.
    private var isDone: Bool {
        guard ended != nil else { return false }
        if let screen, screen.isOpen, Self.now() - lastOutput > Self.drainTime { screen.end() }
        return streams.allSatisfy { !$0.isOpen && !$0.hasOutput }
    }

    private static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(max(time.tv_sec, 0)) * 1_000 + UInt64(max(time.tv_nsec, 0)) / 1_000_000
    }

    // MARK: Event loop

    private func serve() {
        if let relay, ended == nil, relay.take() { send(ZG_CONTINUE_IN_FOREGROUND, 0) }
        var entries = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
        if control >= 0, ended == nil {
            entries.append(pollfd(fd: control, events: Int16(POLLIN), revents: 0))
        }
        for stream in streams {
            if stream.hasOutput {
                entries.append(
                    pollfd(fd: stream.destination, events: Int16(POLLOUT), revents: 0))
            } else if stream.isOpen {
                entries.append(pollfd(fd: stream.source, events: Int16(POLLIN), revents: 0))
            }
        }
        if let relay, let screen, screen.isOpen, relay.hasKeys {
            entries.append(pollfd(fd: screen.source, events: Int16(POLLOUT), revents: 0))
        }
        let keyboard = ended == nil ? relay?.input : nil
        if let keyboard {
            entries.append(pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0))
        }
        _ = unsafe poll(&entries, nfds_t(entries.count), timeout())
        func isReady(_ descriptor: Int32, for events: Int32 = POLLIN) -> Bool {
            let wanted = Int16(events | POLLHUP | POLLERR)
            return entries.contains {
                $0.fd == descriptor && $0.events & Int16(events) != 0 && $0.revents & wanted != 0
            }
        }
        let time = Self.now()
        for stream in streams {
            if stream.hasOutput {
                if isReady(stream.destination, for: POLLOUT) { stream.write() }
            } else if stream.isOpen, isReady(stream.source), stream.read(at: time) {
                lastOutput = time
            }
            if let deadline = stream.deadline, deadline <= time { stream.release(at: time) }
        }
        if let relay, let screen, screen.isOpen, relay.hasKeys,
            isReady(screen.source, for: POLLOUT)
        {
            relay.write()
        }
        if let keyboard, isReady(keyboard) { relay?.read() }
        if control >= 0, ended == nil, isReady(control) { receiveMessage() }
        if isReady(signals) { forwardSignals() }
    }

    /// Returns the timeout for poll(2) in milliseconds; -1 for none.
    private func timeout() -> Int32 {
        let time = Self.now()
        var waits = streams.compactMap(\.deadline).map { $0 > time ? $0 - time : 0 }
        if let relay, relay.wantsKeys, ended == nil, !relay.isRaw || !relay.isForeground {
            waits.append(Self.foregroundCheck)
        }
        if ended != nil, screen?.isOpen == true { waits.append(Self.drainTime / 4) }
        return waits.min().map { Int32(clamping: $0) } ?? -1
    }

    // MARK: Signals and stops

    private func send(_ kind: Int, _ value: Int32) {
        if control >= 0 { _ = zg_supervision_send(control, Int32(kind), value) }
    }

    /// Handles a message of the monitor.
    private func receiveMessage() {
        var message = zg_supervision_message()
        guard unsafe zg_supervision_receive(control, &message) != 0 else {
            // The monitor was killed, and the hangup of its terminal ended the program.
            ended = SIGKILL
            return
        }
        switch Int(message.kind) {
        case ZG_ENDED: end(message.value)
        case ZG_STOPPED: stop(by: message.value)
        default: break
        }
    }

    private func end(_ status: Int32) {
        ended = status
        lastOutput = Self.now()
    }

    /// Stops this process like the program, and continues both together.
    private func stop(by signal: Int32) {
        guard let relay else {
            zg_stop_by(signal, false)
            kill(child, SIGCONT)
            return
        }
        if signal == SIGTTIN || signal == SIGTTOU {
            relay.wantsKeys = true
            if relay.isForeground {
                _ = relay.take()
                send(ZG_CONTINUE_IN_FOREGROUND, 0)
                return
            }
        }
        let time = Self.now()
        while let screen, screen.isOpen, screen.hasOutput || screen.read(at: time) {
            screen.write()
        }
        relay.restoreOriginal()
        zg_stop_by(signal, signal != SIGSTOP)
        relay.copySize()
        send(relay.take() ? ZG_CONTINUE_IN_FOREGROUND : ZG_CONTINUE, 0)
    }

    /// Forwards pending signals.
    private func forwardSignals() {
        while true {
            var isFromKernel = false
            let signal = unsafe zg_read_signal(signals, &isFromKernel)
            guard signal > 0 else { return }
            switch signal {
            case SIGCHLD: reap()
            case SIGWINCH where relay != nil && isFromKernel: relay?.copySize()
            case SIGINT where ended != nil, SIGTERM where ended != nil, SIGHUP where ended != nil,
                SIGQUIT where ended != nil:
                // Only background processes of the program hold its output open.
                for stream in streams { stream.end() }
            default:
                if relay != nil {
                    // A terminal signals our process group, and the program is in another one.
                    send(isFromKernel ? ZG_SIGNAL_GROUP : ZG_SIGNAL, signal)
                } else if !isFromKernel, ended == nil {
                    kill(child, signal)
                }
            }
        }
    }

    private func reap() {
        guard relay == nil, ended == nil else { return }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, WNOHANG | WUNTRACED) > 0 {
            if status & 0xFF == 0x7F {
                stop(by: (status >> 8) & 0xFF)
            } else {
                end(status)
                return
            }
        }
    }
}

/// Both ends of a supervised program's outputs.
private struct Outputs {
    private(set) var streams: [RedactedStream] = []
    private(set) var screen: RedactedStream?
    /// The program's descriptors 0 to 2; -1 for those it shares with this process.
    private(set) var theirs: (Int32, Int32, Int32) = (-1, -1, -1)
    private(set) var ours: (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
    /// The program's end of the pseudo-terminal.
    private(set) var terminal: Int32 = -1

    init(_ patterns: ValuePatterns) throws {
        let isTerminal = [1, 2].map { TerminalDevice.isTerminal($0) }
        if isTerminal[0] || isTerminal[1] {
            let destination: Int32 = isTerminal[0] ? 1 : 2
            var ends: [Int32] = [-1, -1]
            guard unsafe zg_open_pseudo_terminal(&ends, destination) == 0 else {
                throw CommandError(
                    .failed, "Cannot open a pseudo-terminal.",
                    hint: "The program was not started. Leave out --redact, or pipe the output.")
            }
            terminal = ends[1]
            ours.0 = ends[0]
            let stream = try RedactedStream(
                from: ends[0], to: destination, patterns, isInteractive: true)
            streams.append(stream)
            screen = stream
            if TerminalDevice.isTerminal(0) { theirs.0 = terminal }
        }
        theirs.1 = isTerminal[0] ? terminal : try addPipe(to: 1, patterns, keep: \.1)
        if isTerminal[1] {
            theirs.2 = terminal
        } else if !isTerminal[0], Self.areSameFile(1, 2) {
            // Both go to the same file: one pipe keeps the order.
            theirs.2 = theirs.1
        } else {
            theirs.2 = try addPipe(to: 2, patterns, keep: \.2)
        }
    }

    private mutating func addPipe(
        to destination: Int32, _ patterns: ValuePatterns,
        keep place: WritableKeyPath<(Int32, Int32, Int32, Int32), Int32>
    ) throws -> Int32 {
        // Closed when this process was started, so the program gets it closed too.
        guard fcntl(destination, F_GETFD) & FD_CLOEXEC == 0 else { return -1 }
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_pipe(&ends) == 0 else {
            throw CommandError(
                .failed, "Cannot create a pipe.", hint: "The program was not started.")
        }
        ours[keyPath: place] = ends[0]
        streams.append(
            try RedactedStream(from: ends[0], to: destination, patterns, isInteractive: false))
        return ends[1]
    }

    private static func areSameFile(_ left: Int32, _ right: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe fstat(left, &first) == 0, unsafe fstat(right, &second) == 0 else {
            return false
        }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
            && fcntl(left, F_GETFD) & FD_CLOEXEC == 0
    }

    /// Closes the program's ends.
    mutating func closeProgramEnds() {
        var open = Set([theirs.0, theirs.1, theirs.2, terminal])
        open.remove(-1)
        for descriptor in open { close(descriptor) }
        (theirs, terminal) = ((-1, -1, -1), -1)
    }
}
