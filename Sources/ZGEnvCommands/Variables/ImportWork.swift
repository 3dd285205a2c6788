internal import EnvOperations
internal import Sealing
internal import Vault

/// The work of one import: planned on an index, applied in one transaction, read back.
struct ImportWork {
    let source: PlaintextSource
    let projectName: String
    let kind: VariableAttributes.Kind?
    let wanted: Scope?
    let rule: ImportPlan.ConflictRule
    let time: UInt64
    /// Told now and then how many of how many keys are done.
    var progress: (Int, Int) -> Void = { _, _ in }

    /// Where new keys go when no target is named.
    private var standard: Scope {
        Scope(targets: kind == .sensitive ? [.production, .preview] : .all)
    }

    /// What an import would do, without doing it.
    func planned(in vault: Vault, with keys: VaultKeys) throws -> ImportPlan {
        let index = try vault.index(with: keys, extent: .currentValues)
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        return try plan(index, reader)
    }

    private func plan(_ index: VaultIndex, _ reader: ValueReader?) throws -> ImportPlan {
        let project = index.project(named: projectName)
        let records = project.map { project in
            Dictionary(
                grouping: index.variables.filter { $0.project == project.id && $0.isLive },
                by: \.name)
        }
        let arena = SecretArena()
        let isEqual = reader.map { reader in
            { (number: Int, variable: Variable) throws -> Bool in
                guard reader.isAccepted(variable),
                    let old = try reader.currentValue(of: variable, in: arena),
                    let new = source.value(of: source.keys[number])
                else { return false }
                return old.withBytes { old in new.withBytes { old.isEqualInConstantTime(to: $0) } }
            }
        }
        do {
            let plan = try ImportPlan(
                keys: source.keys, records: records ?? [:], wanted: wanted, standard: standard,
                rule: rule, comments: comments, isEqual: isEqual)
            for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
                try SensitiveScope.check(entry.scope, kind, among: records?[entry.key] ?? [])
            }
            return plan
        } catch ImportPlan.Refusal.ambiguous(let keys) {
            throw CommandError(
                .usage, "These have several values: \(list(keys)).",
                hint: "Nothing was imported. Name the targets you mean with -t.")
        } catch ImportPlan.Refusal.conflict(let keys) {
            throw CommandError(
                .conflict, "These are there already: \(list(keys)).",
                hint: "Nothing was imported. Say --on-conflict overwrite or skip.")
        }
    }

    /// The comments that become those of variables.
    private var comments: [String: String] {
        source.comments.compactMapValues { comment in
            comment.text.isEmpty || comment.text.utf8.count > VaultFormat.commentLimit
                ? nil : comment.text
        }
    }

    private func list(_ keys: [String]) -> String {
        let shown = keys.prefix(10).joined(separator: ", ")
        return keys.count > 10 ? "\(shown) and \(keys.count - 10) more" : shown
    }

    /// Does it.
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
            if let comment = comments[entry.key] {
                transaction.index.variables[position].attributes.comment = comment
            }
            if entry.keepsValue {
                transaction.index.variables[position].updatedAt = time
                continue
            }
            if let kind { transaction.index.variables[position].attributes.kind = kind }
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
            records: positions.map { transaction.index.variables[$0] }, kind: kind ?? .encrypted,
            at: time
        ).position
    }

    /// Reads the vault back: every chunk against its hash and, where the values are open, every
    /// imported value against the file's.
    func verify(_ vault: Vault, with keys: VaultKeys) throws {
        try vault.verify(with: keys)
        guard keys.opensValues else { return }
        let plan = try planned(in: vault, with: keys)
        let different = plan.entries.filter { $0.fate == .created || $0.fate == .updated }
        guard different.isEmpty || rule != .overwrite else {
            throw CommandError(
                .failed, "The vault does not hold what was imported.", hint: "The files were kept.")
        }
    }
}
