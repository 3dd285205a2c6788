/// Journal entries about groups that this vault shares projects with. Another module writes their
/// payloads; `docs/group-format.md` section 9 specifies them.
package enum GroupEntryKind: UInt8, Sendable, CaseIterable {
    /// The membership of one group. Its payload begins with a section that only the root opens; see
    /// `VaultKeys.sealedGroupSecrets`.
    case membership = 5
    /// Which project is shared with which group, and what is contested. Small: decoded even where
    /// the rest of the journal is not.
    case sharedProject = 6
    /// What the group last agreed about a shared project.
    case sharedState = 7
    /// A finished, signed change that no place was seen to hold.
    case outgoingChange = 8

    /// The largest payload in bytes.
    static let payloadLimit = 64 << 20
}
