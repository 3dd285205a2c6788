internal import CommandLineKit
internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// The new value of a rotation: generated, printed by a command, or given as input.
enum RotationInput {
    /// Vercel's limit for one value.
    private static let limit = 64 << 10

    static func value(
        _ request: RotationRequest, old: SecretSlice?, _ project: String, _ workspace: Workspace
    ) throws -> SecretSlice {
        let value: SecretSlice
        // Refused below, with what leads out of a rotation.
        var input = request.input
        input.allowsEmpty = true
        switch request.source {
        case .generator(let generator): value = try generator.value(in: SecretArena())
        case .command(let command):
            value = try printed(by: command, request, old: old, project, workspace)
            try input.check(value, request.key, workspace)
        case .input: value = try input.value(for: request.key, workspace)
        }
        guard value.count > 0 else {
            var isNamed = input.isNamed
            if case .command = request.source { isNamed = true }
            throw isNamed
                ? CommandError(.usage, "The new value of \(request.key) is empty.")
                : CommandError(
                    .usage, "No new value was given for \(request.key).",
                    hint:
                        "Use --generate, --from-command or --from-file, or pipe the value on stdin."
                )
        }
        guard value.count <= limit else {
            throw CommandError(
                .usage,
                "The new value of \(request.key) is longer than 64 KiB, the most that Vercel accepts."
            )
        }
        return value
    }

    /// Writes the old value to a command's stdin, so that it can choose between two alternating
    /// accounts. A value fits into a pipe, so a command that does not read it does not block this.
    private static func give(_ old: SecretSlice?, to process: ChildProcess) {
        let descriptor = process.inputDescriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        old?.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                _ = unsafe write(descriptor, $0.baseAddress, $0.count)
            }
        }
        process.closeInput()
    }

    private static func printed(
        by command: String, _ request: RotationRequest, old: SecretSlice?, _ project: String,
        _ workspace: Workspace
    ) throws -> SecretSlice {
        let environment = ShellRotationCommands.environment(
            workspace.context, ["ZG_ENV_KEY=\(request.key)", "ZG_ENV_PROJECT=\(project)"])
        // A signal ends the command, and then this process.
        let value = Result {
            try Interrupts.deferred {
                try output(
                    of: command, environment, old: old, atMost: request.timeoutSeconds,
                    showsErrors: !workspace.options.json)
            }
        }
        Interrupts.endIfPending()
        return try value.get()
    }

    /// Returns what a command prints, without one trailing newline. The command shares this session, so
    /// it can prompt on the terminal; after the time limit it is ended with all its descendants.
    private static func output(
        of command: String, _ environment: [[UInt8]], old: SecretSlice?, atMost seconds: UInt64,
        showsErrors: Bool
    ) throws -> SecretSlice {
        let family = DescendantProcesses()
        defer { family.leave() }
        let process = try ChildProcess.start(
            "/bin/sh", ["sh", "-c", command], environment: environment, input: .pipe,
            output: .pipe, error: showsErrors ? .inherited : .null, searchesPath: false)
        give(old, to: process)
        let end = ContinuousClock.now + .seconds(Int64(clamping: seconds))
        var text: SecretBuffer
        do {
            text = try SecretInput.read(
                descriptor: process.outputDescriptor, limit: VaultFormat.valueLimit,
                what: "The output of --from-command", until: end)
        } catch {
            family.end(process)
            throw error
        }
        // It may have closed its output and still be running.
        guard
            let status = process.wait(
                atMost: max(end - .now, .zero), whileWaiting: { Interrupts.pending == nil })
        else {
            family.end(process)
            throw CommandError(
                .failed, "--from-command took longer than \(seconds) s.",
                hint: "Allow more time with --timeout.")
        }
        guard status == 0 else {
            throw CommandError(
                .failed, "--from-command failed with exit code \(status).",
                hint: "Run the command manually to see why it failed.")
        }
        let endsInNewline = text.withBytes {
            $0.byteCount > 0 && $0.byte(at: $0.byteCount - 1) == 0x0A
        }
        if endsInNewline { text.removeLast(1) }
        return try text.withBytes { try SecretArena().copy($0) }
    }
}
