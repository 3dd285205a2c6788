/// One request of a plan, about one record.
package struct PlannedRequest: Equatable, Sendable {
    /// The record to change or delete, and what it must be before; nil for a creation.
    package struct Subject: Equatable, Sendable {
        package let record: String
        package let targets: TargetSet
        /// The witness that the listing showed; nil after an earlier request of the same plan, whose
        /// response has it.
        package let witness: String?
    }

    package let key: String
    package let subject: Subject?
    /// The targets of the record afterwards; empty for a deletion.
    package let targets: TargetSet
    package let type: ValueType
    package let comment: String?
    /// The version that the record has afterwards; nil if the vault has no such version.
    package let version: Version?
    /// Whether the value is part of the request.
    package let sendsValue: Bool
    /// The targets that the request is an agreement for: from its response on, both sides agree on the
    /// record's new content there. The record's other targets keep their agreements: there, the
    /// platform has what the vault has not seen.
    package let agreed: TargetSet
    /// Whether it only takes values away that the vault no longer wants. Nothing waits for it.
    package let onlyRemoves: Bool
    /// The keys of which no earlier request may have failed when this one is sent: they have the new
    /// name of what it takes away.
    package var waitsFor: Set<String> = []

    package var isDeletion: Bool { targets.isEmpty }

    /// The targets that the record loses.
    package var released: TargetSet { (subject?.targets ?? []).subtracting(targets) }
}
