extension VaultTransaction {
    /// Takes changes that were made while the values were locked for those of the user. What differs
    /// from what `comparison` shows was changed since it was shown, and stays listed.
    ///
    /// Comes before other changes of the same transaction.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package mutating func accept(_ comparison: CheckpointComparison) throws(VaultError) {
        guard keys.opensValues else {
            throw VaultError(.wrongPassphrase, "accepting changes needs the values open")
        }
        let shown = Dictionary(
            uniqueKeysWithValues: comparison.changes.map { ($0.variable, $0.current) })
        var current: [Identifier: Checkpoint.Entry] = [:]
        for variable in index.variables where variable.isLive && shown[variable.id] != nil {
            current[variable.id] = Checkpoint.Entry(of: variable)
        }
        let accepted = shown.filter { current[$0.key] == $0.value }
        guard !accepted.isEmpty else { return }
        let kept = (index.checkpoint?.entries ?? []).filter { accepted[$0.variable] == nil }
        let entries = (kept + accepted.values.compactMap { $0 })
            .sorted { $0.variable < $1.variable }
        // The code is made when it is written.
        index.checkpoint = Checkpoint(
            generation: header.generation,
            authenticationCode: [UInt8](repeating: 0, count: 32), entries: entries)
    }

    /// What this transaction does to records: as they were, and as they will be.
    borrowing func edits() -> [Edit] {
        var edits: [Edit] = []
        let now = index.variables
        let isAligned =
            found.count <= now.count && found.indices.allSatisfy { found[$0].id == now[$0].id }
        if isAligned {
            for position in found.indicesDiffering(from: now) {
                edits.append(Edit(before: found[position], after: now[position]))
            }
            edits += now[found.count...].map { Edit(before: nil, after: $0) }
            return edits
        }
        var before = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
        for variable in now {
            let old = before.removeValue(forKey: variable.id)
            if old != variable { edits.append(Edit(before: old, after: variable)) }
        }
        return edits + before.values.map { Edit(before: $0, after: nil) }
    }

    /// The entries of the next checkpoint: those there are, with what this transaction does to their
    /// records. What somebody else changed stays as it was accepted.
    borrowing func checkpointEntries(after edits: [Edit]) -> [Checkpoint.Entry] {
        let entries = index.checkpoint?.entries ?? []
        guard !edits.isEmpty else { return entries }
        let byID = Dictionary(uniqueKeysWithValues: edits.map { ($0.variable, $0) })
        let known = Set(entries.map(\.variable))
        var next = entries.compactMap { entry in
            byID[entry.variable].map { $0.accepted(over: entry) } ?? entry
        }
        next += edits.filter { !known.contains($0.variable) }.compactMap { $0.accepted(over: nil) }
        return next.sorted { $0.variable < $1.variable }
    }

    /// One record before and after.
    struct Edit {
        let before: Variable?
        let after: Variable?

        var variable: Identifier { (after ?? before)?.id ?? .random() }

        /// The entry that follows from `entry` when the holder of the root does this.
        func accepted(over entry: Checkpoint.Entry?) -> Checkpoint.Entry? {
            guard let after, after.isLive else {
                return before?.isLive == true ? nil : entry
            }
            let new = Checkpoint.Entry(of: after)
            guard let before else { return new }
            if entry == nil { return before.isLive ? nil : new }
            return entry?.with(what: new, changedOf: Checkpoint.Entry(of: before))
        }
    }
}

extension [Variable] {
    /// Where this array and the front of `other`, which is at least as long, differ. Compared in
    /// place: a record is large, and costs reference counts wherever it moves.
    fileprivate func indicesDiffering(from other: [Variable]) -> [Int] {
        unsafe withUnsafeBufferPointer { left in
            unsafe other.withUnsafeBufferPointer { right in
                if unsafe left.baseAddress == right.baseAddress { return [] }
                return left.indices.filter { unsafe left[$0] != right[$0] }
            }
        }
    }
}

extension Checkpoint.Entry {
    /// This entry with the fields in which `new` differs from `old`.
    fileprivate func with(
        what new: Checkpoint.Entry, changedOf old: Checkpoint.Entry
    ) -> Checkpoint.Entry {
        var next = self
        if new.project != old.project { next.project = new.project }
        if new.name != old.name { next.name = new.name }
        if new.currentVersion != old.currentVersion { next.currentVersion = new.currentVersion }
        if new.kind != old.kind { next.kind = new.kind }
        if new.scope != old.scope { next.scope = new.scope }
        if new.remoteID != old.remoteID { next.remoteID = new.remoteID }
        if new.account != old.account { next.account = new.account }
        return next
    }
}
