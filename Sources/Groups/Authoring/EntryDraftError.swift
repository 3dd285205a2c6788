package import Vault

/// Why an entry was not made. Nothing was signed.
package struct EntryDraftError: Error, Equatable {
    /// The cause. Those of ``EntryRefusal`` have the same names.
    package enum Code: String, Sendable, CaseIterable {
        /// The membership has two heads, so that only a joining entry may follow.
        case forked
        /// There are no two heads that this admin can join.
        case notForked = "not-forked"
        /// The author is not an active admin, or the signing key is not the author's.
        case author
        /// A name is empty, too long, or changes what a terminal shows.
        case name
        /// Something exceeds a bound of the format.
        case bounds
        /// A member is unknown, inactive, or named twice, or the id of a new member was used before.
        case member
        /// A public key cannot be used, or was used before.
        case key
        /// An invite was used before or is void.
        case invite
        /// The group has one admin.
        case oneAdmin = "one-admin"
        /// Nothing would change.
        case noChange = "no-change"
        /// No admin would be left.
        case lastAdmin = "last-admin"
        /// A raise has a cut, or a lowering has none.
        case cut
        /// A compartment has no epoch to renew, or already has a first one.
        case epoch
        /// The author's ring lacks a key that the entry would pass on.
        case missingKey = "missing-key"
        /// There is not enough guarded memory.
        case outOfMemory = "out-of-memory"
        /// The finished entry is not valid: a defect of the program.
        case refused
    }

    package let code: Code
    /// One sentence, lower case, without a full stop, names and values.
    package let reason: String
    /// The member that the problem is about.
    package let member: Identifier?
    /// The compartment that the problem is about.
    package let compartment: Identifier?

    init(
        _ code: Code, _ reason: String, member: Identifier? = nil, compartment: Identifier? = nil
    ) {
        self.code = code
        self.reason = reason
        self.member = member
        self.compartment = compartment
    }

    /// Translates a failure of sealing or of the own decoder.
    init(_ error: GroupError) {
        switch error.code {
        case .outOfMemory: self.init(.outOfMemory, error.reason)
        case .unusableKey: self.init(.key, error.reason)
        default: self.init(.refused, error.reason)
        }
    }
}
