package import Sealing
package import Vault

/// Sends requests, reads back what can be read back, and updates the vault after each request.
///
/// A step is a request at its place in the order of sending.
package final class RequestSender {
    /// The common part of the journal entries of all requests.
    package struct Origin {
        /// The vault's project.
        package let project: Identifier
        /// The id of the project on the platform.
        package let remoteProject: String
        /// The id of the token's user there; empty if unknown.
        package let author: String
        /// This machine's clock, in milliseconds since 1970.
        package let now: () -> UInt64

        package init(
            project: Identifier, remoteProject: String, author: String,
            now: @escaping () -> UInt64
        ) {
            (self.project, self.remoteProject) = (project, remoteProject)
            (self.author, self.now) = (author, now)
        }
    }

    /// Returns the value of a request's owner; nil if it has none.
    package typealias ValueSource = (SyncRequest) throws -> SecretSlice?

    /// What the journal has of the requests, and what it records next.
    private struct Journal {
        /// What the vault has to record with the next journal entry.
        var note = SendNote()
        /// Open journal entries by the place of their step.
        var open: [Int: SendEntry] = [:]
    }

    let platform: any SyncPlatform
    /// The values that are sent, and those that requests keep, to compare them with what is there.
    let values: (sent: ValueSource, kept: ValueSource)
    let origin: Origin
    /// The listing that is read again right before each write.
    let listing: FreshListing
    /// The records when the plan was made, by id.
    let planned: [String: VercelRecord]
    private let keep: (SendNote) throws -> Void
    private let progress: (Int, Int) -> Void
    /// The modification times that the records have if no one else changed them, by id.
    var expectedTimes: [String: UInt64]
    /// The ids of records that may have had the sent value before the last attempt.
    var resent: Set<String> = []
    /// The outcome of each step, in its order; nil for unsent steps.
    var outcomes: [RequestOutcome?] = []
    private var journal = Journal()
    /// A local error during a request: the vault, or decrypting a value.
    var localFailure: (any Error)?

    /// The time in milliseconds after which entries of a retried request get a new time, because an
    /// entry does not explain changes long after its time.
    private static let entryLifetime: UInt64 = 10_000

    /// - Parameters:
    ///   - planned: All records when the plan was made.
    ///   - listing: The records right before each write.
    ///   - keep: Saves in the vault what the platform has now and what is sent next. Called before
    ///     each request that changes something, and at the end.
    ///   - progress: Called with the number of finished steps and of all steps.
    package init(
        _ platform: any SyncPlatform, _ origin: Origin, planned: ListedRecords,
        listing: FreshListing, values: (sent: ValueSource, kept: ValueSource),
        keep: @escaping (SendNote) throws -> Void, progress: @escaping (Int, Int) -> Void
    ) {
        (self.platform, self.origin, self.listing) = (platform, origin, listing)
        (self.values, self.keep, self.progress) = (values, keep, progress)
        self.planned = Dictionary(firstOf: planned.map { ($0.id, $0) })
        expectedTimes = self.planned.mapValues(\.updatedAt)
    }

    var traits: PlatformTraits { platform.traits }

    /// Sends requests in order. If a record changed after the plan was made, nothing is sent and
    /// only these conflicts are returned; a conflict found later stops only its own step. After a
    /// permanent failure, the remaining steps are reported as not sent.
    ///
    /// - Returns: One outcome for each request; nil if nothing was sent because of others.
    package func send(_ requests: [SyncRequest]) throws -> [RequestOutcome?] {
        outcomes = Array(repeating: nil, count: requests.count)
        for before in requests.compactMap(\.before) {
            if let time = before.updatedAt { expectedTimes[before.id] = time }
        }
        try rejectChanged(requests)
        guard outcomes.allSatisfy({ $0 == nil }) else {
            try flush()
            return outcomes
        }
        var places = requests.indices[...]
        var underWay = places.prefix(0)
        do {
            while !places.isEmpty {
                underWay = group(places, of: requests)
                try send(underWay.map { ($0, requests[$0]) })
                places = places.dropFirst(underWay.count)
                // What was listed before no longer shows a record that changes once more.
                let sent = Set(underWay.compactMap { requests[$0].recordID })
                if places.contains(where: { requests[$0].recordID.map(sent.contains) ?? false }) {
                    listing.expire()
                }
                progress(requests.count - places.count, requests.count)
            }
        } catch let error as PlatformError {
            if error.isKnownNotDone { end(Array(underWay)) }
            for place in places where outcomes[place] == nil {
                let isUnderWay = underWay.contains(place)
                outcomes[place] = RequestOutcome(
                    request: requests[place],
                    end: .failed(isUnderWay ? error.description : "not sent", error), record: nil,
                    isSent: isUnderWay && !error.isKnownNotDone)
            }
        }
        explainExistingVariables()
        try flush()
        try readBack(outcomes.indices.filter { outcomes[$0]?.isVerified ?? false })
        try readBack(try repair())
        return outcomes
    }

    /// Returns the next steps that one request sends.
    private func group(_ places: Range<Int>, of requests: [SyncRequest]) -> Range<Int> {
        guard let first = places.first.map({ requests[$0] }) else { return places }
        func run(_ limit: Int, _ belongs: (SyncRequest) -> Bool) -> Range<Int> {
            let run = places.prefix(limit).prefix { belongs(requests[$0]) }
            return run.isEmpty ? places.prefix(1) : run
        }
        switch first.action {
        case .create: return run(traits.creationLimit) { $0.action == .create }
        case .change: return run(traits.changeLimit, isBatchable)
        case .delete: return run(traits.deletionLimit) { $0.isDeletion }
        }
    }

    // MARK: The journal

    /// Adds what is sent next to the journal, together with the results so far.
    ///
    /// - Parameter steps: The steps of the request, by their places in the order.
    func begin(_ steps: [(place: Int, step: SyncRequest)]) throws {
        let time = origin.now()
        for (place, step) in steps {
            let send = entry(step, at: time)
            journal.note.begun.append(send)
            if let before = journal.open.updateValue(send, forKey: place) {
                journal.note.ended.append(before.id)
            }
        }
        try flush()
    }

    /// Records that the outcome of these steps is known. Saved with the next request.
    func end(_ places: [Int], _ records: [RecordUpdate] = []) {
        journal.note.records += records
        journal.note.ended += places.compactMap { journal.open.removeValue(forKey: $0)?.id }
    }

    /// Records that a record is gone.
    ///
    /// - Parameter step: The step that deleted it.
    func endDeletion(of id: String, by step: SyncRequest) {
        if step.owner == nil, let record = planned[id],
            record.attributes.scope.targets.contains(.production)
        {
            journal.note.departed.append(record)
        }
    }

    /// Saves the pending note in the vault.
    func flush() throws {
        guard !journal.note.isEmpty else { return }
        try keep(journal.note)
        journal.note = SendNote()
    }

    /// Gives entries a new time if the first attempt was long ago.
    func renewOld(_ steps: [(place: Int, step: SyncRequest)]) throws(PlatformError) {
        let old = steps.filter { place, _ in
            journal.open[place].map { listing.time > $0.sentAfter &+ Self.entryLifetime } ?? false
        }
        guard !old.isEmpty else { return }
        do {
            try begin(old)
        } catch {
            localFailure = error
            throw PlatformError(.notSent, "the vault could not be written")
        }
    }

    /// Records when an attempt without response was over.
    func closeWindow(of steps: [(place: Int, step: SyncRequest)]) throws {
        for (place, _) in steps {
            guard let send = journal.open[place], listing.time > 0 else { continue }
            let closed = send.until(listing.time)
            journal.note.ended.append(send.id)
            journal.note.begun.append(closed)
            journal.open[place] = closed
        }
        try flush()
    }

    private func entry(_ step: SyncRequest, at time: UInt64) -> SendEntry {
        let action: SendEntry.Action =
            switch step.action {
            case .create: .create
            case .change: .change
            case .delete: .delete
            }
        let isOwners = step.sendsValue || !step.isDeletion && step.hasKnownValue
        let (nowhere, scope) = (Scope(targets: []), step.attributes.scope)
        let before = step.recordID.flatMap { planned[$0]?.attributes.scope }
        return SendEntry(
            createdAt: time, action: action, project: origin.project,
            variable: step.owner?.variable, vercelProject: origin.remoteProject,
            author: origin.author,
            target: step.recordID.map { .init(id: $0, updatedAt: expectedTimes[$0] ?? 0) },
            key: step.key, kind: step.attributes.kind, comment: step.attributes.comment,
            targets: step.isDeletion ? nowhere : scope,
            released: step.isDeletion ? scope : before?.subtracting(scope) ?? nowhere,
            agreed: step.isDeletion ? nowhere : step.agreed,
            version: isOwners ? step.owner?.version ?? 0 : 0,
            sendsValue: step.sendsValue, sentAfter: listing.time)
    }

    /// Returns what the platform is to have after a step.
    func outgoing(_ step: SyncRequest) throws -> OutgoingRecord {
        let old = step.recordID.flatMap { planned[$0] }
        return OutgoingRecord(
            id: step.recordID, key: step.key, attributes: step.attributes,
            value: step.sendsValue ? try values.sent(step) : nil,
            changesName: old.map { $0.key != step.key } ?? false,
            changesKind: step.before?.kind != step.attributes.kind)
    }
}
