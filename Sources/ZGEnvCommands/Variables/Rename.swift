internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

struct Rename: Command {
    static let spec = CommandSpec(
        ["rename"], "Rename a variable",
        discussion: """
            Keeps the history. The next push creates it under the new name on Vercel and deletes the \
            old one; for that, the vault needs its value. One push can swap two names.
            """,
        arguments: [
            VariableName.argument,
            ArgumentSpec("NEW", .one, "Its new name"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict, .unauthorized))
    static let fields = "project, key, was: string; dryRun: boolean"

    /// Refuses a rename that the next push could not make: a push creates the variable under its new
    /// name, which needs a value.
    private func checkValues(of records: [Variable], _ project: VaultProject) throws {
        let stuck = records.first { $0.currentVersion == 0 && $0.remote != nil }
        guard let stuck else { return }
        let options = records.count == 1 ? "" : stuck.attributes.scope.optionText
        throw CommandError(
            .conflict,
            "\(stuck.name) cannot be created on Vercel under a new name, because the vault has no value for it.",
            hint:
                "Set the value first: zg-env set \(word: stuck.name) -p \(word: project.name)\(options)"
        )
    }

    private let key: String
    private let new: String

    init(_ command: ParsedCommand) throws {
        key = try VariableName.argument(of: command)
        new = command.required("NEW")
        try VariableName.check(new)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let resolver = ProjectResolver(workspace)
        func check(_ index: VaultIndex) throws {
            let project = try resolver.existing(in: index)
            try checkValues(of: try RecordSelection.all(key, in: project, of: index), project)
            guard key == new || index.variables(of: project.id, named: new).isEmpty else {
                throw CommandError(
                    .conflict,
                    "\(project.name) already has a variable \(new).",
                    hint: "Remove it first, or choose another name.")
            }
        }
        try workspace.session.keysForWriting(checking: check)
        let index = try workspace.session.index(.listing)
        let project = try resolver.existing(in: index)
        try check(index)
        if index.variables(of: project.id, named: key).contains(where: {
            $0.attributes.kind == .sensitive
        }) {
            try SensitiveScope.check(publicName: new)
        }
        VariableName.warnUnlessPortable(new, workspace.context)
        if !workspace.options.dryRun {
            let time = workspace.context.now()
            let raised = try workspace.session.commit { transaction, _ in
                try check(transaction.index)
                let former = transaction.index.records(of: project.id, named: new)
                var raised = false
                // Removed records go along: their versions are those of the variable.
                let positions = transaction.index.variables.indices.filter {
                    let record = transaction.index.variables[$0]
                    return record.project == project.id && record.name == key && !record.isTrace
                }
                try transaction.rename(at: positions, to: new, time: time)
                for position in positions where key != new {
                    let isKept = try transaction.keepType(of: former, at: position, time: time)
                    raised = raised || isKept
                }
                return raised
            }
            if raised {
                workspace.note("\(new) was sensitive in this vault before, and is sensitive again.")
            }
            workspace.note("Renamed \(key) in \(project.name) to \(new).")
        }
        return CommandResult(json: [
            "project": .string(project.name), "key": .string(new), "was": .string(key),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}
