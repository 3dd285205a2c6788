package import Vault

/// The results of writes with unknown outcome, determined from Vercel's current state.
///
/// A write is ours if Vercel has a value that the vault has for that record. A hidden value proves
/// nothing: the plan sends it again if the record changed during the write and nobody else is its
/// author. Everything else counts as another user's change.
package struct SendResolution: Equatable, Sendable {
    /// A write and the record on Vercel that may be its result.
    package struct Candidate: Equatable, Sendable {
        package let send: SendEntry
        /// The vault's record.
        package let variable: Variable
        /// Vercel's record.
        package let record: VercelRecord
    }

    /// What reading a candidate's value has shown.
    package enum Evidence: Equatable, Sendable {
        /// The value of that version of the vault's record.
        case holds(UInt64)
        /// An empty value, although the sent one is not empty.
        case empty
        /// A value other than all that could be compared, including the sent one.
        case other
        /// Vercel shows no value, or the vault's is locked or missing.
        case unknown
    }

    /// What Vercel is now known to have, by record of the vault.
    package private(set) var remotes: [Identifier: RemoteState] = [:]
    /// Vercel's records for ``remotes``.
    private var found: [Identifier: VercelRecord] = [:]
    /// Old records of renamed variables that should have been deleted but still exist.
    package private(set) var leftovers: [VercelRecord] = []
    /// The vault's records that must exist before ``leftovers`` are deleted, by Vercel's id.
    package private(set) var successors: [String: Identifier] = [:]
    /// Leftovers that are left unchanged: another user changed them, or their variable was removed
    /// and never got another record; also records that other users created in their places.
    package private(set) var abandoned: [VercelRecord] = []
    /// Journal entries for ``leftovers``, which stay until those are gone.
    package private(set) var pending: [SendEntry] = []
    /// Journal entries whose outcome is known now.
    package private(set) var settled: [Identifier] = []

    package init() {}

    /// What the vault has to record.
    package var records: [RecordUpdate] {
        found.map { id, record in
            RecordUpdate(
                variable: id,
                knowledge: .agreed(
                    record, version: remotes[id]?.pushedVersion, attributes: record.attributes))
        }
    }

    /// Pairs writes with the records that may be their results, so that their values can be read.
    ///
    /// - Parameters:
    ///   - sends: Oldest first.
    ///   - variables: All records of the project, including removed ones.
    package static func candidates(
        _ sends: [SendEntry], variables: [Variable], platform: ListedRecords
    ) -> [Candidate] {
        let known = Set(variables.compactMap { $0.remote?.id })
        return sends.compactMap { send in
            guard let variable = variables.first(where: { $0.id == send.variable }) else {
                return nil
            }
            let record: VercelRecord?
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

    /// - Parameters:
    ///   - sends: Oldest first.
    ///   - evidence: By journal entry; a missing one is ``Evidence/unknown``.
    ///   - account: The account that sent it, for ``RemoteState``.
    ///   - time: Milliseconds since 1970 by this machine's clock.
    package init(
        of sends: [SendEntry], variables: [Variable], platform: ListedRecords,
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
        // Only the journal knows of a record that is still to be deleted.
        let left = Set(leftovers.map(\.id))
        pending = sends.filter { send in
            send.action == .delete && send.variable != nil
                && send.target.map { left.contains($0.id) } ?? false
        }
        // What is not listed may only be hidden, so its outcome stays unknown.
        let listed = Set(platform.map(\.id))
        let answered = Set(candidates.map(\.send.id))
        let unknown = sends.filter { send in
            !platform.isComplete && !answered.contains(send.id)
                && send.target.map { !listed.contains($0.id) } ?? true
        }
        let open = Set((pending + unknown).map(\.id))
        settled = sends.map(\.id).filter { !open.contains($0) }
    }

    /// Returns the version that Vercel has if the write was ours, 0 if Vercel has none of them or
    /// does not show it, and nil if the write was another user's.
    private static func version(of candidate: Candidate, _ evidence: Evidence) -> UInt64? {
        let (send, record) = (candidate.send, candidate.record)
        switch evidence {
        case .holds(let version): return version
        case .other: return nil
        case .empty: return send.sendsValue ? 0 : nil
        case .unknown:
            // If the sender is unknown, a hidden value may be another user's.
            let isKnown = !send.author.isEmpty || record.attributes.kind == .sensitive
            let isForeign = record.author.map { isKnown && $0 != send.author } ?? false
            // A team's policy may make a variable sensitive regardless of the request.
            let kind = record.attributes.kind
            guard !isForeign, record.key == send.key, send.mayHaveChanged(at: record.updatedAt),
                record.attributes.scope == send.attributes.scope,
                kind == send.attributes.kind || kind == .sensitive
            else { return nil }
            return send.sendsValue ? 0 : candidate.variable.remote?.pushedVersion ?? 0
        }
    }

    /// Judges a deletion. One that was not carried out is planned again, except for the old record
    /// of a renamed variable, which only the journal knows.
    private mutating func judgeDeletion(
        _ send: SendEntry, _ variables: [Variable], _ platform: ListedRecords
    ) {
        guard send.variable != nil, let target = send.target,
            !variables.contains(where: { (remotes[$0.id] ?? $0.remote)?.id == target.id })
        else { return }
        let variable = variables.first { $0.id == send.variable }
        guard let record = platform.first(where: { $0.id == target.id }) else {
            guard platform.isComplete else { return }
            // A record that another user created in its place must not be deleted unseen.
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
        // The record with the new name must exist first. One in the way of its own record is
        // replaced.
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
    /// The longest time from a listing to the end of a request that a killed process left in
    /// progress, in milliseconds: ten seconds until an entry is renewed, ten to connect, thirty to
    /// the first byte, and one because a `Date` field has whole seconds.
    private static let longestFlight: UInt64 = 51_000
    private static let second: UInt64 = 1_000

    /// Returns whether the request may have set this modification time, in milliseconds since 1970.
    fileprivate func mayHaveChanged(at time: UInt64) -> Bool {
        guard sentAfter > 0 else { return false }
        let end = sentUntil > 0 ? sentUntil &+ Self.second : sentAfter &+ Self.longestFlight
        return (sentAfter...max(sentAfter, end)).contains(time)
    }
}
