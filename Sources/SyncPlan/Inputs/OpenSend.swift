/// A request from the journal whose outcome is not known.
package struct OpenSend: Equatable, Sendable {
    /// A record as it was before the request.
    package struct Before: Equatable, Sendable {
        package let record: String
        package let witness: String

        package init(record: String, witness: String) {
            (self.record, self.witness) = (record, witness)
        }
    }

    /// The record to change or delete; nil for a creation.
    package let before: Before?
    /// The targets that the record should have afterwards; empty for a deletion.
    package let targets: TargetSet
    /// The targets that the record should lose.
    package let released: TargetSet
    package let type: ValueType
    package let comment: String?
    /// The version that the record has if the request was carried out; nil if that is not known.
    package let version: Version?
    /// Whether the value was part of the request.
    package let sendsValue: Bool
    /// The targets for which the request is an agreement: see ``PlannedRequest/agreed``.
    package let agreed: TargetSet

    package init(
        before: Before?, targets: TargetSet, released: TargetSet = [], type: ValueType,
        comment: String?, version: Version?, sendsValue: Bool, agreed: TargetSet
    ) {
        (self.before, self.targets, self.released, self.type) = (before, targets, released, type)
        (self.comment, self.version, self.sendsValue) = (comment, version, sendsValue)
        self.agreed = agreed
    }
}
