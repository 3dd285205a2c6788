internal import Sealing
internal import Vault
internal import VercelAPI

extension VaultSession {
    /// Values that must not appear in messages from Vercel.
    var knownSecrets: KnownSecrets {
        attached {
            KnownSecrets { [weak self] in
                // Uses only keys that are open already.
                guard let self, let keys = openValueKeys else { return nil }
                return try? everyValue(with: keys)
            }
        }
    }

    /// Returns every value of the vault, including earlier versions; nil if the keys do not open values.
    func everyValue(with keys: VaultKeys) throws -> [SecretSlice]? {
        let vault = try opened()
        let index = try vault.index(with: keys, extent: .everything)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            return nil
        }
        let arena = SecretArena()
        let records = Dictionary(
            index.variables.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let current = try index.variables.compactMap { try reader.currentValue(of: $0, in: arena) }
        return try current
            + index.earlierVersions.compactMap { version in
                try records[version.variable].map { try reader.value(of: $0, version, in: arena) }
            }
    }
}
