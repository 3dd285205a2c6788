import CTestSupport
import Foundation

/// One run of a ``ProgramRunner``: its pipes, and the loop that serves them.
final class ProgramSession {
    private enum Source { case output, error, terminal }

    private let runner: ProgramRunner
    private let child: ChildProcess
    private let start = ContinuousClock.now
    private let pseudoTerminal: PseudoTerminal?
    /// Our reading ends; becomes empty as they end.
    private var readers: [(source: Source, descriptor: Int32)] = []
    /// Our writing ends, with the bytes still to be written.
    private var writers: [(descriptor: Int32, rest: ArraySlice<UInt8>)] = []
    /// Readable once the child has ended.
    private let ended: Int32
    private var output: [UInt8] = []
    private var error: [UInt8] = []
    private var screen: [UInt8] = []
    private var typed: ArraySlice<UInt8> = []
    private var position: [Source: Int] = [:]
    private var step = 0

    init(_ runner: ProgramRunner) throws {
        self.runner = runner
        var description = ChildProcess.Description(
            runner.path, [], environment: runner.environment)
        description.arguments = runner.arguments
        description.workingDirectory = runner.workingDirectory
        description.startsSession = true
        let terminal = try runner.terminal.map {
            try PseudoTerminal(columns: $0.columns, rows: $0.rows)
        }
        pseudoTerminal = terminal
        description.terminalPath = terminal?.devicePath

        var children: [Int32] = []
        defer { for descriptor in children { close(descriptor) } }
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        children.append(null)

        switch runner.input {
        case .bytes(let bytes):
            let (reading, writing) = try Self.pipe()
            children.append(reading)
            writers.append((writing, bytes[...]))
            description.descriptors[0] = reading
        case .terminal: description.descriptors[0] = terminal?.device
        case .null: description.descriptors[0] = null
        case .closed: break
        }
        for (number, stream) in [(1, runner.output), (2, runner.error)]
            as [(Int32, ProgramRunner.Stream)]
        {
            switch stream {
            case .pipe:
                let (reading, writing) = try Self.pipe()
                children.append(writing)
                readers.append((number == 1 ? .output : .error, reading))
                description.descriptors[number] = writing
            case .terminal: description.descriptors[number] = terminal?.device
            case .null: description.descriptors[number] = null
            case .closed: break
            }
        }
        for (number, bytes) in runner.descriptors {
            let (reading, writing) = try Self.pipe()
            children.append(reading)
            writers.append((writing, bytes[...]))
            description.descriptors[number] = reading
        }
        if let terminal {
            let controller = fcntl(terminal.controller, F_DUPFD_CLOEXEC, 0)
            readers.append((.terminal, controller))
        }
        for reader in readers { Self.setNonBlocking(reader.descriptor) }
        for writer in writers { Self.setNonBlocking(writer.descriptor) }

        let child = try ChildProcess(description)
        self.child = child
        let (reading, writing) = try Self.pipe()
        ended = reading
        // A separate thread, as nothing else wakes `poll` when a child ends whose pipes stay open.
        Thread.detachNewThread {
            child.awaitEnd()
            close(writing)
        }
    }

    deinit {
        for reader in readers { close(reader.descriptor) }
        for writer in writers { close(writer.descriptor) }
        close(ended)
    }

    /// Serves the pipes until the child has ended, then reads the rest of them.
    func finish() -> ProgramResult {
        let limit = start + runner.timeLimit
        var timedOut = false
        var endTime: ContinuousClock.Instant?
        while true {
            playScript()
            let hasEnded = serve(waiting: .milliseconds(100))
            let now = ContinuousClock.now
            if hasEnded, endTime == nil { endTime = now }
            if let endTime {
                // A grandchild may hold a pipe open for ever; all earlier output is there by then.
                let pipes = readers.contains { $0.source != .terminal }
                if !pipes || now > endTime + .seconds(1) { break }
            } else if now > limit, !timedOut {
                timedOut = true
                child.signal(SIGKILL)
            }
        }
        _ = serve(waiting: .zero)
        let echo = pseudoTerminal?.isEchoOn
        return ProgramResult(
            end: child.reap(), timedOut: timedOut, identifier: child.identifier,
            standardOutput: output, standardError: error, terminal: screen, echoAtEnd: echo,
            stepsDone: step, duration: (endTime ?? .now) - start)
    }

    /// Performs every step whose trigger has been seen.
    private func playScript() {
        while step < runner.script.count {
            let (when, then) = runner.script[step]
            switch when {
            case .now: break
            case .terminal(let text): guard advance(.terminal, screen, over: text) else { return }
            case .output(let text): guard advance(.output, output, over: text) else { return }
            case .error(let text): guard advance(.error, error, over: text) else { return }
            }
            step += 1
            switch then {
            case .type(let bytes): typed += bytes
            case .signal(let number): child.signal(number)
            case .call(let body): body(child.identifier, pseudoTerminal)
            }
        }
    }

    private func advance(_ source: Source, _ bytes: [UInt8], over text: String) -> Bool {
        let start = position[source] ?? 0
        let wanted = Array(text.utf8)
        guard let range = bytes[start...].firstRange(of: wanted) else {
            // Long output is not searched from its beginning each time more of it arrives.
            position[source] = max(start, bytes.count - wanted.count + 1)
            return false
        }
        position[source] = range.upperBound
        return true
    }

    /// Reads and writes what is ready. Returns whether the child has ended.
    private func serve(waiting: Duration) -> Bool {
        var entries = [pollfd(fd: ended, events: Int16(POLLIN), revents: 0)]
        entries += readers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        entries += writers.map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
        let milliseconds = Int32(waiting / .milliseconds(1))
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) >= 0 else { return false }
        for entry in entries.dropFirst() where entry.revents != 0 {
            if readers.contains(where: { $0.descriptor == entry.fd }) {
                read(entry.fd)
            } else {
                write(entry.fd)
            }
        }
        if let controller = pseudoTerminal?.controller, !typed.isEmpty {
            let count = unsafe typed.withUnsafeBytes {
                unsafe Foundation.write(controller, $0.baseAddress, $0.count)
            }
            if count > 0 { typed = typed.dropFirst(count) }
        }
        return entries[0].revents != 0
    }

    private func read(_ descriptor: Int32) {
        guard let index = readers.firstIndex(where: { $0.descriptor == descriptor }) else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Foundation.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                switch readers[index].source {
                case .output: output += buffer[..<count]
                case .error: error += buffer[..<count]
                case .terminal: screen += buffer[..<count]
                }
                continue
            }
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            close(descriptor)
            readers.remove(at: index)
            return
        }
    }

    private func write(_ descriptor: Int32) {
        guard let index = writers.firstIndex(where: { $0.descriptor == descriptor }) else { return }
        let count = unsafe writers[index].rest.withUnsafeBytes {
            unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
        }
        if count > 0 { writers[index].rest = writers[index].rest.dropFirst(count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        if count < 0 || writers[index].rest.isEmpty {
            close(descriptor)
            writers.remove(at: index)
        }
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_test_pipe(&ends) == 0 else { throw SystemCallError("pipe2") }
        return (ends[0], ends[1])
    }

    private static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}
