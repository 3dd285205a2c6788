internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Vault

/// One import: planned on an index, applied in one transaction and verified.
struct ImportWork {
    let source: PlaintextSource
    let projectName: String
    let kind: VariableAttributes.Kind?
    let wanted: Scope?
    let rule: ImportPlan.ConflictRule
    let time: UInt64
    /// What the schema declares, by key.
    let declared: [String: SchemaItem]
    /// Called every 256 keys with the number done and the total.
    var progress: (Int, Int) -> Void = { _, _ in }

    /// Returns the plan of the import without applying it.
    func planned(in vault: Vault, with keys: VaultKeys) throws -> ImportPlan {
        let index = try vault.index(with: keys, extent: .currentValues)
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        return try plan(index, reader)
    }

    private func plan(_ index: VaultIndex, _ reader: ValueReader?) throws -> ImportPlan {
        let project = index.project(named: projectName)
        let records = project.map { project in
            Dictionary(
                grouping: index.variables.filter { $0.project == project.id }, by: \.name)
        }
        let arena = SecretArena()
        let isEqual = reader.map { reader in
            { (number: Int, variable: Variable) throws -> Bool in
                guard reader.isAccepted(variable),
                    let old = try reader.currentValue(of: variable, in: arena),
                    let new = source.value(of: source.keys[number])
                else { return false }
                return old.equals(new)
            }
        }
        do {
            let plan = try ImportPlan(
                keys: source.keys, records: records ?? [:], wanted: wanted,
                rule: rule, comments: comments, kind: kind, isEqual: isEqual)
            for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
                try SensitiveScope.check(
                    entry.scope, kind, of: entry.key, among: records?[entry.key] ?? [])
            }
            return plan
        } catch ImportPlan.Refusal.ambiguous(let keys) {
            throw CommandError(
                .usage, "Several values exist for \(VariableName.list(keys)).",
                hint: "Nothing was imported. Choose the targets with -t.")
        } catch ImportPlan.Refusal.conflict(let keys) {
            throw CommandError(
                .conflict, "Already in the vault: \(VariableName.list(keys)).",
                hint: "Nothing was imported. Use --on-conflict overwrite or --on-conflict skip.")
        }
    }

    /// The comments to import, by key.
    private var comments: [String: String] {
        source.comments.compactMapValues { comment in
            comment.text.isEmpty || comment.text.utf8.count > VaultFormat.commentLimit
                ? nil : comment.text
        }
    }

    func apply(to transaction: inout VaultTransaction) throws -> ImportPlan {
        let plan = try plan(transaction.index, transaction.values)
        let project = transaction.project(named: projectName, at: time).project
        var records = Dictionary(
            grouping: transaction.index.variables.indices.filter {
                transaction.index.variables[$0].project == project.id
            }, by: { transaction.index.variables[$0].name })
        let comments = comments
        for (number, entry) in plan.entries.enumerated() {
            if number.isMultiple(of: 256) { progress(number, plan.entries.count) }
            guard entry.fate == .created || entry.fate == .updated else { continue }
            let positions = records.removeValue(forKey: entry.key) ?? []
            guard let value = source.value(of: entry.key) else { continue }
            let position = try assign(entry, project.id, positions, in: &transaction)
            let declared = entry.fate == .created ? declared[entry.key]?.comment : nil
            if let comment = comments[entry.key] ?? declared {
                transaction.index.variables[position].attributes.comment = comment
            }
            if let kind { transaction.index.variables[position].attributes.kind = kind }
            if entry.keepsValue {
                transaction.index.variables[position].updatedAt = time
                continue
            }
            try value.withBytes { bytes in
                _ = try transaction.store(bytes, forVariableAt: position, at: time)
            }
        }
        return plan
    }

    private func assign(
        _ entry: ImportPlan.Entry, _ project: Identifier, _ positions: [Int],
        in transaction: inout VaultTransaction
    ) throws -> Int {
        let live = positions.filter { transaction.index.variables[$0].isLive }
        if let exact = live.first(where: {
            transaction.index.variables[$0].attributes.scope == entry.scope
        }) {
            return exact
        }
        return transaction.assign(
            entry.scope, to: entry.key, of: project,
            records: positions.map { transaction.index.variables[$0] },
            kind: kind, declared: declared[entry.key]?.kind(in: entry.scope), at: time
        ).position
    }

    /// Verifies every chunk of the vault and, if values are unlocked, compares every imported value
    /// with the file's.
    func verify(_ vault: Vault, with keys: VaultKeys) throws {
        try vault.verify(with: keys)
        guard keys.opensValues else { return }
        let plan = try planned(in: vault, with: keys)
        let different = plan.entries.filter { $0.fate == .created || $0.fate == .updated }
        guard different.isEmpty || rule != .overwrite else {
            throw CommandError(
                .failed, "The vault does not contain the imported values.",
                hint: "The files were not deleted. Run the import again.")
        }
    }
}
