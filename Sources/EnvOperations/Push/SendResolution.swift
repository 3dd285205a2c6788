package import Vault

/// What became of writes whose outcome is not known, judged from the platform as it is now. Pure.
///
/// A write is ours where the platform holds a value that the vault has for that record. Of a value that
/// it does not show nothing is known: the plan sends it again where the record moved while the write was
/// under way, by nobody else. Anything else is somebody else's, and the plan treats it as such.
package struct SendResolution: Equatable, Sendable {
    /// A write and the record of the platform that it may have left.
    package struct Candidate: Equatable, Sendable {
        /// The write.
        package let send: SendEntry
        /// The vault's record.
        package let variable: Variable
        /// The platform's record.
        package let record: PlatformRecord
    }

    /// What reading a candidate's value has shown.
    package enum Evidence: Equatable, Sendable {
        /// The value of that version of the vault's record.
        case holds(UInt64)
        /// An empty value, and the one that was sent is not empty.
        case empty
        /// Another value than any that could be compared, and the one that was sent could be.
        case other
        /// The platform shows no value, or the vault's is locked or gone.
        case unknown
    }

    /// What the platform is now known to hold of records of the vault, by record.
    package private(set) var remotes: [Identifier: RemoteState] = [:]
    /// The records of the platform that go with ``remotes``.
    private var found: [Identifier: PlatformRecord] = [:]
    /// Old records of renamed variables, which were to be deleted and are still there.
    package private(set) var leftovers: [PlatformRecord] = []
    /// Of these, by the platform's id, the records of the vault that are to be there before they go.
    package private(set) var successors: [String: Identifier] = [:]
    /// The same that somebody changed since, or whose variable was removed and never got another record there,
    /// and what somebody else made in the place of one; they are left alone.
    package private(set) var abandoned: [PlatformRecord] = []
    /// Entries of the journal for ``leftovers``, which stay until they are gone.
    package private(set) var pending: [SendEntry] = []
    /// Entries of the journal whose outcome is known now.
    package private(set) var settled: [Identifier] = []

    /// Nothing was begun.
    package init() {}

    /// What the vault has to keep.
    package var records: [PushRecord] {
        found.map { id, record in
            PushRecord(
                variable: id,
                knowledge: .agreed(
                    record, version: remotes[id]?.pushedVersion, attributes: record.attributes))
        }
    }

    /// Pairs writes with the records that they may have left, for their values to be read.
    ///
    /// - Parameters:
    ///   - sends: Oldest first.
    ///   - variables: All records of the project, removed ones included.
    package static func candidates(
        _ sends: [SendEntry], variables: [Variable], platform: [PlatformRecord]
    ) -> [Candidate] {
        let known = Set(variables.compactMap { $0.remote?.id })
        return sends.compactMap { send in
            guard let variable = variables.first(where: { $0.id == send.variable }) else {
                return nil
            }
            let record: PlatformRecord?
            switch send.action {
            case .delete: return nil
            case .change:
                guard let target = send.target, variable.remote?.id == target.id else { return nil }
                record = platform.first {
                    $0.id == target.id && $0.updatedAt != target.updatedAt
                        && $0.updatedAt != variable.remote?.agreedUpdatedAt
                }
            case .create:
                record = platform.first {
                    $0.key == send.key && !known.contains($0.id)
                        && $0.attributes.scope.overlaps(send.attributes.scope)
                        && $0.attributes.scope.subtracting(send.attributes.scope).isEmpty
                }
            }
            return record.map { Candidate(send: send, variable: variable, record: $0) }
        }
    }

    /// Judges.
    ///
    /// - Parameters:
    ///   - sends: Oldest first.
    ///   - evidence: By entry of the journal; none is ``Evidence/unknown``.
    ///   - account: Through whom it was sent, for ``RemoteState``.
    ///   - time: This machine's clock, in milliseconds since 1970.
    package init(
        of sends: [SendEntry], variables: [Variable], platform: [PlatformRecord],
        evidence: [Identifier: Evidence], account: String, time: UInt64
    ) {
        let candidates = Self.candidates(sends, variables: variables, platform: platform)
        for candidate in candidates {
            let known = evidence[candidate.send.id] ?? .unknown
            guard let version = Self.version(of: candidate, known) else { continue }
            let id = candidate.variable.id
            found[id] = candidate.record
            remotes[id] = RemoteState(
                id: candidate.record.id, key: candidate.record.key, account: account,
                pushedVersion: version, agreed: candidate.record.attributes,
                updatedAt: candidate.record.updatedAt, pushedAt: time)
        }
        for send in sends where send.action == .delete {
            judgeDeletion(send, variables, platform)
        }
        // Nothing else remembers a record that is still to go.
        let left = Set(leftovers.map(\.id))
        pending = sends.filter { send in
            send.action == .delete && send.variable != nil
                && send.target.map { left.contains($0.id) } ?? false
        }
        let open = Set(pending.map(\.id))
        settled = sends.map(\.id).filter { !open.contains($0) }
    }

    /// The version that the platform holds where the write was ours, 0 where it holds none of them or
    /// does not show which;
    /// nil where it was somebody else's.
    private static func version(of candidate: Candidate, _ evidence: Evidence) -> UInt64? {
        let (send, record) = (candidate.send, candidate.record)
        switch evidence {
        case .holds(let version): return version
        case .other: return nil
        case .empty: return send.version > 0 ? 0 : nil
        case .unknown:
            // Where nobody knows who sent it, a value that is not shown may be somebody else's.
            let isKnown = !send.author.isEmpty || record.attributes.kind == .sensitive
            let isForeign = record.author.map { isKnown && $0 != send.author } ?? false
            // A team's policy may make a variable sensitive whatever was asked for.
            let kind = record.attributes.kind
            guard !isForeign, record.key == send.key, send.mayHaveChanged(at: record.updatedAt),
                record.attributes.scope == send.attributes.scope,
                kind == send.attributes.kind || kind == .sensitive
            else { return nil }
            return send.version > 0 ? 0 : candidate.variable.remote?.pushedVersion ?? 0
        }
    }

    /// A deletion that was not done is planned anew, but for the old record of a renamed variable,
    /// which nothing else remembers.
    private mutating func judgeDeletion(
        _ send: SendEntry, _ variables: [Variable], _ platform: [PlatformRecord]
    ) {
        guard send.variable != nil, let target = send.target,
            !variables.contains(where: { (remotes[$0.id] ?? $0.remote)?.id == target.id })
        else { return }
        let variable = variables.first { $0.id == send.variable }
        guard let record = platform.first(where: { $0.id == target.id }) else {
            // A record that somebody else made in its place must not be deleted unseen.
            let owned = Set(variables.compactMap { (remotes[$0.id] ?? $0.remote)?.id })
            let isFree = variable?.name != send.key || variable?.isLive == false
            abandoned += platform.filter {
                isFree && $0.key == send.key && !owned.contains($0.id)
                    && $0.attributes.scope.overlaps(send.attributes.scope)
            }
            return
        }
        let isThere = platform.contains {
            $0.id == variable.flatMap { remotes[$0.id] ?? $0.remote }?.id
        }
        // The record of the new name is to be there first. One that is in the way of its own is replaced.
        let isReplaced = variable?.isLive == true && variable?.name == record.key
        let isAwaited = variable?.isLive == true && !isThere && !isReplaced
        guard record.updatedAt == target.updatedAt, isThere || isReplaced || isAwaited else {
            abandoned.append(record)
            return
        }
        leftovers.append(record)
        if isAwaited { successors[record.id] = send.variable }
    }
}

extension SendEntry {
    /// The longest time from a listing to the end of a request that a killed process left under way, in
    /// milliseconds: ten seconds until an entry is renewed, ten to connect, thirty to the first byte, and
    /// one because a `Date` field is to the second.
    private static let longestFlight: UInt64 = 51_000
    private static let second: UInt64 = 1_000

    /// Tells whether the request may have set this time of change, in milliseconds since 1970.
    fileprivate func mayHaveChanged(at time: UInt64) -> Bool {
        guard sentAfter > 0 else { return false }
        let end = sentUntil > 0 ? sentUntil &+ Self.second : sentAfter &+ Self.longestFlight
        return (sentAfter...max(sentAfter, end)).contains(time)
    }
}
