/// Bounds of `docs/group-format.md`. Decoders check them before they allocate memory.
package enum GroupLimits {
    /// In bytes.
    package static let change = 8 << 20
    /// In bytes.
    package static let entry = 8 << 20
    /// In bytes.
    package static let invite = 64 << 10
    /// In bytes.
    package static let join = 1_024
    package static let parents = 64
    package static let operations = 4_096
    /// Assignments that one operation replaces.
    package static let replaced = 1_000
    /// Members, and items of each list of an entry by member.
    package static let members = 1_000
    /// Compartments that a member is limited to.
    package static let limit = 1_000
    /// Compartments of an entry's epochs, cuts and grants.
    package static let compartments = 10_000
    /// Changes of one compartment in a cut.
    package static let cut = 1_000
    package static let invites = 1_000
    /// In bytes.
    package static let memberName = 256
    /// In bytes, of names of projects and variables, and of reasons.
    package static let name = 1_024
    /// In bytes, of other texts.
    package static let text = 4_096
    /// In bytes: nonce, smallest padded text, tag.
    static let sealedText = 24 + 128 + 16
    static let boxByteCount = 172
    static let indexRungByteCount = 72
    static let valueRungByteCount = 148
    static let dataKeyByteCount = 164
    static let signatureByteCount = 64
}
