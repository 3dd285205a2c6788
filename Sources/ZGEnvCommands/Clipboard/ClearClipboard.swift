internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles

/// The background process of `reveal --copy`, which clears the clipboard after a delay.
///
/// It does so only if the clipboard still holds the copied value and no other `reveal --copy` has
/// run since. It knows only a keyed hash of the value, and outlives its parent and the terminal.
struct ClearClipboard: Command {
    static let spec = CommandSpec(
        ["__clear-clipboard"], "Clear the clipboard after a delay",
        options: [
            OptionSpec(
                "program", value: "NAME", "Use this clipboard program",
                form: .oneOf(ClipboardProgram.allCases.map(\.rawValue))),
            OptionSpec("seconds", value: "N", "Wait N seconds", form: .integer(1...86_400)),
            OptionSpec("turn", value: "FILE", "Compare with the last copy recorded in FILE"),
        ], hidden: true)

    private let program: ClipboardProgram?
    private let seconds: Int?
    private let turn: String?

    init(_ command: ParsedCommand) {
        program = command.choice("program")
        seconds = command.integer("seconds")
        turn = command.value("turn")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        guard let seconds, let program,
            let fingerprint = try ClipboardFingerprint(
                decoding: try SecretInput.read(
                    descriptor: workspace.context.secretDescriptors.current(0),
                    limit: ClipboardFingerprint.byteCount, what: "stdin"))
        else {
            throw CommandError(.usage, "This command is used internally by zg-env reveal --copy.")
        }
        detach()
        guard zg_sleep(Int64(seconds)) == 0 else {
            throw CommandError(.failed, "Cannot wait: the system clock returned an error.")
        }
        let turn = turn.flatMap { LatestCopy(at: $0) }
        defer { withExtendedLifetime(turn) {} }
        if let turn, turn.hasNewerCopy(than: fingerprint.mark) {
            return CommandResult(json: .null)
        }
        let clipboard = Clipboard(program, workspace.context)
        if let text = try clipboard.text(), try text.withBytes({ try fingerprint.matches($0) }) {
            try clipboard.clear()
        }
        return CommandResult(json: .null)
    }

    /// Reports readiness to the parent, and releases every descriptor and directory.
    private func detach() {
        _ = zg_close_from(3)
        _ = unsafe chdir("/")
        _ = unsafe write(1, "1", 1)
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        for descriptor: Int32 in 0...2 { dup2(null, descriptor) }
        if null > 2 { close(null) }
    }

    /// Starts the process and waits until it is ready.
    static func start(
        _ clipboard: Clipboard, seconds: Int, turn: String?,
        fingerprint: borrowing ClipboardFingerprint
    ) throws -> ChildProcess {
        let child = try ChildProcess.start(
            "/proc/self/exe",
            [
                "zg-env", "--vault=/", spec.name, "--program=\(clipboard.program.rawValue)",
                "--seconds=\(seconds)",
            ] + (turn.map { ["--turn=\($0)"] } ?? []),
            environment: clipboard.environment, input: .pipe, output: .pipe, error: .null,
            startsSession: true, searchesPath: false)
        let isWritten = fingerprint.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                unsafe write(child.inputDescriptor, $0.baseAddress, $0.count) == $0.count
            }
        }
        child.closeInput()
        var (entry, answer) = (
            pollfd(fd: child.outputDescriptor, events: Int16(POLLIN), revents: 0), UInt8(0)
        )
        let isReady =
            unsafe isWritten && poll(&entry, 1, 10_000) == 1
            && read(child.outputDescriptor, &answer, 1) == 1
        guard isReady else {
            child.terminate()
            throw CommandError(
                .failed, "The process that clears the clipboard did not start.",
                hint: "The value was not copied.")
        }
        return child
    }
}
