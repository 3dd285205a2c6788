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
            Publishes what you changed, takes what others changed, and shows what came. An admin \
            is asked about each person who answered an invite: compare the six words with them.
            """,
        arguments: [ArgumentSpec("GROUP", .optional, "The group; all groups by default")],
        options: [
            OptionSpec(
                flag: "admit", "Admit everybody who answered an invite, without comparing words")
        ],
        examples: [.init("zg-env sync", "exchange changes with all groups")],
        exitCodes: ExitCode.ofVercel)

    private let name: String?
    private let admitsAll: Bool

    init(_ command: ParsedCommand) {
        name = command.argument("GROUP")
        admitsAll = command.has("admit")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let memberships =
            if let name { [try GroupAccess.find(name, in: index)] } else {
                try GroupAccess.memberships(in: index)
            }
        // Says what to do in a vault without groups.
        if memberships.isEmpty { _ = try GroupAccess.find(nil, in: index) }
        var reports: [JSONValue] = []
        var lines: [String] = []
        var failure: CommandError?
        for membership in memberships {
            do {
                let report = try Self.sync(
                    try GroupAccess(membership, workspace), workspace, admitsAll: admitsAll)
                reports.append(report.json)
                lines += report.lines
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
            text: lines.map { DisplayText.safe(sentence: $0) + "\n" }.joined(), failure: failure)
    }

    /// The result of one group's sync.
    struct Report {
        let json: JSONValue
        let lines: [String]
        /// The lines about others.
        var news: [String] = []
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
        if admits, access.membership.rights.role == .admin, access.membership.standing == .active {
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
                exchange.refused.formUnion(second.exchange.refused)
            }
        }
        return report(access.membership, exchange, outcome, admitted)
    }

    private static func report(
        _ membership: GroupMembership, _ exchange: ObjectExchange.Result,
        _ outcome: GroupUpdate.Outcome, _ admitted: [String]
    ) -> Report {
        var lines: [String] = []
        let group = membership.name
        switch outcome.standing {
        case .invited:
            lines.append("\(group): no admin has admitted you yet. Ask one to run: zg-env sync")
        case .ended: lines.append("\(group): you are no longer a member, and keep your copy.")
        case .active: break
        }
        for name in admitted { lines.append("\(group): admitted \(name).") }
        for name in outcome.joined where !admitted.contains(name) {
            lines.append("\(group): \(name) joined.")
        }
        for name in outcome.left { lines.append("\(group): \(name) left.") }
        for project in outcome.projects {
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
            if project.newLateCount > 0 {
                lines.append(
                    "\(project.name): ignored \(Plural.changes(project.newLateCount)) by somebody "
                        + "who no longer had the right.")
            }
            if project.waitingCount > 0 {
                lines.append(
                    "\(project.name): \(project.waitingCount == 1 ? "1 change builds" : "\(project.waitingCount) changes build") "
                        + "on others that the place does not show. If the next sync says so again, "
                        + "compare the state words of zg-env group show with a colleague.")
            }
            if project.contestedCount > 0 {
                lines.append(
                    "\(project.name): \(Plural.variables(project.contestedCount)) contested. Decide with: "
                        + "zg-env resolve KEY -p \(project.name)")
            }
        }
        let news = lines
        if outcome.publishedCount > 0 {
            lines.append("\(group): published \(Plural.changes(outcome.publishedCount)).")
        }
        let refused = exchange.refused.count + outcome.refusedCount
        if refused > 0 {
            lines.append(
                "\(group): ignored \(refused == 1 ? "1 invalid object" : "\(refused) invalid objects") in the place."
            )
        }
        if outcome.isForked {
            lines.append(
                "\(group): two admins changed the members at the same time; an admin must sync.")
        }
        if lines.isEmpty { lines.append("\(group): nothing new.") }
        return Report(
            json: json(membership, exchange, outcome, admitted), lines: lines, news: news)
    }

    private static func words(of arrival: StateApplication.Arrival, by author: String) -> String {
        let variable = "\(arrival.name) (\(arrival.scope.description))"
        switch arrival.kind {
        case .added: return "\(author) added \(variable)"
        case .changed: return "\(author) changed \(variable)"
        case .removed: return "\(author) removed \(variable)"
        case .contested: return "\(author) also changed \(variable), which is now contested"
        case .offered: return "\(author) offers a value of \(variable)"
        case .unreadable: return "\(author) stored a value of \(variable) that cannot be opened"
        }
    }

    private static func json(
        _ membership: GroupMembership, _ exchange: ObjectExchange.Result,
        _ outcome: GroupUpdate.Outcome, _ admitted: [String]
    ) -> JSONValue {
        let standing: String =
            switch outcome.standing {
            case .invited: "invited"
            case .active: "active"
            case .ended: "ended"
            }
        return [
            "group": .string(membership.name), "standing": .string(standing),
            "fetched": .integer(Int64(exchange.fetchedCount)),
            "published": .integer(Int64(outcome.publishedCount)),
            "refused": .integer(Int64(exchange.refused.count + outcome.refusedCount)),
            "forked": .bool(outcome.isForked),
            "admitted": .array(admitted.map { .string($0) }),
            "joined": .array(outcome.joined.map { .string($0) }),
            "left": .array(outcome.left.map { .string($0) }),
            "projects": .array(
                outcome.projects.map { project in
                    [
                        "project": .string(project.name), "isNew": .bool(project.isNew),
                        "late": .integer(Int64(project.lateCount)),
                        "waiting": .integer(Int64(project.waitingCount)),
                        "contested": .integer(Int64(project.contestedCount)),
                        "proposal": .string(orNull: project.newProposal?.project),
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

/// Numbers with their nouns.
enum Plural {
    static func variables(_ count: Int) -> String {
        count == 1 ? "1 variable is" : "\(count) variables are"
    }
    static func changes(_ count: Int) -> String { count == 1 ? "1 change" : "\(count) changes" }
    static func values(_ count: Int) -> String { count == 1 ? "1 value" : "\(count) values" }
}
