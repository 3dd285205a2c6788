internal import Sealing

/// A rotation as the vault keeps it: open in the journal, and afterwards in its history.
///
/// Its commands are run when it is resumed, so it counts only as the checkpoint holds it: who has the
/// index key alone cannot put other commands in. Holds no value, nor anything made from one.
package struct RotationEntry: Equatable, Sendable {
    /// Names the rotation for ever.
    package let id: Identifier
    /// By this machine's clock, in milliseconds since 1970.
    package let createdAt: UInt64
    /// What it is to do.
    package let plan: RotationPlan
    /// How far it is.
    package var progress: RotationProgress
    /// When it ended, 0 while it is open.
    package var endedAt: UInt64 = 0

    /// Begins one.
    package init(id: Identifier = .random(), createdAt: UInt64, plan: RotationPlan) {
        self.id = id
        self.createdAt = createdAt
        self.plan = plan
        progress = RotationProgress(memberCount: plan.members.count)
    }

    /// Tells whether it can still be resumed or aborted.
    package var isOpen: Bool { endedAt == 0 }

    /// Tells whether a user has closed it as it stood.
    package var isClosed: Bool {
        !isOpen && [.none, .needsAttention].contains(progress.outcome)
    }

    /// Tells whether it ended because somebody else had changed the variable, before anything was sent.
    package var isUnused: Bool {
        guard !isOpen, progress.isUntouched, let kind = progress.failure?.kind else { return false }
        return [.changedThere, .changedHere].contains(kind)
    }

    /// Kinds of journal entries: one that is open, and one that has ended.
    static let (openKind, endedKind): (UInt8, UInt8) = (2, 3)
    static let kinds = [openKind, endedKind]

    /// How many rotations that have ended a vault remembers.
    package static let historyLimit = 200

    static var malformed: VaultError {
        VaultError(damaged: .encoding, "a rotation in the journal cannot be read")
    }

    /// Of one that the checkpoint does not hold.
    static var forged: VaultError {
        VaultError(
            damaged: .rotation,
            "a rotation in the journal was changed by somebody who cannot open the values")
    }

    /// Reads a journal entry; nil for one of another kind. Who made it is not checked.
    ///
    /// - Throws: ``VaultError/Code/damaged`` when it is none of this form.
    package init?(_ entry: JournalEntry) throws(VaultError) {
        guard Self.kinds.contains(entry.kind) else { return nil }
        let (plan, progress, endedAt) = try entry.payload.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let plan = try RotationPlan.decode(from: &reader)
                let progress = try RotationProgress.decode(
                    from: &reader, memberCount: plan.members.count)
                let endedAt = try reader.uint64()
                try reader.expectEnd(of: "a rotation")
                return (plan, progress, endedAt)
            }
        }
        guard (endedAt == 0) == (entry.kind == Self.openKind), !plan.members.isEmpty else {
            throw Self.malformed
        }
        (id, createdAt, self.plan) = (entry.id, entry.createdAt, plan)
        (self.progress, self.endedAt) = (progress, endedAt)
    }

    /// The journal entry that ``init(_:)`` reads.
    ///
    /// - Throws: ``VaultError/Code/tooLarge``.
    func entry() throws(VaultError) -> JournalEntry {
        var writer = ByteWriter()
        plan.encode(into: &writer)
        progress.encode(into: &writer)
        writer.uint64(endedAt)
        let kind = isOpen ? Self.openKind : Self.endedKind
        guard writer.bytes.count <= JournalEntry.payloadLimit else {
            throw VaultError(.tooLarge, "the rotation is too large for the journal")
        }
        return JournalEntry(id: id, kind: kind, createdAt: createdAt, payload: writer.bytes)
    }

    /// Sees before anything is begun that the journal can hold it to its end, whatever becomes of it.
    ///
    /// - Throws: ``VaultError/Code/tooLarge``.
    package func checkSize() throws(VaultError) {
        let limit = RotationPlan.memberLimit
        var writer = ByteWriter()
        plan.encode(into: &writer)
        // The longest reason, and ids of the platform as long as any that is known.
        let perMember = VaultFormat.nameLimit + 256
        let count = writer.bytes.count + (plan.members.count + 1) * perMember
        guard plan.members.count <= limit, count <= JournalEntry.payloadLimit,
            plan.members.allSatisfy({ $0.records.count <= limit })
        else {
            throw VaultError(
                .tooLarge, "so many projects are too large for the journal as one rotation")
        }
    }
}
