/// A record of one key, as a fresh listing shows it: one value for a set of targets.
package struct ListedRecord: Equatable, Sendable {
    /// What reading the value has shown. The caller reads it where ``KeyState/recordsToRead`` says.
    package enum Value: Equatable, Sendable {
        /// It equals that version.
        case equal(Version)
        /// It differs from every version that the caller compared it with.
        case differs
        /// The platform does not show it, or it was not read.
        case unknown
    }

    /// Who may change the record.
    package enum Owner: Sendable {
        case project
        /// An integration, which may write it again. Only `force` changes it.
        case integration
        /// Only the platform: a system or shared variable, or a record of a form that is not understood.
        case platform
    }

    package let id: String
    package var targets: TargetSet
    package var type: ValueType
    package var comment: String?
    package var witness: String
    package var value: Value
    package var owner: Owner
    /// Whether nothing speaks against this program as the author of the last change: neither the
    /// author that the platform reports, nor the time.
    package var mayBeOurs: Bool

    package init(
        id: String, targets: TargetSet, type: ValueType, comment: String? = nil, witness: String,
        value: Value = .unknown, owner: Owner = .project, mayBeOurs: Bool = false
    ) {
        (self.id, self.targets, self.type, self.comment) = (id, targets, type, comment)
        (self.witness, self.value, self.owner) = (witness, value, owner)
        self.mayBeOurs = mayBeOurs
    }
}
