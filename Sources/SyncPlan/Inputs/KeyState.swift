/// All that a plan for one key depends on.
package struct KeyState: Equatable, Sendable {
    package let key: String
    /// What the vault wants, by the target's position; nil for no value.
    package var wishes: [Content?]
    /// What both sides last had, by the target's position.
    package var agreements: [Agreement?]
    /// Vercel's records of the key.
    package var records: [ListedRecord]
    /// Requests for this key with unknown outcome, oldest first.
    package var sends: [OpenSend]
    /// The targets that the listing may hide. If there are any, the listing is incomplete and proves
    /// the absence of nothing.
    package var hidden: TargetSet
    package var choices: PushChoices

    /// - Parameters:
    ///   - wishes: One for each target of the binding.
    ///   - agreements: As many.
    package init(
        key: String, wishes: [Content?], agreements: [Agreement?], records: [ListedRecord],
        sends: [OpenSend] = [], hidden: TargetSet = [], choices: PushChoices = PushChoices()
    ) {
        (self.key, self.wishes, self.agreements) = (key, wishes, agreements)
        (self.records, self.sends, self.hidden) = (records, sends, hidden)
        self.choices = choices
    }

    var targets: [Target] { wishes.indices.map(Target.init) }
    var isListingComplete: Bool { hidden.isEmpty }

    /// Returns the record that carries the key in a target, as an index.
    func record(in target: Target) -> Int? {
        records.firstIndex { $0.targets.contains(target) }
    }

    /// The ids of the records that may have changed since the agreement and show their values: reading
    /// them decides whether they did.
    package var recordsToRead: [String] {
        records.filter { record in
            record.type.isReadable && record.owner != .platform
                && record.targets.contains { target in
                    agreements[target.position].map {
                        $0.record != record.id || $0.witness != record.witness
                    }
                        ?? true
                }
        }.map(\.id)
    }
}
