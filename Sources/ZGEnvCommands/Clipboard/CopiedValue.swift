internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// A value on its way into the clipboard, for a time.
struct CopiedValue {
    private let workspace: Workspace
    private let clipboard: Clipboard
    private let seconds: Int

    /// - Throws: Before anything is asked for, where there is no clipboard.
    init(of keys: [String], _ workspace: Workspace) throws {
        guard Set(keys).count == 1 else {
            throw CommandError(.usage, "--copy goes with one key.")
        }
        self.workspace = workspace
        seconds = try Settings(workspace.context).number(.clipboardSeconds) ?? 45
        clipboard = Clipboard(
            try ClipboardProgram.found(workspace.context), workspace.context)
    }

    /// Refuses what cannot be copied and found again.
    func check(_ revealed: RevealedValue) throws {
        guard revealed.value.count > 0 else {
            throw CommandError(
                .failed,
                "The value of \(revealed.name) is empty: there is nothing to copy."
            )
        }
    }

    /// Copies the value, reads it back, and leaves behind what empties the clipboard.
    func copy(_ revealed: RevealedValue) throws -> CommandResult {
        let fingerprint = try revealed.value.withBytes { try ClipboardFingerprint(of: $0) }
        let turnFile = ClipboardTurn.path(clipboard.program, workspace.context)
        // First, so that a value is never there without somebody who takes it away.
        let helper = try ClearClipboard.start(
            clipboard, seconds: seconds, turn: turnFile, fingerprint: fingerprint)
        // Nobody empties the clipboard between here and the end.
        let turn = turnFile.flatMap { ClipboardTurn(at: $0) }
        defer { withExtendedLifetime(turn) {} }
        do {
            try revealed.value.withBytes { try clipboard.copy($0) }
        } catch {
            throw uncopied(error, fingerprint, helper)
        }
        do {
            try confirm(fingerprint)
        } catch {
            throw emptied(after: error, helper)
        }
        // Not before: the copy of before is emptied by its own process where this one failed.
        if let turnFile, turn?.take(fingerprint.mark) != true { ClipboardTurn.forget(turnFile) }
        let scope = revealed.scope
        workspace.note(
            "Copied \(revealed.name) for \(scope.description) with \(clipboard.program.rawValue). "
                + "The clipboard is emptied after \(seconds) seconds, unless it holds something else "
                + "then.")
        return CommandResult(json: [
            "key": .string(revealed.name), "targets": .strings(scope.targets.names),
            "customEnvironments": .strings(scope.customEnvironments),
            "branch": .string(orNull: scope.branch),
            "version": revealed.version.map { .integer(Int64(clamping: $0)) } ?? .null,
            "copied": true,
            "program": .string(clipboard.program.rawValue),
            "clearedAfterSeconds": .integer(Int64(seconds)),
        ])
    }

    /// What cannot be read back could not be emptied later either.
    private func confirm(_ fingerprint: borrowing ClipboardFingerprint) throws {
        let end = ContinuousClock.now + .seconds(2)
        repeat {
            if try isThere(fingerprint) { return }
            usleep(50_000)
        } while ContinuousClock.now < end
        throw CommandError(
            .failed, "The clipboard does not give back what was copied.",
            hint: "A clipboard manager or the desktop may keep zg-env from reading it.")
    }

    /// What to say where the program for the clipboard failed. It may have put the value there all the
    /// same; what else is there is not ours to take away.
    private func uncopied(
        _ error: any Error, _ fingerprint: borrowing ClipboardFingerprint, _ helper: ChildProcess
    ) -> CommandError {
        let isThere: Bool
        do {
            isThere = try self.isThere(fingerprint)
        } catch {
            return notEmptied(CommandError(mapping: error))
        }
        guard !isThere else { return emptied(after: error, helper) }
        helper.abandon()
        var failure = CommandError(mapping: error)
        failure.message += " The value is not in the clipboard."
        return failure
    }

    /// Takes back what was copied, and says whether that was done.
    private func emptied(after error: any Error, _ helper: ChildProcess) -> CommandError {
        var failure = CommandError(mapping: error)
        do {
            try clipboard.clear()
            helper.abandon()
            failure.message += " It was told to be empty again."
            return failure
        } catch {
            return notEmptied(failure)
        }
    }

    /// The second process stays: it tries once more.
    private func notEmptied(_ failure: CommandError) -> CommandError {
        CommandError(
            failure.code,
            failure.message + " The clipboard could not be emptied, and may still hold the value.",
            hint: "Copy something else, so that the value is gone.")
    }

    private func isThere(_ fingerprint: borrowing ClipboardFingerprint) throws -> Bool {
        guard let text = try clipboard.text() else { return false }
        return try text.withBytes { try fingerprint.matches($0) }
    }
}
