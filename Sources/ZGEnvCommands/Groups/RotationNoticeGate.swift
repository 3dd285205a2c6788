internal import CommandLineKit
internal import SharedProjects
internal import Vault

/// Keeps values from being changed or sent while a colleague rotates them.
enum RotationNoticeGate {
    /// - Throws: ``ExitCode/conflict`` if a colleague rotates one of these variables.
    static func check(_ variables: Set<Identifier>, in index: VaultIndex) throws {
        guard let first = try RotationNotice.all(about: variables, in: index).first else { return }
        let project = index.project(first.shared.project)?.name ?? ""
        let key = index.variables.first { $0.id == first.notice.variable }?.name ?? ""
        throw CommandError(
            .conflict, "\(try author(of: first, in: index)) is rotating \(key) in \(project).",
            hint:
                "Wait until the rotation has ended, and run: zg-env sync. If the rotation was "
                + "abandoned, run: zg-env rotate \(word: key) -p \(word: project) --take-over")
    }

    /// Checks what a write changes.
    static func check(_ transaction: borrowing VaultTransaction) throws {
        let index = transaction.index
        if index.journal.isEmpty { return }
        let rotated = Set(try SharedProject.all(in: index).flatMap(\.notices).map(\.variable))
        if rotated.isEmpty { return }
        try check(transaction.changedValues(among: rotated), in: index)
    }

    /// With a part of the index, the names of members are not there.
    static func author(
        of found: (notice: RotationNotice, shared: SharedProject), in index: VaultIndex
    ) throws -> String {
        try GroupMembership.of(found.shared.group, in: index)?.label(of: found.notice.author)
            ?? "A colleague"
    }
}
