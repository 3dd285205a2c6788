extension VaultIndex {
    /// Checks the sections of a decoded index against each other. They are sorted, so two can be
    /// walked in parallel, and nothing large has to be copied or hashed.
    func checkCoherence(_ chunksByteCount: UInt64) throws(VaultError) {
        try checkProjects()
        try checkCurrentVersions()
        try checkEarlierVersions()
        try checkChunks(chunksByteCount)
        _ = try relays()
    }

    private func checkProjects() throws(VaultError) {
        let identifiers = Set(projects.map(\.id))
        var last: Identifier?
        let belong = variables.indices.allSatisfy {
            let project = variables[$0].project
            if project == last { return true }
            last = project
            return identifiers.contains(project)
        }
        guard Set(projects.map(\.name)).count == projects.count, belong else {
            throw VaultError(
                damaged: .layout,
                "a variable belongs to no project, or two projects have the same name")
        }
    }

    private func checkCurrentVersions() throws(VaultError) {
        var held = 0
        for place in variables.indices where variables[place].currentVersion > 0 {
            let version = variables[place].currentVersion
            guard currentVersions[variables[place].id]?.version == version else {
                throw VaultError(
                    damaged: .layout,
                    "the value of \(variables[place].name) is not in the vault")
            }
            held += 1
        }
        guard held == currentVersions.count else {
            throw VaultError(damaged: .layout, "a value belongs to no variable")
        }
    }

    private func checkEarlierVersions() throws(VaultError) {
        var (variable, number) = (variables.startIndex, 0)
        for place in earlierVersions.indices {
            let (id, version) = (earlierVersions[place].variable, earlierVersions[place].version)
            let isNext = place == 0 || earlierVersions[place - 1].variable != id
            number = isNext ? 1 : number + 1
            while variable < variables.endIndex, variables[variable].id < id { variable += 1 }
            guard variable < variables.endIndex, variables[variable].id == id,
                version != variables[variable].currentVersion, version > 0,
                version <= variables[variable].highestVersion
            else { throw VaultError(damaged: .layout, "an earlier value belongs to no variable") }
            guard number <= VaultFormat.versionLimit else {
                throw VaultError(damaged: .layout, "a variable has too many versions")
            }
        }
    }

    private func checkChunks(_ chunksByteCount: UInt64) throws(VaultError) {
        let haveKeys = usedBatches.isSubset(of: batches.map(\.id))
        var end: UInt64 = 0
        for extent in chunkExtents() {
            guard extent.offset == end, extent.length > 0, haveKeys else {
                throw VaultError(
                    damaged: .layout, "the values overlap, leave gaps or have no data key")
            }
            end += UInt64(extent.length)
        }
        guard end == chunksByteCount else {
            throw VaultError(damaged: .layout, "the values do not end where the file ends")
        }
    }

    /// The location of a chunk.
    struct ChunkExtent {
        let offset: UInt64
        let length: UInt32
    }

    /// Returns the locations of all chunks, in ascending order.
    func chunkExtents() -> [ChunkExtent] {
        var extents: [ChunkExtent] = []
        extents.reserveCapacity(currentVersions.count + earlierVersions.count)
        let current = currentVersions.values
        for place in current.indices {
            extents.append(
                ChunkExtent(offset: current[place].offset, length: current[place].length))
        }
        for place in earlierVersions.indices {
            extents.append(
                ChunkExtent(
                    offset: earlierVersions[place].offset, length: earlierVersions[place].length))
        }
        extents.sort { $0.offset < $1.offset }
        return extents
    }
}
