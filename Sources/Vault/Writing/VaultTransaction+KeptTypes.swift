internal import Sealing

extension VaultTransaction {
    /// Lets each record that was sensitive and no longer is leave a removed record with that type and
    /// its versions, so that none of them becomes readable by being restored or copied.
    ///
    /// - Parameter time: Milliseconds since 1970.
    package mutating func keepSensitiveVersions(at time: UInt64) throws(VaultError) {
        var weakened: [(before: Int, now: Int)] = []
        for place in before.variables.indices
        where before.variables[place].attributes.kind == .sensitive
            && before.variables[place].highestVersion > 0
        {
            let id = before.variables[place].id
            let isThere = place < index.variables.count && index.variables[place].id == id
            let now = isThere ? place : index.variables.firstIndex { $0.id == id }
            if let now, index.variables[now].attributes.kind != .sensitive {
                weakened.append((place, now))
            }
        }
        for (place, now) in weakened {
            try keepVersions(of: before.variables[place], as: index.variables[now], at: time)
        }
    }

    private mutating func keepVersions(
        of old: Variable, as now: Variable, at time: UInt64
    ) throws(VaultError) {
        let kept = Set(
            index.variables.filter {
                $0.project == now.project && $0.name.utf8.elementsEqual(now.name.utf8)
                    && !$0.isLive && $0.attributes.kind == .sensitive
            }.map(\.id))
        let known = Set(
            (index.currentVersions.values + index.earlierVersions).lazy
                .filter { kept.contains($0.variable) }.map(\.version))
        let versions = (before.versions(of: [old.id])[old.id] ?? []).filter {
            !known.contains($0.version)
        }
        // The current one is not kept again if an earlier removed record has it.
        let current = versions.first { $0.version == old.currentVersion } ?? versions.last
        guard let current, let last = versions.last else { return }
        var trace = Variable(
            project: now.project, name: now.name, attributes: old.attributes, createdAt: time)
        (trace.deletedAt, trace.highestVersion) = (time, last.version)
        trace.currentVersion = current.version
        let position = index.variables.count
        index.variables.append(trace)
        let arena = SecretArena()
        for version in versions {
            let value = try values.value(of: old, version, in: arena)
            let stored = try value.withBytes { (bytes) throws(VaultError) in
                try sealed(
                    bytes, as: version.version, forVariableAt: position, at: version.createdAt)
            }
            if version.version == current.version {
                index.currentVersions.updateValue(stored, forKey: trace.id)
            } else {
                index.earlierVersions.append(stored)
            }
        }
    }

    /// Returns whether a version was current before this transaction.
    package func wasCurrent(_ version: StoredVersion) -> Bool {
        before.currentVersions[version.variable]?.id == version.id
    }
}
