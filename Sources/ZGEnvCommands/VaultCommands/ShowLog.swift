internal import CommandLineKit
internal import JSON
internal import Vault

/// `log`: shows the audit log and checks that it is intact.
struct ShowLog: Command {
    static let spec = CommandSpec(
        ["log"], "Show the audit log: who read which values, and when",
        discussion: """
            The newest line comes last. Every line is checked, including those that --limit hides: \
            changed or missing lines are reported, with exit code 8. Removal of lines added since \
            the vault was last written cannot be detected.

            --accept accepts the log in its current state. It asks for the passphrase and adds a \
            line.

            --group lists the signed changes of a group instead, as of the last sync. Times are as \
            reported by each author.
            """,
        arguments: [ArgumentSpec("GROUP", .optional, "With --group: the group")],
        options: [
            OptionSpec(
                "limit", value: "N", "Show only the newest N lines",
                form: .integer(1...1_000_000)),
            OptionSpec(flag: "accept", "Accept the log as it is, even if lines are missing"),
            OptionSpec(flag: "group", "Show who changed what in a group"),
        ],
        exclusive: [["accept", "group"]],
        examples: [.init("zg-env log --limit 20", "show the newest 20 lines")],
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        entries: [{
            sequence: number; at: time; user: string; uid: number
            command, project, place: string | null; names: [string]; omittedNames: number
            outcome: string; sealed: boolean
        }]
        log: string; lines: number; whole, incomplete: boolean
        problems: [{ code, message: string }]; acceptedProblems: number
        With --accept:
        log: string; accepted: number; line: number | null; dryRun: boolean
        With --group:
        \(GroupLog.fields)
        """

    private let accepts: Bool
    private let limit: Int
    private let showsGroup: Bool
    private let group: String?

    init(_ command: ParsedCommand) throws {
        accepts = command.has("accept")
        limit = command.integer("limit") ?? .max
        showsGroup = command.has("group")
        group = command.argument("GROUP")
        guard group == nil || showsGroup else {
            throw CommandError(.usage, "A name needs --group.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if accepts { return try accept(workspace) }
        if showsGroup {
            let access = try GroupAccess.open(group, workspace)
            return try GroupLog(access, workspace).result(limit: limit)
        }
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let log = try workspace.session.auditLog()
        var newest = NewestRecords(limit: limit)
        let report = try log.read(with: keys, index: index) { newest.add($0) }
        let records = newest.records
        if report.incompleteByteCount > 0 {
            workspace.context.warn(
                "audit-log-incomplete",
                "The last line is incomplete because writing it was interrupted; that command did not reveal any values."
            )
        }
        let failure = report.failure(of: log)
        return CommandResult(
            json: json(records, report, log), text: text(records, report, workspace),
            failure: failure)
    }

    // MARK: Showing

    private func json(
        _ records: [AuditLog.Record], _ report: AuditReport, _ log: AuditLog
    ) -> JSONValue {
        [
            "entries": .array(records.map(json)), "log": .string(log.path),
            "lines": .integer(Int64(report.entryCount)), "whole": .bool(report.isWhole),
            "incomplete": .bool(report.incompleteByteCount > 0),
            "problems": .array(
                report.problems.map { ["code": .string($0.code), "message": .string($0.message)] }),
            "acceptedProblems": .integer(Int64(report.acceptedProblemCount)),
        ]
    }

    private func json(_ record: AuditLog.Record) -> JSONValue {
        let entry = record.entry
        return [
            "sequence": .integer(Int64(clamping: record.sequence)),
            "at": .time(orNull: Int64(clamping: entry.time)),
            "user": .string(userName(record)), "uid": .integer(Int64(entry.userID)),
            "command": .string(orNull: entry.command.isEmpty ? nil : entry.command),
            "project": .string(orNull: entry.project), "place": .string(orNull: entry.place),
            "names": .strings(entry.names),
            "omittedNames": .integer(Int64(entry.omittedNameCount)),
            "outcome": .string(Self.shown(entry.outcome)), "sealed": .bool(record.isSealed),
        ]
    }

    private func text(
        _ records: [AuditLog.Record], _ report: AuditReport, _ workspace: Workspace
    ) -> String {
        var table = Table([
            .init("LINE", trailing: true), .init("AT"), .init("USER"), .init("COMMAND"),
            .init("PROJECT"), .init("TARGETS"), .init("NAMES", canShrink: true), .init("OUTCOME"),
        ])
        for record in records {
            let entry = record.entry
            var names = entry.names.joined(separator: ", ")
            if entry.omittedNameCount > 0 { names += " and \(entry.omittedNameCount) more" }
            table.append([
                .init("\(record.sequence)"),
                .init(TimeText.utc(Int64(clamping: entry.time)), as: .dim),
                .init(userName(record)), .init(entry.command), .init(entry.project ?? ""),
                .init(entry.place ?? ""), .init(names), .init(Self.shown(entry.outcome)),
            ])
        }
        let look = TerminalStyle(workspace.context)
        var text = table.text(width: look.width, style: look.style)
        if text.isEmpty && report.isWhole { text = "The audit log is empty.\n" }
        for problem in report.problems { text += "Problem: \(problem.message)\n" }
        if report.problemCount > report.problems.count {
            text += "Problem: \(report.problemCount - report.problems.count) more\n"
        }
        return text
    }

    /// Returns the word for an outcome of the file.
    private static func shown(_ outcome: String) -> String {
        switch outcome {
        case AuditEntry.Outcome.givenOut: "revealed"
        case AuditEntry.Outcome.begun: "started"
        default: outcome
        }
    }

    /// Returns the name in the line, or the current name of its user number.
    private func userName(_ record: AuditLog.Record) -> String {
        if !record.entry.user.isEmpty { return record.entry.user }
        let name = UserAccount.name(of: record.entry.userID)
        return name.isEmpty ? "\(record.entry.userID)" : name
    }

    // MARK: Accepting

    private func accept(_ workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let keys = try session.keys(.values, asking: .always)
        let index = try session.opened().index(with: keys, extent: .listing)
        let log = try session.auditLog()
        let report = try log.verify(with: keys, index: index)
        func result(_ line: UInt64?) -> CommandResult {
            CommandResult(
                json: [
                    "log": .string(log.path), "accepted": .integer(Int64(report.problemCount)),
                    "line": .integer(orNull: line.map { Int64(clamping: $0) }),
                    "dryRun": .bool(workspace.options.dryRun),
                ],
                text: report.isWhole
                    ? "The audit log is intact; there is nothing to accept.\n"
                    : line.map { "Accepted, and recorded as line \($0) of the audit log.\n" }
                        ?? report.problems.map { "Would accept: \($0.message)\n" }.joined())
        }
        if report.isWhole { return result(nil) }
        let plan = report.problems.map { "accept: \($0.message)" }
        let answer = try workspace.confirm(plan, "Accept the audit log as it is?")
        if !answer { return result(nil) }
        let user = workspace.context.user()
        let position = try log.append(
            AuditEntry(
                kind: .acceptance, time: workspace.context.now(), userID: user.number,
                user: user.name, command: "log --accept", outcome: AuditEntry.Outcome.done),
            keys: keys, recorded: index.metadata.audit, durably: true)
        try session.update { $0.acceptAuditLog(endingAt: position) }
        return result(position.sequence)
    }
}

/// The last `limit` records of a log.
private struct NewestRecords {
    private let limit: Int
    private var ring: [AuditLog.Record] = []
    private var next = 0

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    mutating func add(_ record: AuditLog.Record) {
        if ring.count < limit {
            ring.append(record)
        } else {
            ring[next] = record
            next = (next + 1) % limit
        }
    }

    /// The records, oldest first.
    var records: [AuditLog.Record] { Array(ring[next...] + ring[..<next]) }
}
