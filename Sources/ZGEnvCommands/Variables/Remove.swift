internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

struct Remove: Command {
    static let spec = CommandSpec(
        ["rm"], "Remove a variable, or some of its targets",
        discussion: """
            With -t, removes only these targets; the others keep the value. The history is kept. \
            Vercel keeps its copy until the next push.
            """,
        arguments: [
            ArgumentSpec("KEY", .one, "The variable", completion: .dynamic(.variable))
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(flag: "all", "Remove every value of KEY"),
        ] + PushOption.options,
        exclusive: [["all", "target"], ["all", "branch"]],
        exitCodes: ExitCode.ofVercel, aliases: [["remove"]])

    private let key: String
    private let options: ScopeOptions
    private let all: Bool
    private let afterwards: PushOption

    init(_ command: ParsedCommand) throws {
        key = command.required("KEY")
        try VariableName.check(key)
        options = ScopeOptions(command)
        all = command.has("all")
        afterwards = PushOption(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try afterwards.check(workspace)
        let keys = try workspace.session.keys(
            afterwards.tier(workspace, otherwise: .index))
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let plan = try plan(project, index)
        let lines = plan.map { step in
            step.after.isEmpty
                ? "remove \(key) from \(project.name) for \(step.before.description)"
                : "remove \(key) from \(project.name) for \(step.dropped.description); keep it for "
                    + step.after.description
        }
        let question = plan.count == 1 ? "Remove it?" : "Remove them?"
        if try !workspace.confirm(lines, question) {
            return CommandResult(
                json: json(project, plan, dryRun: true),
                text: lines.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        let time = workspace.context.now()
        try workspace.session.update(with: keys) { transaction in
            for step in plan {
                guard let position = transaction.position(of: step.record),
                    transaction.index.variables[position].isLive,
                    transaction.index.variables[position].attributes.scope == step.before
                else {
                    throw CommandError(
                        .conflict, "\(key) was changed by another command.",
                        hint: "Nothing was removed. Run the command again.")
                }
                if step.after.isEmpty {
                    transaction.remove(at: position, time: time)
                } else {
                    transaction.index.variables[position].attributes.scope = step.after
                    transaction.index.variables[position].updatedAt = time
                }
            }
        }
        for step in plan {
            let rest = step.after.isEmpty ? "" : "; kept it for \(step.after.description)"
            workspace.note(
                "Removed \(key) from \(project.name) for \(step.dropped.description)\(rest).")
        }
        let places = all ? nil : plan.map(\.dropped)
        return try afterwards.push(
            key, workspace, atHand: [:], vacated: .init(key: key, scopes: places),
            beside: CommandResult(json: json(project, plan, dryRun: false)))
    }

    private struct Step {
        let record: Identifier
        let before: Scope
        let after: Scope

        var dropped: Scope { before.subtracting(after) }
    }

    private func plan(_ project: VaultProject, _ index: VaultIndex) throws -> [Step] {
        let records = index.variables(of: project.id, named: key)
        guard !records.isEmpty else { throw RecordSelection.notFound(key, project, index) }
        let empty = Scope(targets: [])
        if all {
            return records.map { Step(record: $0.id, before: $0.attributes.scope, after: empty) }
        }
        guard let scope = try options.scope() else {
            let only = try RecordSelection.one(key, in: project, of: index, options)
            return [Step(record: only.id, before: only.attributes.scope, after: empty)]
        }
        let steps = records.filter { $0.attributes.scope.overlaps(scope) }.map { record in
            let rest = record.attributes.scope.subtracting(scope)
            return Step(
                record: record.id, before: record.attributes.scope,
                after: rest.isEmpty ? empty : rest)
        }
        guard !steps.isEmpty else {
            throw CommandError(
                .notFound,
                "\(key) in \(project.name) has no value for \(scope.description).")
        }
        return steps
    }

    private func json(_ project: VaultProject, _ plan: [Step], dryRun: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("project", .string(project.name)), .init("key", .string(key)),
            .init(
                "removed",
                .array(
                    plan.map { step in
                        let dropped = step.after.isEmpty ? step.before : step.dropped
                        return [
                            "targets": .strings(dropped.targets.names),
                            "customEnvironments": .strings(dropped.customEnvironments),
                            "branch": .string(orNull: dropped.branch),
                            "left": .strings(
                                step.after.targets.names + step.after.customEnvironments),
                        ]
                    })),
        ]
        if dryRun { members.append(.init("dryRun", true)) }
        return .object(members)
    }
}
