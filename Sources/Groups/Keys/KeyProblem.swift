package import Vault

/// A sealed key that does not open, or is not the key that its epoch's entry published.
///
/// Only a defect or a dishonest admin makes one.
package struct KeyProblem: Hashable, Comparable, Sendable {
    /// What does not open.
    package enum Part: String, Sendable, CaseIterable {
        case indexBox = "index-box"
        case valueBox = "value-box"
        case indexRung = "index-rung"
        case valueRung = "value-rung"
    }

    /// The entry that contains the sealed key.
    package let entry: GroupHash
    package let compartment: Identifier
    /// The admin who signed the entry.
    package let author: Identifier
    package let part: Part

    package static func < (left: KeyProblem, right: KeyProblem) -> Bool {
        (left.entry, left.compartment, left.part.rawValue)
            < (right.entry, right.compartment, right.part.rawValue)
    }
}
