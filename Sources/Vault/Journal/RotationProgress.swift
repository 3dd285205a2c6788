/// The progress of a rotation. Pure data; other code decides what comes next.
package struct RotationProgress: Equatable, Sendable {
    package enum Direction: UInt8, Sendable {
        /// Distributing the new value.
        case forward = 1
        /// Restoring the old value.
        case backward = 2
    }

    /// The state of a step. One that has begun may have been completed.
    package enum Step: UInt8, Sendable {
        case pending = 0
        case begun = 1
        case done = 2
        case failed = 3
    }

    package enum Outcome: UInt8, Sendable {
        /// Not ended.
        case none = 0
        case done = 1
        case rolledBack = 2
        /// Stopped; can be resumed or aborted.
        case needsAttention = 3
    }

    /// What a deployment's own variables prove.
    package enum Evidence: UInt8, Sendable {
        /// Not checked.
        case unknown = 0
        case holdsNew = 1
        case holdsOld = 2
        case holdsOther = 3
        /// Vercel does not show the value.
        case unreadable = 4
        /// Vercel shows the deployment's variables, and this one is missing.
        case isAbsent = 5
    }

    /// How a deployment is created.
    package enum Way: UInt8, Sendable {
        case redeploy = 1
        /// A new production deployment from another one's source.
        case promotion = 2
    }

    /// Whether a deployment created since the start went live.
    package enum Reach: UInt8, Sendable {
        case unknown = 0
        case notLive = 1
        case live = 2
    }

    package struct Failure: Error, Equatable, Sendable {
        /// The kind, which determines what can be done about it.
        package enum Kind: UInt8, Sendable, CaseIterable {
            case apply = 1
            case push = 2
            /// The variable was changed on Vercel.
            case changedThere = 3
            /// The variable was changed in the vault.
            case changedHere = 4
            /// The deployment could not be created.
            case deploy = 5
            /// The build ended in ERROR, CANCELED or BLOCKED.
            case build = 6
            /// Built, but another deployment is live.
            case notLive = 7
            case timedOut = 8
            /// The new deployment has the old value.
            case holdsOld = 9
            /// The new deployment has a third value.
            case holdsOther = 10
            case check = 11
            /// The old value was to be revoked, but nothing proved the new one.
            case notProved = 12
            case revoke = 13
            case undo = 14
            /// Vercel could not be reached.
            case unavailable = 15
            /// Vercel denied access.
            case unauthorized = 16
            /// The user requested a revert.
            case aborted = 17
            /// The vault has no old value.
            case noOldValue = 18
            /// Built and staged: the production domains await a promotion.
            case staged = 19
        }

        package let kind: Kind
        /// For people, without a value; at most 1 KiB.
        package let reason: String

        /// Truncates a reason that is too long.
        package init(_ kind: Kind, _ reason: String) {
            self.kind = kind
            var reason = reason
            while reason.utf8.count > VaultFormat.nameLimit {
                reason = String(reason.prefix(reason.count * 3 / 4))
            }
            self.reason = reason
        }
    }

    /// A deployment of a project.
    package struct Build: Equatable, Sendable {
        /// Creating it.
        package var create = Step.pending
        package var way = Way.redeploy
        /// Distinguishes attempts.
        package var attempt: UInt8 = 1
        /// The id on Vercel; empty while unknown.
        package var id = ""
        /// When creation started, by this machine's clock.
        package var begunAt: UInt64 = 0
        /// Going live; begun once a staged deployment is to be promoted.
        package var live = Step.pending
        package var evidence = Evidence.unknown
        /// The user's check.
        package var check = Step.pending

        package init() {}
    }

    /// The progress in one project.
    package struct Member: Equatable, Sendable {
        /// Sending the new value to Vercel.
        package var push = Step.pending
        /// The deployment with the new value.
        package var build = Build()
        /// Whether the new value went live; determined before a revert.
        package var reach = Reach.unknown
        /// Sending the old value to Vercel.
        package var restoreOriginal = Step.pending
        /// The deployment with the restored old value.
        package var revertBuild = Build()
        /// Making the previous deployment live again, without a build.
        package var previous = Step.pending
        /// Why this project could not be restored.
        package var trouble: Failure?

        /// Whether a different value was set on Vercel, and left there: what is deployed has the old
        /// value, so there is nothing to restore.
        package var isKeptOnVercel: Bool {
            restoreOriginal == .done && trouble?.kind == .changedThere
        }
        /// Whether something prevents this project's restoration.
        package var isStuck: Bool { trouble != nil && !isKeptOnVercel }

        package init() {}
    }

    package var direction = Direction.forward
    package var outcome = Outcome.none
    private var stages = Array(
        repeating: Step.pending, count: RotationPlan.Stage.allCases.count)
    /// Why the rotation was reverted or stopped.
    package var failure: Failure?
    /// The index of the project in which it failed.
    package var failedMember: Int?
    /// In the order of the plan.
    package var members: [Member]

    /// Whether nothing was done yet that is visible outside of the vault.
    package var isUntouched: Bool {
        stages.allSatisfy { $0 == .pending } && members.allSatisfy { $0.push == .pending }
    }

    package subscript(stage: RotationPlan.Stage) -> Step {
        get { stages[stage.rawValue] }
        set { stages[stage.rawValue] = newValue }
    }

    package init(memberCount: Int) {
        members = Array(repeating: Member(), count: memberCount)
    }
}

extension RotationProgress {
    func encode(into writer: inout ByteWriter) {
        writer.byte(direction.rawValue)
        writer.byte(outcome.rawValue)
        for step in stages { writer.byte(step.rawValue) }
        failure.encode(into: &writer)
        writer.uint32(UInt32((failedMember ?? -1) + 1))
        for member in members {
            writer.byte(member.push.rawValue)
            member.build.encode(into: &writer)
            writer.byte(member.reach.rawValue)
            writer.byte(member.restoreOriginal.rawValue)
            member.revertBuild.encode(into: &writer)
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
        for stage in RotationPlan.Stage.allCases { progress[stage] = try reader.word() }
        progress.failure = try reader.failure()
        let failed = Int(try reader.uint32())
        guard failed <= memberCount else { throw RotationEntry.malformed }
        progress.failedMember = failed == 0 ? nil : failed - 1
        for place in 0..<memberCount {
            progress.members[place].push = try reader.word()
            progress.members[place].build = try Build.decode(from: &reader)
            progress.members[place].reach = try reader.word()
            progress.members[place].restoreOriginal = try reader.word()
            progress.members[place].revertBuild = try Build.decode(from: &reader)
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
    /// Reads a byte of an enumeration.
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
