internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// Copies a value to the clipboard for a while.
struct ClipboardCopy {
    private let workspace: Workspace
    private let clipboard: Clipboard
    private let seconds: Int

    /// - Throws: ``ExitCode/failed`` if there is no clipboard, before any prompt.
    init(of keys: [String], _ workspace: Workspace) throws {
        guard Set(keys).count == 1 else {
            throw CommandError(.usage, "--copy takes exactly one key.")
        }
        self.workspace = workspace
        seconds = try Settings(workspace.context).number(.clipboardSeconds) ?? 45
        clipboard = Clipboard(
            try ClipboardProgram.found(workspace.context), workspace.context)
    }

    /// Refuses an empty value, which cannot be recognized later.
    func check(_ revealed: RevealedValue) throws {
        guard revealed.value.count > 0 else {
            throw CommandError(.failed, "The value of \(revealed.name) is empty.")
        }
    }

    static let fields = """
        \(JSONValue.entryFields); version: number | null; copied: true
        program: \(oneOf: ClipboardProgram.self); clearedAfterSeconds: number
        """

    /// Copies the value, reads it back, and starts the process that clears the clipboard.
    func copy(_ revealed: RevealedValue) throws -> CommandResult {
        let fingerprint = try revealed.value.withBytes { try ClipboardFingerprint(of: $0) }
        let turnFile = LatestCopy.path(clipboard.program, workspace.context)
        // Started first, so that no value is ever in the clipboard without a process to clear it.
        let helper = try ClearClipboard.start(
            clipboard, seconds: seconds, turn: turnFile, fingerprint: fingerprint)
        // Held to the end, so that no other process clears the clipboard meanwhile.
        let turn = turnFile.flatMap { LatestCopy(at: $0) }
        defer { withExtendedLifetime(turn) {} }
        do {
            try revealed.value.withBytes { try clipboard.copy($0) }
        } catch {
            throw copyFailure(error, fingerprint, helper)
        }
        do {
            try confirm(fingerprint)
        } catch {
            throw clearClipboard(after: error, helper)
        }
        // Only now: if this copy fails, the process of the previous one must clear the clipboard.
        if let turnFile, turn?.take(fingerprint.mark) != true { LatestCopy.forget(turnFile) }
        let scope = revealed.scope
        workspace.note(
            "Copied \(revealed.name) (\(scope.description)) with \(clipboard.program.rawValue). "
                + "The clipboard will be cleared in \(seconds) s unless it changes.")
        return CommandResult(
            json: .object(
                [.init("key", .string(revealed.name))] + scope.members + [
                    .init(
                        "version", .integer(orNull: revealed.version.map { Int64(clamping: $0) })),
                    .init("copied", true), .init("program", .string(clipboard.program.rawValue)),
                    .init("clearedAfterSeconds", .integer(Int64(seconds))),
                ]))
    }

    /// Reads the value back: a clipboard that cannot be read could not be cleared later either.
    private func confirm(_ fingerprint: borrowing ClipboardFingerprint) throws {
        let end = ContinuousClock.now + .seconds(2)
        repeat {
            if try isThere(fingerprint) { return }
            usleep(50_000)
        } while ContinuousClock.now < end
        throw CommandError(
            .failed, "The copied value cannot be read back from the clipboard.",
            hint:
                "A clipboard manager or the desktop may prevent zg-env from reading the clipboard.")
    }

    /// Returns the error of a failed clipboard program. The value may be in the clipboard anyway;
    /// any other content is left there.
    private func copyFailure(
        _ error: any Error, _ fingerprint: borrowing ClipboardFingerprint, _ helper: ChildProcess
    ) -> CommandError {
        let isThere: Bool
        do {
            isThere = try self.isThere(fingerprint)
        } catch {
            return notCleared(CommandError(mapping: error))
        }
        guard !isThere else { return clearClipboard(after: error, helper) }
        helper.terminate()
        var failure = CommandError(mapping: error)
        failure.message += " The value is not on the clipboard."
        return failure
    }

    /// Clears the clipboard and returns `error` with the outcome.
    private func clearClipboard(after error: any Error, _ helper: ChildProcess) -> CommandError {
        var failure = CommandError(mapping: error)
        do {
            try clipboard.clear()
            helper.terminate()
            failure.message += " A request to clear the clipboard was sent."
            return failure
        } catch {
            return notCleared(failure)
        }
    }

    /// Leaves the background process running, which tries once more.
    private func notCleared(_ failure: CommandError) -> CommandError {
        CommandError(
            failure.code,
            failure.message + " The clipboard could not be cleared and may still hold the value.",
            hint: "Copy something else to overwrite the value.")
    }

    private func isThere(_ fingerprint: borrowing ClipboardFingerprint) throws -> Bool {
        guard let text = try clipboard.text() else { return false }
        return try text.withBytes { try fingerprint.matches($0) }
    }
}
