/// How far a rotation is. Pure data: what comes next is decided elsewhere.
package struct RotationProgress: Equatable, Sendable {
    /// Which way it goes.
    package enum Direction: UInt8, Sendable {
        /// The new value is brought out.
        case forward = 1
        /// The old value is brought back.
        case backward = 2
    }

    /// How far a step is. One that is begun may have been done.
    package enum Step: UInt8, Sendable {
        case pending = 0
        case begun = 1
        case done = 2
        case failed = 3
    }

    /// How it ended, or stopped.
    package enum Outcome: UInt8, Sendable {
        /// Not yet.
        case none = 0
        case done = 1
        case rolledBack = 2
        /// Stopped; it can be resumed or aborted.
        case needsAttention = 3
    }

    /// What a deployment's own variables say.
    package enum Evidence: UInt8, Sendable {
        /// Not looked at.
        case unknown = 0
        case holdsNew = 1
        case holdsOld = 2
        case holdsOther = 3
        /// The platform does not show it.
        case unreadable = 4
        /// The platform shows what it holds, and the variable is not among that.
        case lacksIt = 5
    }

    /// How a deployment is made.
    package enum Way: UInt8, Sendable {
        case redeploy = 1
        /// A new deployment for production from the source of another one.
        case promotion = 2
    }

    /// Whether a deployment made since the beginning went live.
    package enum Reach: UInt8, Sendable {
        case unknown = 0
        case notLive = 1
        case live = 2
    }

    /// Why something failed.
    package struct Failure: Error, Equatable, Sendable {
        /// The kind, by what can be done about it.
        package enum Kind: UInt8, Sendable, CaseIterable {
            case apply = 1
            case push = 2
            /// Somebody else changed the variable on the platform.
            case changedThere = 3
            /// Somebody else changed the variable in the vault.
            case changedHere = 4
            /// The deployment could not be made.
            case deploy = 5
            /// It ended in ERROR, CANCELED or BLOCKED.
            case build = 6
            /// It is built, and another one serves.
            case notLive = 7
            case timedOut = 8
            /// The new deployment holds the old value.
            case holdsOld = 9
            /// The new deployment holds a third value.
            case holdsOther = 10
            case check = 11
            /// Nothing proved the new value, and the old one was to be revoked.
            case notProved = 12
            case revoke = 13
            case undo = 14
            /// The platform could not be asked.
            case unavailable = 15
            /// The platform did not allow it.
            case unauthorized = 16
            /// The user asked to go back.
            case aborted = 17
            /// The vault holds no old value.
            case noOldValue = 18
            /// It is built and staged: production's domains wait for a promotion.
            case staged = 19
        }

        /// The kind.
        package let kind: Kind
        /// For people, without a value; at most 1 KiB count.
        package let reason: String

        /// Names both. A reason that is too long is cut.
        package init(_ kind: Kind, _ reason: String) {
            self.kind = kind
            var reason = reason
            while reason.utf8.count > VaultFormat.nameLimit {
                reason = String(reason.prefix(reason.count * 3 / 4))
            }
            self.reason = reason
        }
    }

    /// One deployment of a project.
    package struct Build: Equatable, Sendable {
        /// Making it.
        package var create = Step.pending
        /// How it is made.
        package var way = Way.redeploy
        /// Tells several attempts apart.
        package var attempt: UInt8 = 1
        /// The platform's id, empty while unknown.
        package var id = ""
        /// When making it began, by this machine's clock.
        package var begunAt: UInt64 = 0
        /// That it serves; begun once a deployment that is staged is to be promoted.
        package var live = Step.pending
        /// What its variables say.
        package var evidence = Evidence.unknown
        /// The user's check of it.
        package var check = Step.pending

        /// Nothing was begun.
        package init() {}
    }

    /// One project.
    package struct Member: Equatable, Sendable {
        /// Bringing the new value to the platform.
        package var push = Step.pending
        /// The deployment with the new value.
        package var build = Build()
        /// Whether the new value went live; asked before the way back.
        package var reach = Reach.unknown
        /// Bringing the old value back to the platform.
        package var putBack = Step.pending
        /// The deployment with the old value again.
        package var backBuild = Build()
        /// Making the deployment of before current again, without a build.
        package var previous = Step.pending
        /// What keeps this project from being back as it was.
        package var trouble: Failure?

        /// Tells whether Vercel has a value that somebody else set, which was left there: what is deployed
        /// has the old one, so that nothing is left to bring back.
        package var isLeftThere: Bool { putBack == .done && trouble?.kind == .changedThere }
        /// Tells whether something keeps it from being back as it was.
        package var isStuck: Bool { trouble != nil && !isLeftThere }

        /// Nothing was begun.
        package init() {}
    }

    /// Which way it goes.
    package var direction = Direction.forward
    /// How it ended, or stopped.
    package var outcome = Outcome.none
    /// Teaching the new value.
    package var apply = Step.pending
    /// Ending the old value.
    package var revoke = Step.pending
    /// Teaching the old value again.
    package var undo = Step.pending
    /// What turned it round, or stopped it.
    package var failure: Failure?
    /// The project that it happened in, by its place.
    package var failedMember: Int?
    /// The projects, in the order of the plan.
    package var members: [Member]

    /// Tells whether nothing was done yet that anybody but the vault could have seen.
    package var isUntouched: Bool {
        apply == .pending && members.allSatisfy { $0.push == .pending }
    }

    /// Nothing was begun.
    package init(memberCount: Int) {
        members = Array(repeating: Member(), count: memberCount)
    }
}

extension RotationProgress {
    func encode(into writer: inout ByteWriter) {
        for byte in [
            direction.rawValue, outcome.rawValue, apply.rawValue, revoke.rawValue, undo.rawValue,
        ] {
            writer.byte(byte)
        }
        failure.encode(into: &writer)
        writer.uint32(UInt32((failedMember ?? -1) + 1))
        for member in members {
            writer.byte(member.push.rawValue)
            member.build.encode(into: &writer)
            writer.byte(member.reach.rawValue)
            writer.byte(member.putBack.rawValue)
            member.backBuild.encode(into: &writer)
            writer.byte(member.previous.rawValue)
            member.trouble.encode(into: &writer)
        }
    }

    /// - Parameter memberCount: From the plan.
    static func decode(
        from reader: inout ByteReader, memberCount: Int
    ) throws(VaultError) -> RotationProgress {
        var progress = RotationProgress(memberCount: memberCount)
        progress.direction = try reader.word()
        progress.outcome = try reader.word()
        progress.apply = try reader.word()
        progress.revoke = try reader.word()
        progress.undo = try reader.word()
        progress.failure = try reader.failure()
        let failed = Int(try reader.uint32())
        guard failed <= memberCount else { throw RotationEntry.malformed }
        progress.failedMember = failed == 0 ? nil : failed - 1
        for place in 0..<memberCount {
            progress.members[place].push = try reader.word()
            progress.members[place].build = try Build.decode(from: &reader)
            progress.members[place].reach = try reader.word()
            progress.members[place].putBack = try reader.word()
            progress.members[place].backBuild = try Build.decode(from: &reader)
            progress.members[place].previous = try reader.word()
            progress.members[place].trouble = try reader.failure()
        }
        return progress
    }
}

extension RotationProgress.Build {
    fileprivate func encode(into writer: inout ByteWriter) {
        writer.byte(create.rawValue)
        writer.byte(way.rawValue)
        writer.byte(attempt)
        writer.text(id)
        writer.uint64(begunAt)
        writer.byte(live.rawValue)
        writer.byte(evidence.rawValue)
        writer.byte(check.rawValue)
    }

    fileprivate static func decode(
        from reader: inout ByteReader
    ) throws(VaultError) -> RotationProgress.Build {
        var build = RotationProgress.Build()
        build.create = try reader.word()
        build.way = try reader.word()
        build.attempt = try reader.byte()
        build.id = try reader.text(limit: VaultFormat.textLimit)
        build.begunAt = try reader.uint64()
        build.live = try reader.word()
        build.evidence = try reader.word()
        build.check = try reader.word()
        return build
    }
}

extension Optional where Wrapped == RotationProgress.Failure {
    fileprivate func encode(into writer: inout ByteWriter) {
        writer.flag(self != nil)
        guard let self else { return }
        writer.byte(self.kind.rawValue)
        writer.text(self.reason)
    }
}

extension ByteReader {
    /// A byte with a closed set of meanings.
    fileprivate mutating func word<T: RawRepresentable>() throws(VaultError) -> T
    where T.RawValue == UInt8 {
        guard let word = T(rawValue: try byte()) else { throw RotationEntry.malformed }
        return word
    }

    fileprivate mutating func failure() throws(VaultError) -> RotationProgress.Failure? {
        guard try flag() else { return nil }
        let kind: RotationProgress.Failure.Kind = try word()
        return .init(kind, try text(limit: VaultFormat.nameLimit))
    }
}
