internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// The desktop's clipboard, accessed with a program.
struct Clipboard {
    /// The time limit for one run of the program. Another program may never deliver its text.
    private static let limit = Duration.seconds(5)
    /// The only variables passed to clipboard programs.
    private static let variables = [
        "PATH", "HOME", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "LANG",
        "LC_ALL", "LC_CTYPE", "TMPDIR",
    ]

    let program: ClipboardProgram
    /// The environment of clipboard programs.
    let environment: [[UInt8]]

    init(_ program: ClipboardProgram, _ context: Context) {
        self.program = program
        environment = context.rawEnvironment.filter { entry in
            Self.variables.contains { entry.starts(with: Array("\($0)=".utf8)) }
        }
    }

    func copy(_ text: RawSpan) throws {
        let arguments = program.copying(isSensitive: program == .wlCopy && supportsSensitive())
        try run(arguments, input: text)
    }

    func clear() throws {
        try [UInt8]().withBytes { try run(program.clearing, input: $0) }
    }

    /// Returns the content; nil if it is empty, not text, or longer than any value.
    func text() throws -> SecretBuffer? {
        try output(of: program.pasting, limit: VaultFormat.valueLimit + 1)
    }

    /// Returns whether wl-copy can ask clipboard managers not to keep the text.
    private func supportsSensitive() -> Bool {
        guard let help = try? output(of: ["wl-copy", "--help"], limit: 64 << 10) else {
            return false
        }
        return help.withBytes { bytes in
            let text = (0..<bytes.byteCount).map { bytes.byte(at: $0) }
            return !text.ranges(of: Array("--sensitive".utf8)).isEmpty
        }
    }

    private func run(_ arguments: [String], input: RawSpan) throws {
        let child = try start(arguments, input: .pipe, output: .null)
        let isWritten = write(input, to: child.inputDescriptor)
        guard let status = child.wait(atMost: Self.limit) else {
            stop(child)
            throw failure("did not respond")
        }
        guard isWritten, status == 0 else { throw failure("failed with exit code \(status)") }
    }

    private func output(of arguments: [String], limit: Int) throws -> SecretBuffer? {
        let child = try start(arguments, input: .null, output: .pipe)
        var buffer = try SecretBuffer(capacity: 64 << 10)
        let end = ContinuousClock.now + Self.limit
        while Self.isReady(child.outputDescriptor, POLLIN, until: end) {
            let room = min(64 << 10, limit + 1 - buffer.count)
            guard room > 0 else { break }
            try buffer.reserve(room)
            let got = buffer.appendWritten(limit: room) { target in
                unsafe target.withUnsafeMutableBytes { bytes in
                    max(
                        unsafe read(child.outputDescriptor, bytes.baseAddress, bytes.count), 0)
                }
            }
            if got == 0 {
                guard let status = child.wait(atMost: Self.limit) else { break }
                guard status == 0 else { return nil }
                return buffer
            }
        }
        stop(child)
        return nil
    }

    /// Kills a program that hangs, which may ignore other signals.
    private func stop(_ child: ChildProcess) {
        child.send(SIGKILL)
        child.terminate()
    }

    private func start(
        _ arguments: [String], input: ChildProcess.Stream, output: ChildProcess.Stream
    ) throws -> ChildProcess {
        // A program that stays in the background must not hold our caller's pipes.
        try ChildProcess.start(
            arguments[0], arguments, environment: environment, input: input, output: output,
            error: .null, startsSession: true, searchesPath: true)
    }

    private func write(_ text: RawSpan, to descriptor: Int32) -> Bool {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let end = ContinuousClock.now + Self.limit
        var written = 0
        while written < text.byteCount {
            guard Self.isReady(descriptor, POLLOUT, until: end) else { return false }
            let count = unsafe text.withUnsafeBytes { bytes in
                unsafe Glibc.write(
                    descriptor, bytes.baseAddress.map { unsafe $0 + written },
                    bytes.count - written)
            }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }

    private static func isReady(
        _ descriptor: Int32, _ event: Int32, until end: ContinuousClock.Instant
    ) -> Bool {
        while true {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { return false }
            var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            let ready = unsafe poll(&entry, 1, Int32(left))
            if ready > 0 { return true }
            if ready < 0 && errno != EINTR { return false }
        }
    }

    private func failure(_ what: String) -> CommandError {
        CommandError(
            .failed, "\(program.rawValue) \(what).",
            hint: "Use a terminal of a desktop, or show the value instead of copying it.")
    }
}
