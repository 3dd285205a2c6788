internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

struct RestoreVersion: Command {
    static let changesVariables = true
    static let spec = CommandSpec(
        ["restore-version"], "Restore an earlier value of a variable",
        discussion: """
            Without -t, restores it for the targets that have a value, or had one last. Also \
            restores removed variables.
            """,
        arguments: [
            VariableName.argument,
            ArgumentSpec(
                "N", .one, "The version, as listed by zg-env history",
                form: .integer(1...Int.max)),
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch, TypeOption.spec, EmptyValues.option,
        ],
        examples: [
            .init("zg-env restore-version API_KEY 3", "use the value of version 3 again"),
            .init(
                "zg-env restore-version API_KEY 3 --push --redeploy", "and make it live on Vercel"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel)
    static let fields =
        "key, project: string; restored: number; dryRun: boolean"

    private let key: String
    private let number: UInt64
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private let allowsEmpty: Bool

    /// Restores a version of the variable for this scope.
    init(_ number: UInt64, of key: String, in scope: Scope) {
        (self.key, self.number, options) = (key, number, ScopeOptions(scope))
        (kind, allowsEmpty) = (nil, false)
    }

    init(_ command: ParsedCommand) throws {
        key = try VariableName.argument(of: command)
        number = UInt64(command.required("N")) ?? 0
        options = ScopeOptions(command)
        kind = TypeOption.kind(command)
        allowsEmpty = command.has("allow-empty")
    }

    /// Where the value is restored.
    private struct Plan: Equatable {
        let project: Identifier
        let scopes: [Scope]
        /// A removed record that goes on, since no other one took a target of it.
        let revived: Identifier?
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let resolver = ProjectResolver(workspace)
        _ = try resolver.reference()
        let keys = try workspace.session.keys(.values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        let project = try resolver.existing(in: index)
        let reader = try ValueReader.required(vault, index, keys)
        var empty = EmptyValues(
            "Nothing was restored.", "Restore the empty value?", isAllowed: allowsEmpty)
        let planned = Planned(
            try empty.asking(workspace) { try plan(project, index, reader, $0) }, in: index)
        let result = CommandResult(json: [
            "key": .string(key), "project": .string(project.name),
            "restored": .integer(Int64(clamping: number)),
            "dryRun": .bool(workspace.options.dryRun),
        ])
        if workspace.options.dryRun { return result }
        let time = workspace.context.now()
        let change = Change { [empty] index, reader in
            try empty.planning { try plan(project, index, reader, $0) }
        } apply: { transaction, plan, news in
            let restored = try restore(plan, project, at: time, &transaction)
            news.add(WrittenVariables(keys: [key], atHand: restored))
        }
        try workspace.session.commit(change, as: planned)
        let places = planned.plan.scopes.map(\.description).joined(separator: "; ")
        workspace.note("Restored version \(number) of \(key) for \(places).")
        return result
    }

    private func plan(
        _ project: VaultProject, _ index: VaultIndex, _ reader: ValueReader, _ empty: EmptyValues
    ) throws -> Plan {
        let having = try RecordSelection.having(
            version: number, of: key, in: project, of: index)
        let records = index.records(of: project.id, named: key)
        let live = records.filter(\.isLive)
        var scopes: [Scope]
        if let wanted = try options.scope() {
            scopes = [wanted]
        } else if live.isEmpty {
            let last = having.map(\.record).filter { $0.currentVersion == number }
            scopes = RecordSelection.scopes(of: last.isEmpty ? having.map(\.record) : last)
        } else {
            scopes = try RecordSelection.scopesOfOneValue(key, live, in: project.name)
        }
        let replaced = live.filter { record in
            scopes.contains { $0.overlaps(record.attributes.scope) }
        }
        for scope in scopes {
            try SensitiveScope.check(
                scope, isNamed: !options.isEmpty, of: key, among: records,
                AssignmentWishes(kind: kind, sources: having.map(\.record)))
        }
        let arena = SecretArena()
        let (source, version) = having[0]
        if try reader.value(of: source, version, in: arena).count == 0,
            try !replaced.allSatisfy({ try reader.isEmpty($0, in: arena) })
        {
            try empty.check([key])
        }
        let revived = having.map(\.record).first { record in
            !record.isLive && scopes == [record.attributes.scope]
        }
        return Plan(
            project: project.id, scopes: scopes, revived: replaced.isEmpty ? revived?.id : nil)
    }

    /// - Returns: The value by record.
    private func restore(
        _ plan: Plan, _ project: VaultProject, at time: UInt64,
        _ transaction: inout VaultTransaction
    ) throws -> [Identifier: PushValues.Held] {
        let having = try RecordSelection.having(
            version: number, of: key, in: project, of: transaction.index)
        let value = try transaction.values.value(
            of: having[0].record, having[0].version, in: SecretArena())
        if let position = plan.revived.flatMap({ transaction.position(of: $0) }) {
            // Vercel has nothing left of it: the next push creates it there.
            if transaction.index.variables[position].isRemovedEverywhere {
                transaction.index.variables[position].remote = nil
            }
            transaction.index.variables[position].deletedAt = nil
        }
        var held: [Identifier: PushValues.Held] = [:]
        for scope in plan.scopes {
            let edits = try value.withBytes { bytes in
                try transaction.assign(
                    bytes, as: number, to: scope, of: key, in: project.id,
                    AssignmentWishes(kind: kind, sources: having.map(\.record)), at: time)
            }
            for edit in edits {
                let record = transaction.index.variables[edit.position]
                held[record.id] = .init(version: record.currentVersion, value: value)
            }
        }
        return held
    }
}
