package import PostalProtocol
internal import Sealing

/// How far a device has read what a relay tells it, and what it still has to look at because of it.
/// Kept sealed; pure.
package struct PostalInbox: Codable, Equatable, Sendable {
    /// A project of the platform, by whose it is and its id.
    package struct Project: Codable, Hashable, Sendable {
        /// The team's id, or the user's where there is no team.
        package let account: String
        package let id: String

        package init(account: String, id: String) { (self.account, self.id) = (account, id) }
    }

    /// What a message comes to.
    package enum Effect: Equatable, Sendable {
        /// Something happened that was not known.
        case event(PostalEvent)
        /// So many events are lost; 0 for "not known how many".
        case missed(Int)
        /// The relay has removed the device.
        case removed
        /// It was known, or is of somebody else, or cannot be read.
        case passedOver
    }

    /// How many events are known again: more than a relay keeps for one device.
    package static let knownLimit = 1_024
    /// Most projects that wait to be looked at singly.
    package static let projectLimit = 200

    /// Everything up to this number was taken; 0 where nothing was.
    package private(set) var number: Int64 = 0
    /// When the newest event happened, by the platform's clock, in milliseconds since 1970; nil before
    /// the first one.
    package private(set) var newestAt: Int64?
    /// How many messages were of somebody else or could not be read.
    package private(set) var refusedCount = 0
    /// Projects whose variables have changed on the platform since they were last looked at.
    package private(set) var changed: [Project] = []
    /// Whether that may be any project, because events are lost.
    package private(set) var anyMayHaveChanged = false
    /// Digests of the newest events' ids, oldest first.
    private var known: [UInt64] = []

    /// Nothing was read so far.
    package init() {}

    /// Takes a message.
    ///
    /// - Parameters:
    ///   - accounts: The registration's: an event of another account is not taken.
    ///   - opener: Has the device's key.
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
            switch event.type {
            case .variableCreated, .variableUpdated, .variableDeleted: noteChange(event)
            default: break
            }
            return .event(event)
        }
    }

    /// Takes a project off the list of what is to be looked at.
    package mutating func noteLook(at project: Project) {
        changed.removeAll { $0 == project }
    }

    /// Puts a project at that list's end: others have their turn first.
    package mutating func postpone(_ project: Project) {
        noteLook(at: project)
        changed.append(project)
    }

    /// Puts projects on that list in place of "any".
    package mutating func expectLook(at projects: [Project]) {
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

    /// - Returns: False where the event was known.
    private mutating func note(_ id: String) -> Bool {
        let digest = Array(id.utf8).withBytes { Digest.checksum($0) }.prefix(8)
            .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard !known.contains(digest) else { return false }
        known.append(digest)
        if known.count > Self.knownLimit { known.removeFirst(known.count - Self.knownLimit) }
        return true
    }
}
