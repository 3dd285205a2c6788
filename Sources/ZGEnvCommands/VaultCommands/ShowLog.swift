internal import CommandLineKit
internal import JSON
internal import Vault

/// `log`: shows the audit log and checks that it is intact.
struct ShowLog: Command {
    static let spec = CommandSpec(
        ["log"], "Show the audit log: who used or changed what, and when",
        discussion: """
            Each line is an act: revealed values, a write of the vault, a push, a \
            deployment, a rotation or a change of a group. Times are local; the newest act comes \
            last. "outcome unknown" means that the command was killed or is still running. Every \
            line of the file is checked, including those that the options hide: changed or \
            missing lines are reported, with exit code 8. Removal of the lines of the last write of \
            the vault, and of later lines, cannot be detected.

            --accept accepts the log in its current state. It asks for the passphrase and adds a \
            line.

            --group lists the signed changes of a group instead, as of the last sync. Times are as \
            reported by each author.
            """,
        arguments: [
            ArgumentSpec(
                "NAME", .optional, "Show only acts with this variable; with --group, the group",
                completion: .dynamic(.variable))
        ],
        options: [
            OptionSpec(
                "since", value: "TIME", "Show only acts since TIME: 7d, 12h or 2026-11-21"),
            OptionSpec(
                "limit", value: "N", "Show only the newest N acts",
                form: .integer(1...1_000_000)),
            OptionSpec(flag: "accept", "Accept the log as it is, even if lines are missing"),
            OptionSpec(flag: "group", "Show who changed what in a group"),
        ],
        exclusive: [["accept", "group"]],
        examples: [
            .init("zg-env log --since 7d", "what happened last week"),
            .init("zg-env log --since 7d API_KEY -p web", "the same for one variable"),
            .init("zg-env log --limit 20", "show the newest 20 acts"),
        ],
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        entries: [{
            sequence: number; at: time; user: string; uid: number
            command, project, place: string | null; names: [string]; omittedNames: number
            changes: [{ name, targets: string; version: number (0 for none) }]
            outcome: string; endedAt: time | null; sealed: boolean
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
    /// The variable or the group.
    private let name: String?
    private let since: String?

    init(_ command: ParsedCommand) throws {
        accepts = command.has("accept")
        limit = command.integer("limit") ?? .max
        showsGroup = command.has("group")
        name = command.argument("NAME")
        since = command.value("since")
    }

    /// The acts to show.
    private func filter(_ workspace: Workspace) throws -> AuditActs.Filter {
        let options = workspace.options
        return AuditActs.Filter(
            since: try since.map { try LocalTime.past($0, from: workspace.context.now()) },
            name: name,
            project: options.isGiven("project") ? options.project : nil)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if accepts { return try accept(workspace) }
        if showsGroup {
            let access = try GroupAccess.open(name, workspace)
            return try GroupLog(access, workspace).result(limit: limit)
        }
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let log = try workspace.session.auditLog()
        var acts = AuditActs(try filter(workspace), limit: limit)
        let report = try log.read(with: keys, index: index) { acts.add($0) }
        let shown = Array(acts.newest)
        if report.incompleteByteCount > 0 {
            workspace.context.warn(
                "audit-log-incomplete",
                "The last line is incomplete because writing it was interrupted; that command did not reveal any values."
            )
        }
        let failure = report.failure(of: log)
        return CommandResult(
            json: json(shown, report, log), text: text(shown, report, workspace),
            failure: failure)
    }

    // MARK: Showing

    private func json(
        _ acts: [AuditActs.Act], _ report: AuditReport, _ log: AuditLog
    ) -> JSONValue {
        [
            "entries": .array(acts.map(json)), "log": .string(log.path),
            "lines": .integer(Int64(report.entryCount)), "whole": .bool(report.isWhole),
            "incomplete": .bool(report.incompleteByteCount > 0),
            "problems": .array(
                report.problems.map { ["code": .string($0.code), "message": .string($0.message)] }),
            "acceptedProblems": .integer(Int64(report.acceptedProblemCount)),
        ]
    }

    private func json(_ act: AuditActs.Act) -> JSONValue {
        let (record, entry) = (act.record, act.record.entry)
        return [
            "sequence": .integer(Int64(clamping: record.sequence)),
            "at": .time(orNull: Int64(clamping: entry.time)),
            "user": .string(userName(record)), "uid": .integer(Int64(entry.userID)),
            "command": .string(orNull: entry.command.isEmpty ? nil : entry.command),
            "project": .string(orNull: entry.project), "place": .string(orNull: entry.place),
            "names": .strings(entry.names),
            "omittedNames": .integer(Int64(entry.omittedNameCount)),
            "changes": .array(
                entry.subjects.compactMap { subject in
                    subject.targets.map {
                        [
                            "name": .string(subject.name), "targets": .string($0),
                            "version": .integer(Int64(clamping: subject.version)),
                        ]
                    }
                }),
            "outcome": .string(Self.shown(act.outcome)),
            "endedAt": .time(orNull: act.endedAt.map { Int64(clamping: $0) }),
            "sealed": .bool(record.isSealed),
        ]
    }

    private func text(
        _ acts: [AuditActs.Act], _ report: AuditReport, _ workspace: Workspace
    ) -> String {
        var table = Table([
            .init("LINE", trailing: true), .init("AT"), .init("USER"), .init("COMMAND"),
            .init("PROJECT"), .init("TARGETS"), .init("NAMES", canShrink: true), .init("OUTCOME"),
        ])
        for act in acts {
            let (record, entry) = (act.record, act.record.entry)
            var names = entry.subjects.map(Self.text).joined(separator: ", ")
            if entry.omittedNameCount > 0 { names += " and \(entry.omittedNameCount) more" }
            table.append([
                .init("\(record.sequence)"),
                .init(LocalTime.text(Int64(clamping: entry.time)), as: .dim),
                .init(userName(record)), .init(entry.command), .init(entry.project ?? ""),
                .init(entry.place ?? ""), .init(names), .init(Self.shown(act.outcome)),
            ])
        }
        let look = TerminalStyle(workspace.context)
        var text = table.text(width: look.width, style: look.style)
        if text.isEmpty && report.isWhole {
            text =
                report.entryCount == 0
                ? "The audit log is empty.\n" : "No act in the audit log matches.\n"
        }
        for problem in report.problems { text += "Problem: \(problem.message)\n" }
        if report.problemCount > report.problems.count {
            text += "Problem: \(report.problemCount - report.problems.count) more\n"
        }
        return text
    }

    /// `API_KEY`, or after a change `API_KEY v5 (production)`.
    private static func text(_ subject: AuditEntry.Subject) -> String {
        let version = subject.version > 0 ? " v\(subject.version)" : ""
        return subject.name + version + (subject.targets.map { " (\($0))" } ?? "")
    }

    /// Returns the word for an outcome of the file.
    private static func shown(_ outcome: String) -> String {
        switch outcome {
        case AuditEntry.Outcome.givenOut: "revealed"
        case AuditEntry.Outcome.begun: "outcome unknown"
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
        try session.changeKeys { $0.acceptAuditLog(endingAt: position) }
        return result(position.sequence)
    }
}
