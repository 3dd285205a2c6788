internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// Asks, for each conflict of a pull, which side to keep.
struct ConflictQuestions {
    private static let (skip, mine, theirs, difference) = ("skip", "mine", "theirs", "diff")
    /// The most characters of a value that a comparison shows.
    private static let longestValue = 400

    private let workspace: Workspace
    private let work: PullWork

    init(_ workspace: Workspace, _ work: PullWork) {
        (self.workspace, self.work) = (workspace, work)
    }

    /// Asks about each conflict that can be decided, and adds the answers to the plan. Asks nothing
    /// with `--yes` and `--dry-run`, and where there is no terminal.
    ///
    /// - Parameter before: How many sides were chosen before, for other projects.
    /// - Returns: How many were chosen by now.
    func decide(_ finding: inout PullWork.Finding, after before: Int = 0) throws -> Int {
        guard !workspace.options.yes, !workspace.options.dryRun, workspace.interaction.canConfirm
        else { return before }
        var count = before
        // What follows is not what the last words say.
        defer { if count > 0 { Interrupts.setInterruptionMessage("") } }
        // A decision can resolve other conflicts, or bring new ones.
        var skipped: [(variable: Identifier?, record: String?)] = []
        while let conflict = finding.plan.conflicts.first(where: { conflict in
            let (variable, record) = (conflict.variable?.id, conflict.record?.id)
            return !conflict.sides.isEmpty
                && !skipped.contains { $0.variable == variable && $0.record == record }
        }) {
            if count > 0 {
                workspace.interaction.setInterruptionMessage(
                    "Stopped by a signal. \(Self.dropped(count))",
                    hint: "Run the command again to choose again.")
            }
            switch try answer(conflict, finding) {
            case Self.mine:
                finding.decide(conflict, for: .vault)
                count += 1
            case Self.theirs:
                finding.decide(conflict, for: .vercel)
                count += 1
            case Self.difference:
                try show(conflict, of: finding)
            default: skipped.append((conflict.variable?.id, conflict.record?.id))
            }
        }
        return count
    }

    /// Says that choices came to nothing.
    static func dropped(_ count: Int) -> String {
        "Nothing was changed: \(count == 1 ? "the choice" : "the \(count) choices") made so far "
            + "\(count == 1 ? "was" : "were") not applied."
    }

    private func answer(_ conflict: PullConflict, _ finding: PullWork.Finding) throws -> String {
        var choices: [(word: String, text: String)] = []
        if conflict.sides.contains(.vault) { choices.append((Self.mine, "keep mine (m)")) }
        if conflict.sides.contains(.vercel) { choices.append((Self.theirs, "take theirs (t)")) }
        let isComparable =
            conflict.record.map { finding.values[$0.id] != nil } == true
            && conflict.variable.map { $0.isLive && $0.currentVersion > 0 } == true
        if isComparable { choices.append((Self.difference, "show both values (d)")) }
        let text = choices.map(\.text).joined(separator: ", ")
        return try workspace.interaction.choose(
            lines(conflict, finding), "Choose: \(text) or skip?",
            from: [Self.skip] + choices.map(\.word))
    }

    /// Both sides, without values.
    private func lines(_ conflict: PullConflict, _ finding: PullWork.Finding) -> [String] {
        let note = conflict.note
        let now = Int64(clamping: workspace.context.now())
        func age(_ time: UInt64) -> String { TimeText.age(of: Int64(clamping: time), at: now) }
        let vault =
            conflict.variable.map { variable in
                !variable.isLive
                    ? "removed \(age(variable.deletedAt ?? variable.updatedAt))"
                    : variable.currentVersion == 0
                        ? "no value, changed \(age(variable.updatedAt))"
                        : "version \(variable.currentVersion), changed \(age(variable.updatedAt))"
            } ?? "another variable for this scope"
        let vercel =
            conflict.record.map { record in
                "changed \(age(record.updatedAt))\(record.phrase(for: record.updatedBy, as: finding.ownUser))"
            } ?? "removed"
        return [
            "\(note.key) (\(note.scope.description)): \(note.reason).", "vault   \(vault)",
            "Vercel  \(vercel)",
        ]
    }

    // MARK: Values

    /// Shows both values.
    private func show(_ conflict: PullConflict, of finding: PullWork.Finding) throws {
        guard let variable = conflict.variable, let record = conflict.record,
            let theirs = finding.values[record.id]
        else { return }
        let ours = try workspace.revealed(
            variable.id, in: work.project, command: Pull.spec.name
        ).value
        try show("  vault   ", ours)
        try show("  Vercel  ", theirs)
    }

    /// Shows a value on one line, and cuts off a long one.
    private func show(_ label: String, _ value: SecretSlice) throws {
        let box = SecretBox(try SecretBuffer(capacity: 8 << 10))
        try box.append(label)
        try value.withBytes { bytes in
            var (place, count) = (0, 0)
            while place < bytes.byteCount, count < Self.longestValue {
                let character = ValueCharacter(bytes, at: place)
                try character.append(to: box, from: bytes)
                (place, count) = (place + character.length, count + 1)
            }
            try box.append(
                place < bytes.byteCount ? " … (\(bytes.byteCount) bytes in all)\n" : "\n")
        }
        try box.withBytes { try workspace.interaction.showValue($0) }
    }
}
