internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

struct RestoreVersion: Command {
    static let changesVariables = true
    static let spec = CommandSpec(
        ["restore-version"], "Restore an earlier value of a variable",
        discussion:
            "The restored value becomes a new version. Also restores removed variables.",
        arguments: [
            VariableName.argument,
            ArgumentSpec(
                "N", .one, "The version, as listed by zg-env history",
                form: .integer(1...Int.max)),
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch, EmptyValues.option,
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
    private let allowsEmpty: Bool

    /// Restores a version of the variable with this scope.
    init(_ number: UInt64, of key: String, in scope: Scope) {
        (self.key, self.number, options) = (key, number, ScopeOptions(scope))
        allowsEmpty = false
    }

    init(_ command: ParsedCommand) throws {
        key = try VariableName.argument(of: command)
        number = UInt64(command.required("N")) ?? 0
        options = ScopeOptions(command)
        allowsEmpty = command.has("allow-empty")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let resolver = ProjectResolver(workspace)
        _ = try resolver.reference()
        let keys = try workspace.session.keys(.values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        let project = try resolver.existing(in: index)
        try checkPlace(project, index)
        let record = try RecordSelection.one(
            key, withVersion: number, in: project, of: index, options)
        try options.checkContains(record)
        guard let version = History(of: record, in: index).version(number),
            let reader = try ValueReader(vault: vault, index: index, keys: keys)
        else {
            throw CommandError(
                .notFound, "\(key) has no version \(number).",
                hint: "List the versions with: zg-env history \(word: key)")
        }
        let value = try reader.value(of: record, version, in: SecretArena())
        var empty = EmptyValues(
            "Nothing was restored.", "Restore the empty value?", isAllowed: allowsEmpty)
        try empty.asking(workspace) { try check(value, over: record, reader, $0) }
        let result = CommandResult(json: [
            "key": .string(key), "project": .string(project.name),
            "restored": .integer(Int64(clamping: number)),
            "dryRun": .bool(workspace.options.dryRun),
        ])
        if workspace.options.dryRun { return result }
        try workspace.session.commit { transaction, news in
            try empty.planning { empty in
                guard let position = transaction.position(of: record.id) else { return }
                try check(
                    value, over: transaction.index.variables[position], transaction.values, empty)
            }
            let restored = try restore(
                value, of: record, project, workspace.context.now(), &transaction)
            news.add(
                WrittenVariables(
                    keys: [key], atHand: [record.id: .init(version: restored, value: value)]))
        }
        workspace.note(
            "Restored version \(number) of \(key) for \(record.attributes.scope.description).")
        return result
    }

    private func check(
        _ value: SecretSlice, over record: Variable, _ reader: ValueReader, _ empty: EmptyValues
    ) throws {
        guard try value.count == 0 && record.isLive && !reader.isEmpty(record, in: SecretArena())
        else { return }
        try empty.check([key])
    }

    /// Refuses a version that only values for other targets have, as after `set -t`: it cannot be
    /// restored where it is not a version.
    private func checkPlace(_ project: VaultProject, _ index: VaultIndex) throws {
        guard let scope = try options.scope() else { return }
        let having = index.records(of: project.id, named: key)
            .filter { History(of: $0, in: index).version(number) != nil }
        guard let other = having.first(where: \.isLive),
            !having.contains(where: { $0.attributes.scope.overlaps(scope) })
        else { return }
        let names = "\(word: key) -p \(word: project.name)"
        let place = ScopeOptions(placeIn: other.attributes.scope)
        let source = "\(names)\(try place.scope()?.optionText ?? "")"
        let target = scope.targets.names + scope.customEnvironments
        let canCopy =
            other.currentVersion == number && target.count == 1 && scope.branch == nil
        throw CommandError(
            .usage,
            "Version \(number) of \(key) is a value for \(other.attributes.scope.description), not for \(scope.description).",
            hint: canCopy
                ? "To use it there too, run: zg-env copy \(source) --to-target \(word: target[0])"
                : "To use it there too, run: zg-env reveal \(source) --version \(number) | zg-env set \(names)\(scope.optionText) --raw"
        )
    }

    /// Returns the number of the new version.
    private func restore(
        _ value: SecretSlice, of record: Variable, _ project: VaultProject, _ time: UInt64,
        _ transaction: inout VaultTransaction
    ) throws -> UInt64 {
        guard let position = transaction.position(of: record.id) else {
            throw RecordSelection.notFound(key, project, transaction.index)
        }
        if !transaction.index.variables[position].isLive {
            let taken = transaction.index.variables(of: project.id, named: key).contains {
                $0.attributes.scope.overlaps(record.attributes.scope)
            }
            guard !taken else {
                throw CommandError(
                    .conflict, "\(key) now has a different value for the same targets.",
                    hint:
                        "Remove that value first, or set the value again with: zg-env set \(word: key)"
                )
            }
            // Vercel has nothing left of it: the next push creates it there.
            if transaction.index.variables[position].isRemovedEverywhere {
                transaction.index.variables[position].remote = nil
            }
            transaction.index.variables[position].deletedAt = nil
        }
        let restored = try value.withBytes { bytes in
            try transaction.store(bytes, forVariableAt: position, at: time)
        }
        // What is known of this value on Vercel holds for the new version too.
        if let earlier = transaction.index.variables[position].remote?.earlier,
            earlier.version == number
        {
            transaction.index.variables[position].remote?.earlier = .init(
                version: restored, from: earlier.from, until: earlier.until)
        }
        return restored
    }
}
