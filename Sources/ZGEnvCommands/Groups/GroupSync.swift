internal import CommandLineKit
internal import GroupPlaces
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `sync`: exchanges changes with the groups of this vault.
struct GroupSync: Command {
    static let spec = CommandSpec(
        ["sync"], "Exchange changes of shared projects with your groups",
        discussion: """
            Publishes your changes, gets the changes of others, and shows what was received. An \
            admin is asked about each person who answered an invite: compare the six verification \
            words with them. Fails if this vault is not a member, so that scripts stop.
            """,
        arguments: [ArgumentSpec("GROUP", .optional, "The group; all groups by default")],
        options: [
            OptionSpec(
                flag: "admit",
                "Admit everyone who answered an invite, without comparing the verification words")
        ],
        examples: [.init("zg-env sync", "exchange changes with all groups")],
        exitCodes: ExitCode.ofVercel)
    static let fields = "groups: [{ \(reportFields) }]; dryRun: boolean"

    private let name: String?
    private let admitsAll: Bool

    init(_ command: ParsedCommand) {
        name = command.argument("GROUP")
        admitsAll = command.has("admit")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.index(.everything, with: .values)
        let memberships = try GroupAccess.all(name, in: index)
        var reports: [JSONValue] = []
        var lines: [String] = []
        var failure: CommandError?
        for membership in memberships {
            do {
                let report = try Self.sync(
                    try GroupAccess(membership, workspace), workspace, admitsAll: admitsAll)
                reports.append(report.json)
                lines.append(report.text(workspace))
                failure = failure ?? report.failure
            } catch {
                // One place that is down does not keep the others from being synced.
                let error = CommandError(mapping: error)
                guard memberships.count > 1 else { throw error }
                workspace.context.warn("group-failed", "\(membership.name): \(error.message)")
                failure = failure ?? error
            }
        }
        return CommandResult(
            json: ["groups": .array(reports), "dryRun": .bool(workspace.options.dryRun)],
            text: lines.joined(), failure: failure)
    }

    /// The result of one group's sync.
    struct Report {
        let json: JSONValue
        let lines: [String]
        /// The lines about others.
        var news: [String] = []
        /// Set if this vault is not a member, or not yet.
        var failure: CommandError?
        /// The number of own changes that do not count.
        var lateCount = 0
        /// Whether no admin can admit this vault any more.
        var isHopeless = false

        /// What is shown, except with `--quiet`.
        func text(_ workspace: Workspace) -> String {
            if workspace.options.quiet { return "" }
            return DisplayText.lines(lines)
        }
    }

    /// Syncs a group, and admits those who answered an invite.
    ///
    /// - Parameter admits: Whether to ask about those who answered an invite.
    static func sync(
        _ access: GroupAccess, _ workspace: Workspace, admitsAll: Bool = false, admits: Bool = true
    ) throws -> Report {
        if workspace.options.dryRun {
            return Report(
                json: ["group": .string(access.membership.name)],
                lines: [
                    "Would exchange changes of \(access.membership.name) with \(access.address)."
                ])
        }
        var (exchange, outcome) = try access.sync()
        var admitted: [String] = []
        if admits, access.membership.isActiveAdmin {
            admitted = try GroupAdmission(access, workspace, admitsAll: admitsAll).admitAll()
            if outcome.isForked { try access.joinFork() }
            if !admitted.isEmpty || outcome.isForked {
                let second = try access.sync()
                let before = outcome.projects
                outcome.projects = second.outcome.projects.map { project in
                    project.merged(after: before.first { $0.name == project.name })
                }
                outcome.publishedCount += second.outcome.publishedCount
                outcome.isForked = second.outcome.isForked
                outcome.waitingCount = second.outcome.waitingCount
                exchange.refused.formUnion(second.exchange.refused)
            }
        }
        return report(access.membership, exchange, outcome, admitted, workspace)
    }

    /// Syncs before or after another change of a group, and reports what it received.
    static func syncAndReport(_ access: GroupAccess, _ workspace: Workspace) throws {
        let report = try sync(access, workspace, admits: false)
        report.news.forEach(workspace.note)
        if let failure = report.failure { throw failure }
    }

    private static func report(
        _ membership: GroupMembership, _ exchange: ObjectExchange.Result,
        _ outcome: GroupUpdate.Outcome, _ admitted: [String], _ workspace: Workspace
    ) -> Report {
        var lines: [String] = []
        let group = membership.name
        for name in admitted { lines.append("\(group): admitted \(name).") }
        for name in outcome.joined where !admitted.contains(name) {
            lines.append("\(group): \(name) joined.")
        }
        for one in outcome.removed where one.author != membership.member {
            lines.append(
                "\(group): \(membership.label(of: one.author)) removed \(membership.label(of: one.member))."
            )
        }
        for project in outcome.projects {
            if project.isAttached { lines.append("\(group): attached \(project.name) again.") }
            if let aside = project.movedAside {
                lines.append(
                    "\(project.name): only this vault had \(aside.names.joined(separator: ", ")), "
                        + "which is now in \(aside.project) and not shared.")
            }
            if project.isNew {
                lines.append(
                    "\(group): new project \(project.name). Use it with: zg-env group adopt "
                        + project.name)
            }
            for arrival in project.arrivals {
                let author = membership.name(of: arrival.author)
                lines.append("\(project.name): \(Self.words(of: arrival, by: author))")
            }
            if let proposal = project.newProposal {
                lines.append(GroupAdoption.offer(proposal, project.name))
            }
            if project.newLateCount > project.ownLate.count {
                lines.append(
                    "\(project.name): ignored \(DisplayText.count(project.newLateCount - project.ownLate.count, "change")) by "
                        + "someone who no longer had the right.")
            }
            if project.waitingCount > 0 {
                lines.append(
                    "\(project.name): \(project.waitingCount == 1 ? "1 change builds" : "\(project.waitingCount) changes build") "
                        + "on others that the place does not show. If the next sync reports this "
                        + "again, compare the state words from zg-env group show with a colleague.")
            }
            if project.heldCount > 0 {
                lines.append(
                    "\(project.name): changes to "
                        + "\(DisplayText.count(project.heldCount, "variable")) are waiting for "
                        + "your approval. See: zg-env group accept -p \(project.name)")
            }
        }
        let news = lines
        GroupWarnings(membership, exchange, outcome).show(workspace)
        if outcome.publishedCount > 0 {
            lines.append(
                "\(group): published \(DisplayText.count(outcome.publishedCount, "change")).")
        }
        if exchange.suppliedCount > 0 {
            lines.append(
                "\(group): supplied \(exchange.suppliedCount == 1 ? "1 object" : "\(exchange.suppliedCount) objects") that the place lacked."
            )
        }
        let failure = GroupWarnings.failure(membership, outcome)
        if lines.isEmpty, failure == nil { lines.append("\(group): nothing new.") }
        return Report(
            json: json(membership, exchange, outcome, admitted), lines: lines, news: news,
            failure: failure, lateCount: outcome.projects.reduce(0) { $0 + $1.ownLate.count },
            isHopeless: outcome.standing == .invited && outcome.invite != .open)
    }

    private static func words(of arrival: StateApplication.Arrival, by author: String) -> String {
        let variable = "\(arrival.name) (\(arrival.scope.description))"
        switch arrival.kind {
        case .added: return "\(author) added \(variable)"
        case .changed: return "\(author) changed \(variable)"
        case .removed: return "\(author) removed \(variable)"
        case .contested: return "\(author) also changed \(variable), which is now contested"
        case .offered: return "\(author) offers a value for \(variable)"
        case .kept:
            return "\(author) removed \(variable) while its value was changed: the value stays"
        case .returned:
            return "\(author) changed \(variable) while it was being removed: the value stays"
        case .withdrawn:
            return "\(variable) was removed: the change by \(author) that added it does not count"
        case .restored: return "\(variable) was restored: the change by \(author) counts again"
        case .unreadable: return "\(author) stored a value for \(variable) that cannot be opened"
        }
    }

    static let reportFields = """
        group: string; standing?: \(oneOf: GroupMembership.Standing.allCases.map { "\($0)" })
        fetched?, published?, refused?: number; forked?: boolean; admitted?, joined?: [string]
        removed?: [{ name, author: string }]; waiting?, supplied?: number
        projects?: [{
            project: string; isNew, isAttached: boolean; movedAside: [string]
            ownLate: [{ (your changes that do not count)
                keys: [string]; reason: \(oneOf: LateReason.self)
            }]
            late, waiting, contested: number; proposal: string | null (the Vercel project to link)
            toAccept: number; arrivals: [{ kind, key, scope, author: string }]
        }]
        """

    private static func json(
        _ membership: GroupMembership, _ exchange: ObjectExchange.Result,
        _ outcome: GroupUpdate.Outcome, _ admitted: [String]
    ) -> JSONValue {
        [
            "group": .string(membership.name), "standing": .string("\(outcome.standing)"),
            "fetched": .integer(Int64(exchange.fetchedCount)),
            "published": .integer(Int64(outcome.publishedCount)),
            "refused": .integer(Int64(exchange.refused.count + outcome.refused.count)),
            "forked": .bool(outcome.isForked),
            "admitted": .array(admitted.map { .string($0) }),
            "joined": .array(outcome.joined.map { .string($0) }),
            "removed": .array(
                outcome.removed.map { one in
                    [
                        "name": .string(membership.label(of: one.member)),
                        "author": .string(membership.label(of: one.author)),
                    ]
                }),
            "waiting": .integer(Int64(outcome.waitingCount)),
            "supplied": .integer(Int64(exchange.suppliedCount)),
            "projects": .array(
                outcome.projects.map { project in
                    [
                        "project": .string(project.name), "isNew": .bool(project.isNew),
                        "isAttached": .bool(project.isAttached),
                        "movedAside": .strings(project.movedAside?.names ?? []),
                        "ownLate": .array(
                            project.ownLate.map { late in
                                [
                                    "keys": .strings(late.names),
                                    "reason": .string(late.reason.rawValue),
                                ]
                            }),
                        "late": .integer(Int64(project.lateCount)),
                        "waiting": .integer(Int64(project.waitingCount)),
                        "contested": .integer(Int64(project.contestedCount)),
                        "proposal": .string(orNull: project.newProposal?.project),
                        "toAccept": .integer(Int64(project.heldCount)),
                        "arrivals": .array(
                            project.arrivals.map { arrival in
                                [
                                    "kind": .string("\(arrival.kind)"),
                                    "key": .string(arrival.name),
                                    "scope": .string(arrival.scope.description),
                                    "author": .string(membership.name(of: arrival.author)),
                                ]
                            }),
                    ]
                }),
        ]
    }
}
