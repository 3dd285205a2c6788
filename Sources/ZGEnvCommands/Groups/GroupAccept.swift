internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `group accept`: accepts changes of colleagues that may have effects here.
struct GroupAccept: Command {
    static let spec = CommandSpec(
        ["group", "accept"], "Accept colleagues' changes that need your approval",
        discussion: """
            Some changes by colleagues have no effect in this vault until you accept them: values \
            of variables whose names change what programs run or read, new names, wider scopes, \
            weaker types, and everything that writers add. Without KEY, asks about all of them. \
            --yes does not accept them.
            """,
        arguments: [
            ArgumentSpec(
                "KEY", .zeroOrMore, "The variables; all by default", completion: .dynamic(.variable)
            )
        ],
        options: [OptionSpec(flag: "unseen", "Accept without asking")],
        examples: [.init("zg-env group accept NODE_OPTIONS", "show what changed, and ask")],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = """
        project: string
        changes: [{
            key, scope, author: string; effects: ["program" | "name" | "scope" | "type" | "offer"]
        }]
        dryRun: boolean
        """

    private let keys: [String]
    private let isUnseen: Bool

    init(_ command: ParsedCommand) throws {
        keys = command.arguments("KEY")
        isUnseen = command.has("unseen")
        for key in keys { try VariableName.check(key) }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (project, shared, index) = try GroupAccess.sharedProject(workspace)
        let found = try chosen(
            from: try HeldGate.findings(shared, in: index), of: project.name, workspace)
        let lines = found.flatMap { HeldGate.clauses($0) }
        let result = JSONValue.object([
            .init("project", .string(project.name)),
            .init("changes", .array(found.map(Self.json))),
            .init("dryRun", .bool(workspace.options.dryRun)),
        ])
        if found.isEmpty {
            return CommandResult(json: result, text: "Nothing to accept.\n")
        }
        if workspace.options.dryRun {
            return CommandResult(
                json: result, text: DisplayText.lines(lines, after: "Would accept: "))
        }
        try confirm(lines, project.name, workspace)
        let accepted = found.map(\.change)
        let accepting = try Self.news(found, shared, index)
        try workspace.session.commit { transaction, news in
            news.add(accepting)
            news.add(
                AuditedNames(project: project.name, names: found.map(\.variable.name)))
            guard
                var now = try SharedProject.all(in: transaction.index)
                    .first(where: { $0.id == shared.id })
            else { return }
            // What changed since the question stays to be accepted.
            now.held.removeAll { change in
                accepted.contains(change)
                    && found.contains { finding in
                        transaction.index.variables.contains {
                            $0.id == change.variable && $0.id == finding.variable.id
                                && $0.name == finding.variable.name
                                && $0.attributes == finding.variable.attributes
                                && $0.currentVersion == finding.variable.currentVersion
                        }
                    }
            }
            try transaction.keep(now.entry)
        }
        return CommandResult(json: result, text: DisplayText.lines(lines, after: "Accepted: "))
    }

    /// Returns the changes to accept. What a writer added without a value has nothing to accept.
    private func chosen(
        from all: [HeldGate.Finding], of project: String, _ workspace: Workspace
    ) throws -> [HeldGate.Finding] {
        if let other = keys.first(where: { key in !all.contains { $0.variable.name == key } }) {
            throw CommandError(
                .conflict, "No change to \(other) in \(project) needs to be accepted.")
        }
        let chosen = all.filter { keys.isEmpty || keys.contains($0.variable.name) }
        let isEmpty = { (finding: HeldGate.Finding) in
            finding.variable.currentVersion == 0 && finding.effects.contains(.offer)
        }
        let found = chosen.filter { !isEmpty($0) }
        let empty = chosen.filter(isEmpty).map(\.variable)
        if found.isEmpty, !keys.isEmpty { throw HeldGate.refusal(of: empty, in: project) }
        HeldGate.warn(leftOut: empty, of: project, workspace.context)
        return found
    }

    /// Takes what a writer added for the whole group: a member then chose the value. A reader takes it
    /// for this vault alone.
    private static func news(
        _ found: [HeldGate.Finding], _ shared: SharedProject, _ index: VaultIndex
    ) throws -> GroupNews {
        let membership = try GroupMembership.of(shared.group, in: index)
        guard let membership, membership.standing == .active,
            [.admin, .member].contains(membership.rights.role)
        else { return GroupNews() }
        let offers = found.filter { $0.effects.contains(.offer) }
        return GroupNews(
            decided: Dictionary(
                offers.map { ($0.variable.id, [.value]) }, uniquingKeysWith: { first, _ in first }))
    }

    /// - Throws: ``ExitCode/usage`` if nobody can be asked, ``ExitCode/failed`` if the answer is no.
    private func confirm(_ lines: [String], _ project: String, _ workspace: Workspace) throws {
        if isUnseen { return }
        guard workspace.interaction.canConfirm else {
            throw CommandError(
                .usage,
                "These changes need your decision, and there is no terminal to prompt on.",
                hint: "Show them with --dry-run, then add --unseen.")
        }
        guard try workspace.interaction.confirm(nil, lines, "Accept these changes?") else {
            throw CommandError(.failed, "Canceled.")
        }
    }

    private static func json(_ finding: HeldGate.Finding) -> JSONValue {
        let names: [(HeldChange.Effects, String)] = [
            (.program, "program"), (.name, "name"), (.scope, "scope"), (.weakerType, "type"),
            (.offer, "offer"),
        ]
        return [
            "key": .string(finding.variable.name),
            "scope": .string(finding.variable.attributes.scope.description),
            "author": .string(finding.author),
            "effects": .strings(names.filter { finding.effects.contains($0.0) }.map(\.1)),
        ]
    }
}
