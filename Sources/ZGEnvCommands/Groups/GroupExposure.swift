internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `group exposure`: what somebody who left could read, and whether it was replaced and is live.
struct GroupExposure: Command {
    static let spec = CommandSpec(
        ["group", "exposure"], "Show what a member could read, and whether it was replaced",
        discussion: """
            Checks whether the values that WHO could read through the group, or wrote, are in use \
            in the vault or live on Vercel. Exits with 0 only if none of these values is in use or \
            live, every variable of these projects on Vercel is also in this vault, every member \
            who can write has synced since, and no change is waiting to be published. The result \
            describes only what this vault has: run zg-env sync first. The command cannot tell \
            whether an old value is still valid: revoke it where it was issued.
            """,
        arguments: [ArgumentSpec("WHO", .one, "A name, or the first digits of a member ID")],
        options: [
            GroupOptions.group,
            OptionSpec(
                "accept", value: "KEY", "Record that KEY needs no replacement", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(
                "accept-silent", value: "NAME",
                "Do not wait for NAME, who has not synced since the removal",
                repeatable: true, commaSeparated: true),
            OptionSpec("reason", value: "TEXT", "The reason for --accept or --accept-silent"),
            OptionSpec(
                "report", value: "FILE",
                "Write a signed report, as Markdown, or as JSON if FILE ends with .json",
                completion: .file),
            OptionSpec(flag: "force", "With --report: replace an existing FILE"),
        ],
        examples: [
            .init("zg-env group exposure bob", "list the values that bob could read"),
            .init(
                "zg-env group exposure bob --accept LOG_LEVEL --reason 'not a secret'",
                "settle a variable that needs no replacement"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = "\(ExposureWork.Found.fields)"

    private let who: String
    private let group: String?
    private let accepted: [String]
    private let silent: [String]
    private let reason: String?
    private let report: String?
    private let replaces: Bool

    init(_ command: ParsedCommand) throws {
        who = command.required("WHO")
        group = command.value("group")
        accepted = command.values("accept")
        silent = command.values("accept-silent")
        reason = command.value("reason")
        report = command.value("report")
        guard reason?.utf8.count ?? 0 <= GroupLimits.name else {
            throw CommandError(.usage, "The reason is longer than 1,024 bytes.")
        }
        replaces = command.has("force")
        guard report != nil || !replaces else {
            throw CommandError(.usage, "--force needs --report FILE.", hint: "Leave it out.")
        }
        guard (accepted.isEmpty && silent.isEmpty) == (reason == nil) else {
            throw CommandError(
                .usage,
                "--accept and --accept-silent need --reason TEXT, and --reason needs one of them.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if let report { try OutputPath.check(report, workspace) }
        let access = try GroupAccess.open(group, workspace)
        let membership = access.membership
        let work = ExposureWork(access, workspace)
        try work.requireAdmin()
        let subject = try work.subject(named: who)
        if !accepted.isEmpty || !silent.isEmpty {
            try accept(
                try work.statement(of: subject, looksAtVercel: false), subject, work, workspace)
        }
        let found = try work.statement(of: subject)
        if let report, found.waitingCount > 0 {
            workspace.note("\(report) was not written: \(WaitingChanges.text(found.waitingCount)).")
        } else if let report, !workspace.options.dryRun {
            try work.write(found, about: subject, to: report, replaces: replaces)
            workspace.note("Wrote \(report).")
        }
        return result(found, membership, workspace)
    }

    private func accept(
        _ found: ExposureWork.Found, _ subject: ExposureWork.Subject, _ work: ExposureWork,
        _ workspace: Workspace
    ) throws {
        var decisions: [ExposureWork.Decision] = []
        for key in accepted {
            let rows = found.rows.filter { $0.variable.name == key }
            guard !rows.isEmpty else {
                throw CommandError(.notFound, "\(subject.name) could not read a value of \(key).")
            }
            decisions += rows.map { .init(.record, $0.variable.id, in: $0.variable.project) }
        }
        for name in silent {
            let members = found.silent.filter { $0.name == name }
            guard !members.isEmpty else {
                throw CommandError(
                    .notFound,
                    "\(name) is not one of the members who have not synced since the removal.")
            }
            decisions += members.map { .init(.silence, $0.member, in: nil) }
        }
        guard !workspace.options.dryRun else { return }
        try work.record(decisions, about: subject, reason: reason ?? "")
        work.publish()
    }

    private func result(
        _ found: ExposureWork.Found, _ membership: GroupMembership, _ workspace: Workspace
    ) -> CommandResult {
        var lines: [String] = []
        if found.rows.isEmpty, found.unusedProjects.isEmpty {
            lines.append("\(who) could not read a value of \(membership.name).")
        }
        lines += found.remarks(membership.name)
        if found.isStillMember { lines.append("\(who) is still a member of \(membership.name).") }
        if found.missingCount > 0 {
            lines.append(
                "\(DisplayText.count(found.missingCount, "change")) cannot be checked before the contents arrive. Run: zg-env sync"
            )
        }
        if found.waitingCount > 0 {
            lines.append(WaitingChanges.advice(found.waitingCount))
        }
        for member in found.silent where member.reason == nil {
            lines.append(
                "\(member.name) can write and has not synced since the removal, so they may store a value that \(who) can read."
            )
        }
        lines += ExposureRow.unrevoked(found.rows)
        if found.isSettled {
            lines.append("Nothing is left to replace.")
            lines.append(
                "State words (the same in every vault with the same state): \(found.words)")
        }
        let text =
            ExposureRow.table(found.rows, workspace.context) + DisplayText.lines(lines)
        return CommandResult(
            json: found.json(about: who), text: text, failure: found.failure(about: who))
    }
}
