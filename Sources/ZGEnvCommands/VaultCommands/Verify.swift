internal import CommandLineKit
internal import JSON
internal import Vault

/// `verify`: checks every byte of the vault.
struct Verify: Command {
    static let vaultUse = VaultUse(checksRollback: false)
    static let spec = CommandSpec(
        ["verify"], "Check every byte of the vault",
        discussion: """
            Opens every value, and also checks the audit log, and whether this machine has seen a \
            newer generation of the vault.

            --accept-older accepts an older copy, or a copy with a different history, as the \
            newest generation. It asks for the passphrase.
            """,
        options: [
            OptionSpec(
                "report", value: "FILE",
                "Check the signature of a group exposure report",
                completion: .file),
            OptionSpec(
                flag: "accept-older", "Accept this copy even though a newer copy has been seen"),
        ],
        exclusive: [["report", "accept-older"]],
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        ok: boolean
        problems: [{
            where: string; class: string | null; message: string; key: string | null
            version, offset: number | null
        }]
        checked: {
            header, index: boolean; bytes: number; variables, removedVariables: number | null
            versions: number; valuesOpened: boolean; audit: boolean | null
            anchor: null | { \(RollbackReport.fields) } (the rollback guard)
        }
        With --accept-older:
        vault: string; checked: { anchor: { \(RollbackReport.fields) } }; generation: number | null
        accepted, dryRun: boolean
        With --report:
        \(ExposureReport.fields)
        """

    private let acceptsOlder: Bool
    private let report: String?

    init(_ command: ParsedCommand) {
        acceptsOlder = command.has("accept-older")
        report = command.value("report")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if let report { return try ExposureReport(reading: report).result(workspace) }
        let path = workspace.options.vaultPath
        if acceptsOlder { return try AcceptOlder.run(in: workspace) }
        do {
            let vault = try workspace.session.opened()
            let keys = try workspace.session.keys(.values)
            let inspection = try vault.inspection(with: keys)
            guard inspection.problems.isEmpty else { return result(inspection, path, header: true) }
            let index = try vault.index(with: keys, extent: .everything)
            let audit = try audit(index, with: keys, workspace.session)
            let anchors = try RollbackReport(workspace.session, with: keys)
            return result(
                inspection, path, header: true, audit: audit.report, anchors: anchors,
                further: anchors.objections.map { problem("anchor", $0.message) }
                    + audit.problems.map { problem("audit-log", $0) },
                failure: anchors.failure ?? audit.failure)
        } catch let error as VaultError where error.code == .damaged {
            // The header is damaged, or one of its fields.
            var inspection = VaultInspection()
            inspection.note(.init(.header, error))
            return result(inspection, path, header: false)
        }
    }

    /// Returns the report on the audit log; a log that cannot be used is a problem, too.
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
        anchors: RollbackReport? = nil, further: [JSONValue] = [],
        failure otherFailure: CommandError? = nil
    ) -> CommandResult {
        let problems = inspection.problems
        let isWhole = problems.isEmpty
        let hasIndex = inspection.variableCount != nil
        let json: JSONValue = [
            "ok": .bool(isWhole && otherFailure == nil),
            "problems": .array(
                problems.map { problem($0.place.rawValue, $0.message, $0) } + further),
            "checked": [
                "header": .bool(header), "index": .bool(hasIndex),
                "bytes": .integer(Int64(clamping: inspection.byteCount)),
                "variables": .integer(orNull: inspection.variableCount.map { Int64($0) }),
                "removedVariables": .integer(
                    orNull: inspection.removedVariableCount.map { Int64($0) }),
                "versions": .integer(Int64(inspection.versionCount)),
                "valuesOpened": .bool(inspection.opensValues && hasIndex),
                "audit": .bool(orNull: audit.map(\.isWhole)), "anchor": anchors?.json ?? .null,
            ],
        ]
        var text = ""
        for problem in problems { text += "\(line(problem))\n" }
        if isWhole {
            text += "The header, the index and every value are intact.\n"
            text += "Bytes     \(inspection.byteCount)\n"
            let removed = inspection.removedVariableCount ?? 0
            text += "Variables \(inspection.variableCount ?? 0)"
            text += removed == 0 ? "\n" : ", and \(removed) removed\n"
            text += "Versions  \(inspection.versionCount), all opened\n"
            let log = audit.map { $0.isWhole ? $0.wholeText : "not intact" }
            text += "Audit log \(log ?? "cannot be used")\n"
            for line in anchors?.lines ?? [] { text += "\(line)\n" }
        }
        let failure = problems.first.map { first in
            let more = problems.count - 1
            let rest = more == 0 ? "" : ", and \(DisplayText.count(more, "more problem"))"
            return CommandError(
                .damaged, "\(path) is damaged or was modified: \(first.message)\(rest).",
                hint: "Restore a backup with: zg-env restore FILE")
        }
        return CommandResult(json: json, text: text, failure: failure ?? otherFailure)
    }

    /// - Parameter problem: nil for one outside the file: an older copy, or the audit log.
    private func problem(
        _ place: String, _ message: String, _ problem: VaultInspection.Problem? = nil
    ) -> JSONValue {
        [
            "where": .string(place), "class": .string(orNull: problem?.damage?.rawValue),
            "message": .string(message), "key": .string(orNull: problem?.key),
            "version": .integer(orNull: problem?.version.map { Int64(clamping: $0) }),
            "offset": .integer(orNull: problem?.offset.map { Int64(clamping: $0) }),
        ]
    }

    private func line(_ problem: VaultInspection.Problem) -> String {
        let offset = problem.offset.map { " (from byte \($0))" } ?? ""
        return DisplayText.safe(sentence: "\(problem.place.rawValue): \(problem.message)\(offset)")
    }
}
