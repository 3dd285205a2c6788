extension VaultTransaction {
    /// Renames records of one variable. Their versions remember the name under which they were
    /// stored.
    ///
    /// If records that have the new name already have one of their version numbers, the numbers of
    /// those grow or, if one of them is in use, the numbers of the renamed ones: a number means one
    /// value of a name.
    ///
    /// - Parameter positions: Indices in ``index``, all of one project.
    /// - Returns: By how much the numbers of the renamed records grew.
    /// - Throws: ``VaultError/Code/tooLarge`` before any change, if there are no such numbers.
    @discardableResult
    package mutating func rename(
        at positions: [Int], to name: String, time: UInt64
    ) throws(VaultError) -> UInt64 {
        let renamed = positions.filter {
            !index.variables[$0].name.utf8.elementsEqual(name.utf8)
        }
        guard let first = renamed.first else { return 0 }
        let project = index.variables[first].project
        let others = index.variables.indices.filter {
            index.variables[$0].project == project && index.variables[$0].name == name
                && !renamed.contains($0)
        }
        var growth: UInt64 = 0
        if !others.isEmpty, !numbers(at: renamed).isDisjoint(with: numbers(at: others)) {
            let areFree = others.allSatisfy { !index.variables[$0].isLive }
            let highest = (areFree ? renamed : others).map { index.variables[$0].highestVersion }
            let (growing, by) = (areFree ? others : renamed, highest.max() ?? 0)
            let fits = growing.allSatisfy { place in
                !index.variables[place].highestVersion.addingReportingOverflow(by).overflow
            }
            guard fits else {
                throw VaultError(.tooLarge, "\(name) has no version numbers left")
            }
            addToNumbers(by, at: growing)
            if !areFree { growth = by }
        }
        for position in renamed {
            keepName(of: index.variables[position])
            index.variables[position].name = name
            index.variables[position].updatedAt = time
        }
        forgetHighestVersions()
        return growth
    }

    /// Returns the numbers of all versions of some records.
    private func numbers(at positions: [Int]) -> Set<UInt64> {
        let ids = Set(positions.map { index.variables[$0].id })
        return Set(
            (index.currentVersions.values + index.earlierVersions).lazy
                .filter { ids.contains($0.variable) }.map(\.version))
    }

    /// Adds to all version numbers of some records, wherever the vault names one.
    private mutating func addToNumbers(_ growth: UInt64, at positions: [Int]) {
        let ids = Set(positions.map { index.variables[$0].id })
        for place in index.currentVersions.values.indices
        where ids.contains(index.currentVersions.values[place].variable) {
            index.currentVersions.values[place].version += growth
        }
        for place in index.earlierVersions.indices
        where ids.contains(index.earlierVersions[place].variable) {
            index.earlierVersions[place].version += growth
        }
        for position in positions {
            index.variables[position].highestVersion += growth
            if index.variables[position].currentVersion > 0 {
                index.variables[position].currentVersion += growth
            }
            index.variables[position].remote?.addToVersions(growth)
        }
        for place in index.journal.indices {
            guard var send = try? SendEntry(index.journal[place]),
                send.variable.map(ids.contains) == true, send.version > 0
            else { continue }
            send.version &+= growth
            index.journal[place] = send.entry
        }
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
