internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Vault

/// One import: planned on an index, applied in one transaction and verified.
struct ImportWork {
    var content: ImportContent
    let projectName: String
    let kind: VariableAttributes.Kind?
    let rule: ImportPlan.ConflictRule
    let time: UInt64
    /// What the schema declares, by key.
    let declared: [String: SchemaItem]
    /// Which empty values may replace others.
    var empty: EmptyValues
    /// Called every 256 keys with the number done and the total.
    var progress: (Int, Int) -> Void = { _, _ in }

    /// The scope of new keys that nothing gives targets.
    static func standard(_ kind: VariableAttributes.Kind?, _ index: VaultIndex) -> Scope {
        Scope.standard(kind, among: [], standard: DefaultType.deployed("", index))
    }

    /// Returns the plan of the import without applying it.
    ///
    /// - Throws: ``EmptyValues/Refusal``.
    func planned(in vault: Vault, with keys: VaultKeys) throws -> ImportPlan {
        let index = try vault.index(with: keys, extent: .currentValues)
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        return try plan(index, reader)
    }

    /// Returns whether a file without a target of its own has anything new; true if that is not known.
    func changesOpenFiles(_ vault: Vault, _ keys: VaultKeys) -> Bool {
        var work = self
        work.empty = empty.allowingAll
        guard let plan = try? work.planned(in: vault, with: keys) else { return true }
        return plan.entries.contains {
            $0.fate != .unchanged && content.targets.isOpen(content.items[$0.number].file)
        }
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
                guard let old = try reader.currentValue(of: variable, in: arena)
                else { return false }
                return old.equals(content.items[number].value)
            }
        }
        do {
            let plan = try ImportPlan(
                candidates: content.candidates(), records: records ?? [:], rule: rule,
                kind: kind, standard: { DefaultType.deployed($0, index) }, isEqual: isEqual)
            for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
                try SensitiveScope.check(
                    entry.scope, isNamed: content.targets.areNamed, of: entry.key,
                    among: records?[entry.key] ?? [], AssignmentWishes(kind: kind))
            }
            try checkEmpty(plan, records ?? [:]) { variable in
                try reader?.isEmpty(variable, in: arena) == true
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

    /// Refuses empty values in place of others: a file often has them for what its writer could not
    /// read.
    ///
    /// - Parameter isEmpty: Returns whether a record is known to have an empty value.
    private func checkEmpty(
        _ plan: ImportPlan, _ records: [String: [Variable]], isEmpty: (Variable) throws -> Bool
    ) throws {
        let keys = try plan.entries.filter { entry in
            guard entry.fate == .updated, !entry.keepsValue,
                content.items[entry.number].value.count == 0
            else { return false }
            return try (records[entry.key] ?? []).contains { record in
                try record.isLive && record.attributes.scope.overlaps(entry.scope)
                    && !isEmpty(record)
            }
        }.map(\.key)
        try empty.check(keys)
    }

    func apply(to transaction: inout VaultTransaction) throws -> ImportPlan {
        let plan = try empty.planning { _ in
            try self.plan(transaction.index, transaction.values)
        }
        let project = transaction.project(named: projectName, at: time).project
        var records = Dictionary(
            grouping: transaction.index.variables.indices.filter {
                transaction.index.variables[$0].project == project.id
            }, by: { transaction.index.variables[$0].name })
        let candidates = content.candidates()
        for (number, entry) in plan.entries.enumerated() {
            if number.isMultiple(of: 256) { progress(number, plan.entries.count) }
            guard entry.fate == .created || entry.fate == .updated else { continue }
            let declared = declared[entry.key]
            let wishes = AssignmentWishes(
                kind: kind,
                comment: candidates[entry.number].comment
                    ?? (entry.fate == .created ? declared?.comment : nil),
                declared: declared?.kind(in: entry.scope))
            let positions = records[entry.key] ?? []
            if entry.keepsValue {
                transaction.revise(positions, in: entry.scope, wishes, at: time)
                continue
            }
            let edits = try content.items[entry.number].value.withBytes { bytes in
                try transaction.assign(
                    bytes, to: entry.scope, of: entry.key, in: project.id, records: positions,
                    wishes, at: time)
            }
            records[entry.key, default: []] += edits.filter(\.isNew).map(\.position)
        }
        return plan
    }

    /// Verifies every chunk of the vault, and compares every imported value with the file's.
    func verify(_ vault: Vault, with keys: VaultKeys) throws {
        try vault.verify(with: keys)
        var work = self
        work.empty = empty.allowingAll
        let plan = try work.planned(in: vault, with: keys)
        let different = plan.entries.filter { $0.fate == .created || $0.fate == .updated }
        guard different.isEmpty || rule != .overwrite else {
            throw CommandError(
                .failed, "The vault does not contain the imported values.",
                hint: "The files were not deleted. Run the import again.")
        }
    }
}
