internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import SharedProjects
internal import Vault

struct Remove: Command {
    static let changesVariables = true
    static let spec = CommandSpec(
        ["rm"], "Remove variables, or remove them from some targets",
        discussion: """
            With -t, removes the variables from those targets only; other targets keep the value. The history is kept. \
            Vercel keeps its copy until the next push.
            """,
        arguments: [VariableName.arguments],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(flag: "all", "Remove every value of each KEY"),
        ],
        exclusive: [["all", "target"], ["all", "branch"]],
        exitCodes: ExitCode.ofVercel, aliases: [["remove"]])
    static let fields = """
        project: string; key: string | null (if it is only one); keys: [string]
        removed: [{
            \(JSONValue.entryFields); left: [string] (the targets that the variable keeps)
        }]
        dryRun?: true
        """

    private let names: [String]
    private let options: ScopeOptions
    private let all: Bool

    /// Removes one variable from one scope.
    init(_ name: String, in scope: Scope) {
        (names, options, all) = ([name], ScopeOptions(scope), false)
    }

    init(_ command: ParsedCommand) throws {
        names = VariableName.arguments(of: command)
        for name in names { try VariableName.check(name) }
        options = ScopeOptions(command)
        all = command.has("all")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let resolver = ProjectResolver(workspace)
        try workspace.session.keysForWriting { index in
            for name in names { _ = try self.plan(name, resolver.existing(in: index), index) }
        }
        let index = try workspace.session.index(.listing)
        let project = try resolver.existing(in: index)
        let plan = try names.flatMap { try self.plan($0, project, index) }
        let group = try SharedProject.of(project.id, in: index)
            .flatMap {
                try GroupMembership.active(of: $0, in: workspace.session.index(.everything))
            }
        let audience = group.map { ", for everyone in \($0.name)" } ?? ""
        let lines = plan.map { step in
            step.after.isEmpty
                ? "remove \(step.key) from \(project.name) for \(step.before.description)\(audience)"
                : "remove \(step.key) from \(project.name) for \(step.dropped.description)\(audience); keep it for "
                    + step.after.description
        }
        let question =
            "Remove \(plan.count == 1 ? "it" : "them")\(workspace.followingClause)?"
        if try !workspace.confirm(lines, question) {
            return CommandResult(
                json: json(project, plan, dryRun: true),
                text: DisplayText.lines(lines, after: "Would "))
        }
        let time = workspace.context.now()
        let change = Change { index, _ in
            Plan(
                project: index.project(project.id).map { Array($0.name.utf8) },
                steps: try names.flatMap { try self.plan($0, project, index) })
        } apply: { transaction, _, news in
            for step in plan {
                guard let position = transaction.position(of: step.record) else { continue }
                if step.after.isEmpty {
                    transaction.remove(at: position, time: time)
                } else {
                    transaction.index.variables[position].attributes.scope = step.after
                    transaction.index.variables[position].updatedAt = time
                }
            }
            let vacated = names.map { name in
                PushPlan.Vacated(
                    key: name, scopes: all ? nil : plan.filter { $0.key == name }.map(\.dropped))
            }
            news.add(WrittenVariables(keys: Set(names), vacated: vacated, wasAsked: true))
        }
        try workspace.session.commit(
            change, as: Planned(Plan(project: Array(project.name.utf8), steps: plan), in: index))
        for step in plan {
            let rest = step.after.isEmpty ? "" : "; kept it for \(step.after.description)"
            workspace.note(
                "Removed \(step.key) from \(project.name) for \(step.dropped.description)\(rest).")
        }
        return CommandResult(json: json(project, plan, dryRun: false))
    }

    private struct Plan: Equatable {
        /// The bytes of its name, as the question shows it.
        let project: [UInt8]?
        let steps: [Step]
    }

    private struct Step: Equatable {
        let key: String
        let record: Identifier
        let before: Scope
        let after: Scope

        var dropped: Scope { before.subtracting(after) }
    }

    private func plan(
        _ key: String, _ project: VaultProject, _ index: VaultIndex
    ) throws -> [Step] {
        let records = try RecordSelection.all(key, in: project, of: index)
        let empty = Scope(targets: [])
        if all {
            return records.map {
                Step(key: key, record: $0.id, before: $0.attributes.scope, after: empty)
            }
        }
        guard let scope = try options.scope() else {
            let only = try RecordSelection.one(key, in: project, of: index, options)
            return [Step(key: key, record: only.id, before: only.attributes.scope, after: empty)]
        }
        let steps = records.filter { $0.attributes.scope.overlaps(scope) }.map { record in
            let rest = record.attributes.scope.subtracting(scope)
            return Step(
                key: key, record: record.id, before: record.attributes.scope,
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
            .init("project", .string(project.name)),
            .init("key", .string(orNull: names.count == 1 ? names[0] : nil)),
            .init("keys", .strings(names)),
            .init(
                "removed",
                .array(
                    plan.map { step in
                        let dropped = step.after.isEmpty ? step.before : step.dropped
                        let left = step.after.targets.names + step.after.customEnvironments
                        return .object(
                            [.init("key", .string(step.key))] + dropped.members
                                + [.init("left", .strings(left))])
                    })),
        ]
        if dryRun { members.append(.init("dryRun", true)) }
        return .object(members)
    }
}
