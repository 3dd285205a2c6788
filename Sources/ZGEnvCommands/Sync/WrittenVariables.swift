internal import EnvOperations
internal import Vault

/// The variables that a command changed for the user, reported to what goes on from there.
struct WrittenVariables: NewsPart {
    var keys: Set<String>
    /// Values in memory, by record.
    var atHand: [Identifier: PushValues.Held] = [:]
    /// The places that each key was removed from.
    var vacated: [PushPlan.Vacated] = []
    /// Whether the command's question covered what follows.
    var wasAsked = false

    mutating func add(_ other: WrittenVariables) {
        keys.formUnion(other.keys)
        atHand.merge(other.atHand) { $1 }
        vacated += other.vacated
        wasAsked = wasAsked && other.wasAsked
    }
}
