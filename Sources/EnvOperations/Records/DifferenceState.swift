/// How a key, or a record, of the vault compares with a file or with Vercel.
package enum DifferenceState: String, CaseIterable, Sendable {
    /// Only in the file, or on Vercel.
    case added
    /// Only in the vault.
    case removed
    /// In the vault; Vercel does not list it and may only hide it.
    case unlisted
    /// On both sides, but different.
    case changed
    /// The same on both sides.
    case same
    /// On both sides, but a value is not available.
    case unreadable
    /// On both sides; only the names were compared.
    case present

    /// Whether it is known that nothing differs, as far as it was compared.
    var isNoDifference: Bool { self == .same || self == .present }
}
