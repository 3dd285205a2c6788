/// Why a change does not count, as named in `docs/group-format.md`, section 6.
package enum LateReason: String, Sendable, CaseIterable {
    case member, signature, compartment, epoch
    case pastEntry = "past-entry"
    case chain, role, key, record, replaces, widening, cut
}

/// What a change waits for.
package enum WaitingReason: String, Sendable, CaseIterable {
    /// A change before it.
    case parents
    /// The entry that it names.
    case entry
    /// An entry that competes with one that is here: two members were shown different histories.
    case split
}
