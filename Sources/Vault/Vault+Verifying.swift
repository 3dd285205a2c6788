internal import Sealing

extension Vault {
    /// Checks every byte that the index speaks for: the encoding of the index, and the hash of every
    /// chunk. Needs no value key; with one, every value is opened too.
    ///
    /// - Throws: ``VaultError/Code/damaged`` with the first thing that is wrong.
    package func verify(with keys: VaultKeys) throws(VaultError) {
        let index = try index(with: keys, extent: .everything)
        let names = Dictionary(uniqueKeysWithValues: index.variables.map { ($0.id, $0) })
        let reader = try ValueReader(vault: self, index: index, keys: keys)
        for version in Array(index.currentVersions.values) + index.earlierVersions {
            let bytes = try chunk(of: version)
            guard let variable = names[version.variable],
                bytes.withBytes({ Digest.checksum($0) }) == version.checksum
            else {
                throw VaultError(
                    .damaged,
                    "version \(version.version) of \(names[version.variable]?.name ?? "a variable") "
                        + "was changed by somebody else")
            }
            let arena = SecretArena(firstRegionByteCount: 4096)
            _ = try reader?.value(of: variable, version, in: arena)
        }
    }
}
