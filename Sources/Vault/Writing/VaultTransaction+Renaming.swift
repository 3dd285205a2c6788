extension VaultTransaction {
    /// Renames a record. Its versions remember the name under which they were stored.
    package mutating func rename(at position: Int, to name: String, time: UInt64) {
        let variable = index.variables[position]
        guard variable.name != name else { return }
        keepName(of: variable)
        forgetHighestVersions()
        index.variables[position].name = name
        index.variables[position].updatedAt = time
    }

    private mutating func keepName(of variable: Variable) {
        if index.currentVersions[variable.id]?.formerName == nil {
            index.currentVersions[variable.id]?.formerName = variable.name
        }
        for earlier in index.earlierVersions.indices
        where index.earlierVersions[earlier].variable == variable.id
            && index.earlierVersions[earlier].formerName == nil
        {
            index.earlierVersions[earlier].formerName = variable.name
        }
    }

    /// Removes records with their whole history. Does not affect Vercel.
    package mutating func erase(_ variables: Set<Identifier>) {
        index.variables.removeAll { variables.contains($0.id) }
        index.earlierVersions.removeAll { variables.contains($0.variable) }
        for id in variables { index.currentVersions[id] = nil }
        index.forgetOtherAgreements { $0.variable.map(variables.contains) ?? false }
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
