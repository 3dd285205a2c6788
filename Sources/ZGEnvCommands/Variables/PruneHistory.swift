internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `history prune`: drops old versions for good.
struct PruneHistory: Command {
    static let spec = CommandSpec(
        ["history", "prune"], "Drop old versions of a variable for good", section: "Variables",
        discussion: """
            Keeps the newest versions, and always the current one, those younger than 30 days, and \
            the one that the platform has. Copies of the vault keep what they have.
            """,
        arguments: [ArgumentSpec("KEY", .one, "The variable", completion: .dynamic(.variable))],
        options: [
            OptionSpec(
                "keep", value: "N", "Keep this many versions: 10, or what history-keep says",
                form: .integer(1...10_000))
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let key: String
    private let keep: Int?

    init(_ command: ParsedCommand) throws {
        key = command.required("KEY")
        try VariableName.check(key)
        keep = command.integer("keep")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = index.variables.filter { $0.project == project.id && $0.name == key }
        guard !records.isEmpty else { throw RecordSelection.notFound(key, project, index) }
        let time = workspace.context.now()
        let keep = try self.keep ?? Settings(workspace.context).number(.historyKeep) ?? 10
        func prunable(_ index: VaultIndex) -> [StoredVersion] {
            index.variables.filter { $0.project == project.id && $0.name == key }.flatMap {
                History(of: $0, in: index).prunable(keeping: keep, at: time) {
                    !keys.opensValues || index.accepts($0)
                }
            }
        }
        let planned = prunable(index)
        func result(_ versions: [StoredVersion], dryRun: Bool) -> CommandResult {
            let numbers = versions.map { JSONValue.integer(Int64(clamping: $0.version)) }
            return CommandResult(
                json: [
                    "key": .string(key), "project": .string(project.name),
                    "pruned": .array(numbers), "dryRun": .bool(dryRun),
                ],
                text: versions.isEmpty
                    ? "Nothing to prune.\n"
                    : versions.map {
                        "\(dryRun ? "Would drop" : "Dropped") version \($0.version) of \(DisplayText.safe(key))\n"
                    }.joined())
        }
        let lines = planned.map { "drop version \($0.version) of \(key) for good" }
        let answer = try workspace.confirm(lines, "Drop them?")
        if !answer { return result(planned, dryRun: true) }
        if planned.isEmpty { return result([], dryRun: false) }
        let dropped = try workspace.session.update(with: keys) { transaction in
            // Looked for again under the lock: what was pushed or set meanwhile must stay.
            let still = prunable(transaction.index).filter { version in
                planned.contains {
                    $0.variable == version.variable && $0.version == version.version
                }
            }
            transaction.erase(still)
            return still
        }
        return result(dropped, dryRun: false)
    }
}
