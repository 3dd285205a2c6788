extension VaultTransaction {
    /// Accepts changes that were made while the values were locked, by resealing their versions as
    /// part of this write. Objects that differ from `comparison` were changed after it was shown,
    /// and stay unaccepted; so do records with a value that does not open.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package mutating func accept(_ comparison: CheckpointComparison) throws(VaultError) {
        try expectValues(for: "accepting changes")
        try keepCheckpoint()
        let present = Dictionary(
            uniqueKeysWithValues: CheckpointComparison(of: index).changes.map { ($0.object, $0) })
        let shown = comparison.changes.filter {
            present[$0.object]?.currentContent == $0.currentContent
        }
        var entries: [CoveredObject: [UInt8]?] = [:]
        var records: Set<Identifier> = []
        for change in shown {
            if case .variable(let record) = change.current {
                records.insert(record.id)
            } else {
                entries[change.object] = .some(change.currentContent)
            }
        }
        if !records.isEmpty {
            records = try openableRecords(of: records)
            try mergeEqualVersions(of: records)
            try resealSealedVersions(of: records)
        }
        let versions = index.versions(of: records)
        for variable in index.variables where records.contains(variable.id) {
            entries[.variable(variable.id)] =
                AcceptedRecord(
                    of: variable, versions: (versions[variable.id] ?? []).map(\.name)
                ).content
        }
        index.checkpoint.entries = index.checkpoint.entries.replacing(entries)
        resetBaseline()
    }

    /// Applies this transaction's own changes to the checkpoint's entries (docs/vault-format.md
    /// section 9.1). What others changed stays as it was last accepted.
    mutating func keepCheckpoint() throws(VaultError) {
        var edits = CheckpointEdits(entries: index.checkpoint.entries)
        let (old, new) = (before, index)
        if old.projects != new.projects {
            edits.note(old.projects.map { .init($0) }, new.projects.map { .init($0) })
        }
        let directories = old.metadata.approvedDirectories
        if directories != new.metadata.approvedDirectories {
            edits.note(
                directories.map { .directory($0) },
                new.metadata.approvedDirectories.map { .directory($0) })
        }
        edits.note(
            old.metadata.settings.map { .setting($0) }, new.metadata.settings.map { .setting($0) })
        edits.note(old.accounts.map { .init($0) }, new.accounts.map { .init($0) })
        // Digests only what differs, because ended rotations are many and rarely change.
        let kept = old.journal == new.journal ? nil : old.journal.unchanged(in: new.journal)
        func work(_ index: VaultIndex) -> [AcceptedObject] {
            let open = kept.map { kept in index.journal.filter { !kept.contains($0.id) } } ?? []
            return open.map { .init(.open($0)) } + index.secretJournal.map { .init(.secret($0)) }
        }
        edits.note(work(old), work(new))
        for edit in recordEdits() { edits.note(edit) }
        index.checkpoint.entries = edits.result
        resetBaseline()
    }

    // MARK: Records

    /// A record before and after.
    struct Edit {
        let before: Variable?
        let after: Variable?
        /// The versions removed from it.
        var dropped: Set<Identifier> = []
        /// The versions sealed for it.
        var sealed: [VersionName] = []

        var variable: Identifier { (after ?? before)?.id ?? .random() }

        /// Whether the change affects anything that a checkpoint covers.
        var isCovered: Bool {
            guard let before, let after, dropped.isEmpty, sealed.isEmpty else { return true }
            return AcceptedRecord(of: before).content != AcceptedRecord(of: after).content
        }
    }

    /// Returns this transaction's changes to records.
    borrowing func recordEdits() -> [Edit] {
        var edits = variableEdits()
        let dropped = droppedVersions()
        if dropped.isEmpty, sealedVersions.isEmpty { return edits }
        var places = Dictionary(
            uniqueKeysWithValues: edits.indices.map { (edits[$0].variable, $0) })
        for (id, versions) in dropped {
            if places[id] == nil, let same = index.variables.first(where: { $0.id == id }) {
                places[id] = edits.count
                edits.append(Edit(before: same, after: same))
            }
            if let place = places[id] { edits[place].dropped = versions }
        }
        for version in index.storedVersions(among: sealedVersions) {
            if let place = places[version.variable] { edits[place].sealed.append(version.name) }
        }
        return edits
    }

    private borrowing func variableEdits() -> [Edit] {
        var edits: [Edit] = []
        let (found, now) = (before.variables, index.variables)
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

    /// Returns the versions that were removed, by record.
    private borrowing func droppedVersions() -> [Identifier: Set<Identifier>] {
        // Only sealing adds versions.
        guard before.versionCount + sealedVersions.count != index.versionCount else { return [:] }
        var there = Set(index.earlierVersions.map(\.id))
        for version in index.currentVersions.values { there.insert(version.id) }
        var dropped: [Identifier: Set<Identifier>] = [:]
        for version in before.earlierVersions + before.currentVersions.values
        where !there.contains(version.id) {
            dropped[version.variable, default: []].insert(version.id)
        }
        return dropped
    }
}

/// Collects changes to a checkpoint's entries.
private struct CheckpointEdits {
    let entries: CheckpointEntries
    private var contents: [CoveredObject: [UInt8]?] = [:]

    init(entries: CheckpointEntries) { self.entries = entries }

    var result: CheckpointEntries { entries.replacing(contents) }

    /// Records changes to objects that are accepted as a whole.
    mutating func note(_ before: [AcceptedObject], _ now: [AcceptedObject]) {
        var found = Dictionary(
            before.map { ($0.object, $0.content) }, uniquingKeysWith: { first, _ in first })
        for object in now {
            let (key, content) = (object.object, object.content)
            guard let old = found.removeValue(forKey: key) else {
                contents[key] = .some(content)
                continue
            }
            if old != content, let entry = entries.content(of: key), entry.elementsEqual(old) {
                contents[key] = .some(content)
            }
        }
        for key in found.keys { contents[key] = .some(nil) }
    }

    /// Records a change to a variable, field by field.
    mutating func note(_ edit: VaultTransaction.Edit) {
        let object = CoveredObject.variable(edit.variable)
        guard let after = edit.after else {
            contents[object] = .some(nil)
            return
        }
        let sealed = edit.sealed.sorted { $0.number < $1.number }
        guard let before = edit.before else {
            contents[object] = AcceptedRecord(of: after, versions: sealed).content
            return
        }
        // A record created by a locked write has no entry until it is accepted.
        guard var entry = entries.record(after.id) else { return }
        entry.change(from: AcceptedRecord(of: before), to: AcceptedRecord(of: after))
        let numbers = Set(sealed.map(\.number))
        entry.versions.removeAll { edit.dropped.contains($0.id) || numbers.contains($0.number) }
        entry.versions = (entry.versions + sealed).sorted { $0.number < $1.number }
        // Versions that vanished without being dropped with the root stay listed until then.
        let excess = entry.versions.count - AcceptedRecord.versionLimit
        if excess > 0 { entry.versions.removeFirst(excess) }
        contents[object] = entry.content
    }
}

extension [JournalEntry] {
    /// Returns the ids of entries that are unchanged in `other`.
    fileprivate func unchanged(in other: [JournalEntry]) -> Set<Identifier> {
        let found = Dictionary(map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(other.lazy.filter { found[$0.id] == $0 }.map(\.id))
    }
}

extension VaultIndex {
    /// Returns the stored versions with these ids.
    fileprivate func storedVersions(among ids: Set<Identifier>) -> [StoredVersion] {
        if ids.isEmpty { return [] }
        return currentVersions.values.filter { ids.contains($0.id) }
            + earlierVersions.filter { ids.contains($0.id) }
    }
}

extension AcceptedRecord {
    /// Applies the fields in which `new` differs from `old`, except versions.
    fileprivate mutating func change(from old: AcceptedRecord, to new: AcceptedRecord) {
        if new.project != old.project { project = new.project }
        if new.currentVersion != old.currentVersion { currentVersion = new.currentVersion }
        if new.highestVersion != old.highestVersion { highestVersion = new.highestVersion }
        if new.rotationSeconds != old.rotationSeconds { rotationSeconds = new.rotationSeconds }
        if new.isLive != old.isLive { isLive = new.isLive }
        if new.kind != old.kind { kind = new.kind }
        if new.name != old.name { name = new.name }
        if new.scope != old.scope { scope = new.scope }
        if new.remote != old.remote { remote = new.remote }
    }
}

extension [Variable] {
    /// Returns the indices at which this array differs from `other`, which must be at least as
    /// long. Compares in place, because copying a record is expensive in reference counts.
    fileprivate func indicesDiffering(from other: [Variable]) -> [Int] {
        unsafe withUnsafeBufferPointer { left in
            unsafe other.withUnsafeBufferPointer { right in
                if unsafe left.baseAddress == right.baseAddress { return [] }
                return left.indices.filter { unsafe left[$0] != right[$0] }
            }
        }
    }
}
