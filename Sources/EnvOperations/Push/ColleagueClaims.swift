package import Vault

/// What colleagues say that they pushed, as far as a fresh listing of Vercel shows it. Pure.
///
/// A claim counts only for a record with exactly its id, key and time of change, and never in place of
/// what this vault itself agreed with Vercel at that time. So one that is not true changes nothing.
package struct ColleagueClaims {
    /// One member's word.
    package struct Claim: Equatable, Sendable {
        /// The vault's number of the version that Vercel is said to have.
        package let version: UInt64
        /// Vercel's id.
        package let remoteID: String
        package let key: String
        /// Vercel's time of change.
        package let updatedAt: UInt64

        package init(version: UInt64, remoteID: String, key: String, updatedAt: UInt64) {
            (self.version, self.updatedAt) = (version, updatedAt)
            (self.remoteID, self.key) = (remoteID, key)
        }
    }

    /// What the vault may record, by variable.
    package private(set) var remotes: [Identifier: RemoteState] = [:]

    /// - Parameters:
    ///   - claims: By variable.
    ///   - variables: All records of the project, with what is known of Vercel.
    ///   - platform: A fresh listing.
    ///   - account: The account that listed it, for ``RemoteState``.
    package init(
        _ claims: [Identifier: [Claim]], among variables: [Variable],
        platform: ListedRecords, account: String
    ) {
        let found = Dictionary(firstOf: platform.map { ($0.id, $0) })
        let owners = Dictionary(
            firstOf: variables.compactMap { variable in variable.remote.map { ($0.id, variable.id) }
            })
        for variable in variables where variable.isLive {
            let fitting = (claims[variable.id] ?? []).filter { claim in
                guard let record = found[claim.remoteID] else { return false }
                return record.key == claim.key && record.updatedAt == claim.updatedAt
                    && owners[record.id].map { $0 == variable.id } != false
                    && Self.mayBe(record, variable, among: found, platform.isComplete)
            }
            // Several members may say the same; different versions cannot all be true.
            guard let claim = fitting.first, let record = found[claim.remoteID],
                fitting.allSatisfy({
                    $0.version == claim.version && $0.remoteID == claim.remoteID
                })
            else { continue }
            remotes[variable.id] = RemoteState(
                id: record.id, key: record.key, account: account, pushedVersion: claim.version,
                agreed: record.attributes, updatedAt: record.updatedAt, pushedAt: 0)
        }
        // No record of Vercel is two variables.
        let uses = Dictionary(grouping: remotes.values, by: \.id)
        remotes = remotes.filter { uses[$0.value.id]?.count == 1 }
    }

    /// Whether a claim about a record may say something new about a variable. Without that, a push
    /// could change a record that has nothing to do with it.
    private static func mayBe(
        _ record: VercelRecord, _ variable: Variable, among found: [String: VercelRecord],
        _ isComplete: Bool
    ) -> Bool {
        if let remote = variable.remote, found[remote.id] != nil || !isComplete {
            return remote.id == record.id && remote.agreedUpdatedAt != record.updatedAt
        }
        return record.key == variable.name && record.attributes.scope == variable.attributes.scope
    }
}
