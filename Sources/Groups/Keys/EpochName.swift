package import Vault

/// Names an epoch. Its number does not: two entries of a fork can make epochs with the same number.
package struct EpochName: Hashable, Comparable, Sendable {
    package let compartment: Identifier
    /// The entry that made the epoch.
    package let entry: GroupHash

    package static func < (left: EpochName, right: EpochName) -> Bool {
        (left.compartment, left.entry) < (right.compartment, right.entry)
    }
}
