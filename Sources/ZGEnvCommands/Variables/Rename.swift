internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Vault

/// `rename`: gives a key another name, history and all.
struct Rename: Command {
    static let spec = CommandSpec(
        ["rename"], "Give a variable another name", section: "Variables",
        discussion: """
            Works while values are locked. The next push renames it on the platform. A sensitive variable \
            needs a value for that. Names that were swapped arrive with one push.
            """,
        arguments: [
            ArgumentSpec("KEY", .one, "The variable", completion: .dynamic(.variable)),
            ArgumentSpec("NEW", .one, "Its new name"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    /// Refuses what the next push could not do: Vercel renames no sensitive variable, so that it is created
    /// under its new name.
    private func checkValues(of records: [Variable], _ project: VaultProject) throws {
        let stuck = records.first {
            $0.currentVersion == 0 && $0.remote?.agreed.kind == .sensitive
        }
        guard let stuck else { return }
        let options = records.count == 1 ? "" : stuck.attributes.scope.optionText
        throw CommandError(
            .conflict,
            "Vercel renames no sensitive variable, and the vault has no value of \(stuck.name) to create it with.",
            hint:
                "Nothing was changed. Give it a value first with: zg-env set \(word: stuck.name) -p \(word: project.name)\(options)"
        )
    }

    private let key: String
    private let new: String

    init(_ command: ParsedCommand) throws {
        key = command.required("KEY")
        new = command.required("NEW")
        try VariableName.check(key)
        try VariableName.check(new)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        func check(_ index: VaultIndex) throws {
            let records = index.variables(of: project.id, named: key)
            guard !records.isEmpty else {
                throw RecordSelection.notFound(key, project, index)
            }
            try checkValues(of: records, project)
            guard key == new || index.variables(of: project.id, named: new).isEmpty else {
                throw CommandError(
                    .conflict,
                    "\(project.name) has a variable \(new) already.",
                    hint: "Nothing was changed. Remove it first, or choose another name.")
            }
        }
        try check(index)
        if !VariableName.isPortable(new) {
            workspace.context.warn(
                "name-not-portable", "\(new) is no name that every shell and the platform take.")
        }
        if !workspace.options.dryRun {
            let time = workspace.context.now()
            try workspace.session.update(with: keys) { transaction in
                try check(transaction.index)
                for record in transaction.index.variables(of: project.id, named: key) {
                    guard let position = transaction.position(of: record.id) else { continue }
                    transaction.rename(at: position, to: new, time: time)
                }
            }
            workspace.note("Renamed \(key) of \(project.name) to \(new).")
        }
        return CommandResult(json: [
            "project": .string(project.name), "key": .string(new), "was": .string(key),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}
