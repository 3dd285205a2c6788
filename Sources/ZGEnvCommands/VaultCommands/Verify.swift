internal import CommandLineKit
internal import JSON
internal import Vault

/// `verify`: checks every byte of the vault.
struct Verify: Command {
    static let spec = CommandSpec(
        ["verify"], "Check every byte of the vault", section: "Vault",
        discussion: """
            Works with what opens the names, so with a keyring it asks for nothing. Where a passphrase \
            comes without asking, every value is opened too, the code over slots and what was accepted is \
            checked, and what was changed since while the values were locked is listed. The audit log is \
            checked, and whether a newer generation of the vault was seen on this machine.

            --accept-older goes on with an older copy, or one of another history, as the newest \
            generation. It asks for the passphrase.
            """,
        options: [
            OptionSpec(flag: "accept-older", "Go on with this copy, though a newer one was seen")
        ],
        exitCodes: ExitCode.ofOpening)

    private let acceptsOlder: Bool

    init(_ command: ParsedCommand) { acceptsOlder = command.has("accept-older") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let path = workspace.options.vaultPath
        workspace.session.holdsToAnchors = false
        if acceptsOlder { return try AcceptOlder.run(in: workspace) }
        do {
            let vault = try workspace.session.opened()
            let keys = try workspace.session.keys(workspace.session.unattendedTier)
            let inspection = try vault.inspection(with: keys)
            guard inspection.problems.isEmpty else { return result(inspection, path, header: true) }
            let index = try vault.index(with: keys, extent: .everything)
            let audit = try audit(index, with: keys, workspace.session)
            let anchors = try AnchorReport(workspace.session, with: keys)
            return result(
                inspection, path, header: true, audit: audit.report, anchors: anchors,
                changes: keys.opensValues ? StatusChanges(index, isChecked: true) : nil,
                further: anchors.objections.map { problem("anchor", $0.message) }
                    + audit.problems.map { problem("audit-log", $0) },
                failure: anchors.failure ?? audit.failure)
        } catch let error as VaultError where error.code == .damaged {
            // Of the header, or of what stands in it.
            var inspection = VaultInspection()
            inspection.note(.init(.header, error))
            return result(inspection, path, header: false)
        }
    }

    /// What the audit log says of itself; one that cannot be used is a problem, too.
    private func audit(
        _ index: VaultIndex, with keys: VaultKeys, _ session: VaultSession
    ) throws -> (report: AuditReport?, problems: [String], failure: CommandError?) {
        do {
            let report = try session.auditReport(with: keys, index: index)
            return (
                report, report.problems.map(\.message), report.failure(of: try session.auditLog())
            )
        } catch let error as VaultError where error.code == .auditLog {
            let failure = CommandError(mapping: error)
            return (nil, [failure.message], failure)
        }
    }

    private func result(
        _ inspection: VaultInspection, _ path: String, header: Bool, audit: AuditReport? = nil,
        anchors: AnchorReport? = nil, changes: StatusChanges? = nil, further: [JSONValue] = [],
        failure otherFailure: CommandError? = nil
    ) -> CommandResult {
        let problems = inspection.problems
        let isWhole = problems.isEmpty
        let hasIndex = inspection.variableCount != nil
        let json: JSONValue = [
            "ok": .bool(isWhole && otherFailure == nil),
            "problems": .array(problems.map(json) + further),
            "changedWhileLocked": changes?.changes.json ?? .null,
            "checked": [
                "header": .bool(header), "index": .bool(hasIndex),
                "bytes": .integer(Int64(clamping: inspection.byteCount)),
                "variables": .integer(orNull: inspection.variableCount.map { Int64($0) }),
                "removedVariables": .integer(
                    orNull: inspection.removedVariableCount.map { Int64($0) }),
                "versions": .integer(Int64(inspection.versionCount)),
                "valuesOpened": .bool(inspection.opensValues && hasIndex),
                "checkpoint": .bool(
                    orNull: inspection.opensValues && hasIndex
                        ? !problems.contains { $0.place == .checkpoint } : nil),
                "audit": .bool(orNull: audit.map(\.isWhole)), "anchor": anchors?.json ?? .null,
            ],
        ]
        var text = ""
        for problem in problems { text += "\(line(problem))\n" }
        if isWhole {
            let values =
                inspection.opensValues
                ? "all opened" : "compared by their hashes; with the passphrase they are opened too"
            text += "Header, index and every value are whole.\n"
            if let changes {
                text +=
                    changes.changes.count == 0
                    ? "Everything is as it was last accepted.\n" : changes.text
            }
            text += "Bytes     \(inspection.byteCount)\n"
            let removed = inspection.removedVariableCount ?? 0
            text += "Variables \(inspection.variableCount ?? 0)"
            text += removed == 0 ? "\n" : ", and \(removed) removed\n"
            text += "Versions  \(inspection.versionCount), \(values)\n"
            text += "Audit log \(audit.map(describe) ?? "cannot be used")\n"
            for line in anchors?.lines ?? [] { text += "\(line)\n" }
        }
        let failure = problems.first.map { first in
            let more = problems.count > 1 ? ", and \(problems.count - 1) more problems" : ""
            return CommandError(
                .damaged, "\(path) is not as zg-env wrote it: \(first.message)\(more).",
                hint: "Nothing was changed. Put a backup in its place: zg-env restore FILE")
        }
        return CommandResult(json: json, text: text, failure: failure ?? otherFailure)
    }

    private func describe(_ audit: AuditReport) -> String {
        guard audit.isWhole else { return "not whole" }
        return audit.isThere ? "\(audit.entryCount) lines, whole" : "none yet"
    }

    /// Something that is wrong beside the file: an older copy, or the audit log.
    private func problem(_ place: String, _ message: String) -> JSONValue {
        [
            "where": .string(place), "class": .null, "message": .string(message), "key": .null,
            "version": .null, "offset": .null,
        ]
    }

    private func json(_ problem: VaultInspection.Problem) -> JSONValue {
        [
            "where": .string(problem.place.rawValue),
            "class": .string(orNull: problem.damage?.rawValue),
            "message": .string(problem.message),
            "key": .string(orNull: problem.key),
            "version": .integer(orNull: problem.version.map { Int64(clamping: $0) }),
            "offset": .integer(orNull: problem.offset.map { Int64(clamping: $0) }),
        ]
    }

    private func line(_ problem: VaultInspection.Problem) -> String {
        let offset = problem.offset.map { " (from byte \($0))" } ?? ""
        return DisplayText.safe(sentence: "\(problem.place.rawValue): \(problem.message)\(offset)")
    }
}
