internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

struct PruneHistory: Command {
    static let spec = CommandSpec(
        ["history", "prune"], "Permanently delete old versions of a variable",
        discussion: """
            Always keeps the current version, versions less than 30 days old, and the version that \
            is on Vercel. Copies of the vault are not changed.
            """,
        arguments: [VariableName.argument],
        options: [
            OptionSpec(
                "keep", value: "N",
                "Keep the newest N versions (default 10, or the history-keep setting)",
                form: .integer(1...10_000))
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = "key, project: string; pruned: [number]; dryRun: boolean"

    private let key: String
    private let keep: Int?

    init(_ command: ParsedCommand) throws {
        key = try VariableName.argument(of: command)
        keep = command.integer("keep")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let resolver = ProjectResolver(workspace)
        let keys = try workspace.session.keysForWriting { index in
            let project = try resolver.existing(in: index)
            if index.records(of: project.id, named: key).isEmpty {
                throw RecordSelection.notFound(key, project, index)
            }
        }
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let project = try resolver.existing(in: index)
        let records = index.variables.filter { $0.project == project.id && $0.name == key }
        guard !records.isEmpty else { throw RecordSelection.notFound(key, project, index) }
        let time = workspace.context.now()
        let keep = try self.keep ?? Settings(workspace.context).number(.historyKeep) ?? 10
        func prunable(_ index: VaultIndex) -> [StoredVersion] {
            index.variables.filter { $0.project == project.id && $0.name == key }.flatMap {
                History(of: $0, in: index).prunable(keeping: keep, at: time)
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
                        "\(dryRun ? "Would delete" : "Deleted") version \($0.version) of \(DisplayText.safe(key))\n"
                    }.joined())
        }
        let lines = planned.map { "permanently delete version \($0.version) of \(key)" }
        let question = planned.count == 1 ? "Delete it?" : "Delete them?"
        let answer = try workspace.confirm(lines, question)
        if !answer { return result(planned, dryRun: true) }
        if planned.isEmpty { return result([], dryRun: false) }
        let change = Change { index, _ in
            prunable(index).map(\.id)
        } apply: { transaction, _, _ in
            transaction.erase(prunable(transaction.index))
        }
        try workspace.session.commit(change, as: Planned(planned.map(\.id), in: index))
        return result(planned, dryRun: false)
    }
}
