internal import Sealing

/// A rotation: open in the journal, or ended and kept as history.
///
/// Contains no value, nor anything derived from one.
package struct RotationEntry: Equatable, Sendable {
    /// Permanent.
    package let id: Identifier
    /// By this machine's clock, in milliseconds since 1970.
    package let createdAt: UInt64
    package let plan: RotationPlan
    package var progress: RotationProgress
    /// 0 while the rotation is open.
    package var endedAt: UInt64 = 0

    /// Starts a rotation.
    package init(id: Identifier = .random(), createdAt: UInt64, plan: RotationPlan) {
        self.id = id
        self.createdAt = createdAt
        self.plan = plan
        progress = RotationProgress(memberCount: plan.members.count)
    }

    /// Whether it can still be resumed or aborted.
    package var isOpen: Bool { endedAt == 0 }

    /// Whether a user closed it without resolving it.
    package var isClosed: Bool {
        !isOpen && [.none, .needsAttention].contains(progress.outcome)
    }

    /// Whether it ended before anything was sent, because the variable had been changed elsewhere.
    package var isUnused: Bool {
        guard !isOpen, progress.isUntouched, let kind = progress.failure?.kind else { return false }
        return [.changedThere, .changedHere].contains(kind)
    }

    /// The journal entry kinds of open and of ended rotations.
    static let (openKind, endedKind): (UInt8, UInt8) = (2, 3)
    static let kinds = [openKind, endedKind]
    /// The section of all ended rotations: no command that only uses values opens it.
    static let endedSection = Identifier.zero

    /// The number of ended rotations that a vault remembers.
    package static let historyLimit = 200

    static var malformed: VaultError {
        VaultError(damaged: .encoding, "a rotation in the journal is malformed")
    }

    /// Decodes a journal entry. Returns nil for another kind.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if the payload is malformed.
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

    /// Returns the journal entry that ``init(_:)`` reads.
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
        return JournalEntry(
            id: id, kind: kind, createdAt: createdAt, payload: writer.bytes,
            section: isOpen ? nil : Self.endedSection)
    }

    /// Checks up front that the journal has room for the rotation's whole course.
    ///
    /// - Throws: ``VaultError/Code/tooLarge``.
    package func checkSize() throws(VaultError) {
        let limit = RotationPlan.memberLimit
        var writer = ByteWriter()
        plan.encode(into: &writer)
        // The longest reason, and Vercel ids of the longest known form.
        let perMember = VaultFormat.nameLimit + 256
        let count = writer.bytes.count + (plan.members.count + 1) * perMember
        guard plan.members.count <= limit, count <= JournalEntry.payloadLimit,
            plan.members.allSatisfy({ $0.records.count <= limit })
        else {
            throw VaultError(
                .tooLarge, "the rotation has too many projects for the journal")
        }
    }
}
