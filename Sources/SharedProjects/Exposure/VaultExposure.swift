internal import Sealing
package import Vault

/// What somebody knows who had all of a vault at some time, its history included.
package struct VaultExposure {
    private let index: VaultIndex
    private let reader: ValueReader

    /// - Parameter index: With all versions.
    package init(_ index: VaultIndex, _ reader: ValueReader) {
        (self.index, self.reader) = (index, reader)
    }

    /// Compares every value that was stored before a time with the values in use.
    ///
    /// - Parameters:
    ///   - time: In milliseconds since 1970.
    ///   - projects: nil for all.
    /// - Returns: The variables by project and name.
    package func variables(
        storedBefore time: UInt64, in projects: Set<Identifier>?
    ) throws -> [ExposedVariable] {
        let fingerprints = try ValueFingerprints()
        let versions = index.versions()
        let items = try index.variables.compactMap { variable -> ExposureComparison.Item? in
            if let projects, !projects.contains(variable.project) { return nil }
            let all = versions[variable.id] ?? []
            let known = all.filter { $0.createdAt < time }
            guard !known.isEmpty else { return nil }
            func fingerprint(_ version: StoredVersion) throws -> ValueFingerprints.Fingerprint {
                try fingerprints.fingerprint(
                    of: reader.value(of: variable, version, in: SecretArena()))
            }
            let current = all.filter { $0.version == variable.currentVersion }
            return ExposureComparison.Item(
                id: variable.id, variable: variable.id, project: variable.project,
                name: variable.name, scope: variable.attributes.scope,
                isInUse: variable.isLive && !current.isEmpty, isContested: false,
                known: try known.map(fingerprint), since: known.map(\.createdAt).min() ?? 0,
                current: try current.map(fingerprint),
                numbers: Set(known.map(\.version)), acceptance: nil)
        }
        return try ExposureComparison(fingerprints, index, reader).variables(items)
    }
}
