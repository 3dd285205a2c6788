extension VaultTransaction {
    /// Renames a record, even while the values are locked.
    ///
    /// A value's seal covers the name, so existing versions remember the name under which they were
    /// sealed.
    package mutating func rename(at position: Int, to name: String, time: UInt64) {
        let variable = index.variables[position]
        guard variable.name != name else { return }
        keepSealedName(of: variable)
        index.variables[position].name = name
        index.variables[position].updatedAt = time
    }

    /// Moves a record to another project, with its history.
    package mutating func move(at position: Int, to project: Identifier, time: UInt64) {
        keepSealedName(of: index.variables[position])
        index.variables[position].project = project
        index.variables[position].updatedAt = time
    }

    private mutating func keepSealedName(of variable: Variable) {
        let sealedName = StoredVersion.SealedName(project: variable.project, name: variable.name)
        if index.currentVersions[variable.id]?.sealedName == nil {
            index.currentVersions[variable.id]?.sealedName = sealedName
        }
        for earlier in index.earlierVersions.indices
        where index.earlierVersions[earlier].variable == variable.id
            && index.earlierVersions[earlier].sealedName == nil
        {
            index.earlierVersions[earlier].sealedName = sealedName
        }
    }

    /// Removes records with their whole history. Does not affect Vercel.
    package mutating func erase(_ variables: Set<Identifier>) {
        index.variables.removeAll { variables.contains($0.id) }
        index.earlierVersions.removeAll { variables.contains($0.variable) }
        for id in variables { index.currentVersions[id] = nil }
        // Their unfinished writes are obsolete; entries of other kinds stay.
        index.journal.removeAll { entry in
            let send = try? SendEntry(entry)
            return send?.variable.map { variables.contains($0) } ?? false
        }
    }

    /// Removes earlier versions permanently.
    package mutating func erase(_ versions: [StoredVersion]) {
        let numbers = Dictionary(grouping: versions, by: \.variable).mapValues {
            Set($0.map(\.version))
        }
        guard !numbers.isEmpty else { return }
        index.earlierVersions.removeAll { numbers[$0.variable]?.contains($0.version) ?? false }
    }
}
