/// How one target stands between the vault and the platform.
enum Standing: Hashable, Sendable {
    /// Both have the same, or neither has anything.
    case same
    /// Only the vault's side changed: to be sent.
    case changedHere
    /// As ``changedHere``, but the user did not select it.
    case notSelected
    /// Only Vercel's side changed: to be pulled.
    case changedThere
    case conflict(Conflict)
    case leftOut(Omission)

    /// Whether nothing is sent for the target, although both sides differ.
    var isPinned: Bool { self != .same && self != .changedHere }
}

/// Why a person has to decide between both sides.
package enum Conflict: Hashable, Sendable {
    /// The record, or its value, is not as agreed.
    case changedThere
    case removedThere
    /// The platform has something that the vault has never seen.
    case unseenThere
    /// Whatever the platform has there is not the project's.
    case notOurs
    case managedByIntegration
}

/// Why something that the vault wants is not sent.
package enum Omission: Hashable, Sendable {
    /// The vault does not have the value, and no record that has it can carry it.
    case unreadable
    /// The record has a value that the vault does not have, and that is wanted elsewhere.
    case valueWantedElsewhere
    /// The listing may hide what is there.
    case hidden
    /// The platform would refuse it.
    case refused
    /// The record cannot have the type. Only `force` deletes it, to create another one.
    case typeIsFinal
    /// The record has a target whose change was not seen, or is not sent, and that would change too.
    case sharesRecord
    /// A new name of the variable could not be sent, so the old one stays.
    case waits(for: String)
}
