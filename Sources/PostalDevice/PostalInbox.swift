package import PostalProtocol
internal import Sealing

/// How far a device has read a relay's events, and which projects it has yet to refresh because of
/// them. Saved encrypted; performs no I/O.
package struct PostalInbox: Codable, Equatable, Sendable {
    /// A Vercel project, by its owner and id.
    package struct Project: Codable, Hashable, Sendable {
        /// The team's id, or the user's for a personal account.
        package let account: String
        package let id: String

        package init(account: String, id: String) { (self.account, self.id) = (account, id) }
    }

    /// The result of a message.
    package enum Effect: Equatable, Sendable {
        /// A new event.
        case event(PostalEvent)
        /// The number of lost events; 0 if unknown.
        case missed(Int)
        case removed
        /// A duplicate, an event of another account, or unreadable.
        case passedOver
    }

    /// How many event ids are remembered: more than a relay keeps for one device.
    package static let knownLimit = 1_024
    /// The maximum number of projects in ``changed``.
    package static let projectLimit = 200

    /// The highest message number that was processed; 0 for none.
    package private(set) var number: Int64 = 0
    /// The time of the newest event by Vercel's clock, in milliseconds since 1970; nil before the
    /// first one.
    package private(set) var newestAt: Int64?
    /// The number of messages of other accounts or that could not be read.
    package private(set) var refusedCount = 0
    /// Projects whose variables have changed on Vercel since their last refresh.
    package private(set) var changed: [Project] = []
    /// Whether any other project may have changed too, because events were lost.
    package private(set) var anyMayHaveChanged = false
    /// Digests of the newest event ids, oldest first.
    private var known: [UInt64] = []

    package init() {}

    /// Processes a message.
    ///
    /// - Parameters:
    ///   - accounts: The accounts of the registration; events of others are rejected.
    ///   - opener: Decrypts with the device's key.
    package mutating func take(
        _ message: RelayMessage, accounts: [String], with opener: EventOpener
    ) -> Effect {
        switch message {
        case .removed: return .removed
        case .unreadable(let number):
            advance(to: number ?? 0)
            return refused()
        case .missed(let number, let count):
            let isNew = number > self.number
            advance(to: number)
            guard isNew else { return .passedOver }
            anyMayHaveChanged = true
            return .missed(count)
        case .sealed(let number, let box):
            advance(to: number)
            guard let event = opener.open(box), accounts.contains(event.account) else {
                return refused()
            }
            guard note(event.id) else { return .passedOver }
            newestAt = max(newestAt ?? event.createdAt, event.createdAt)
            if event.type.concernsVariable { noteChange(event) }
            return .event(event)
        }
    }

    /// Removes a refreshed project from ``changed``.
    package mutating func markRefreshed(at project: Project) {
        changed.removeAll { $0 == project }
    }

    /// Moves a project to the end of ``changed``, so that others come first.
    package mutating func postpone(_ project: Project) {
        markRefreshed(at: project)
        changed.append(project)
    }

    /// Adds projects to ``changed``, in place of ``anyMayHaveChanged``.
    package mutating func scheduleRefresh(at projects: [Project]) {
        anyMayHaveChanged = false
        changed += projects.filter { !changed.contains($0) }
    }

    private mutating func refused() -> Effect {
        refusedCount = min(refusedCount + 1, 1_000_000)
        return .passedOver
    }

    private mutating func advance(to number: Int64) {
        self.number = max(self.number, number)
    }

    private mutating func noteChange(_ event: PostalEvent) {
        guard let id = event.project?.id else {
            anyMayHaveChanged = true
            return
        }
        let project = Project(account: event.account, id: id)
        guard !changed.contains(project) else { return }
        if changed.count < Self.projectLimit {
            changed.append(project)
        } else {
            anyMayHaveChanged = true
        }
    }

    /// - Returns: False if the event is a duplicate.
    private mutating func note(_ id: String) -> Bool {
        let digest = Array(id.utf8).withBytes { Digest.checksum($0) }.prefix(8)
            .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard !known.contains(digest) else { return false }
        known.append(digest)
        if known.count > Self.knownLimit { known.removeFirst(known.count - Self.knownLimit) }
        return true
    }
}
