internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// A project of a group that was removed from this vault, and can be brought back.
struct RemovedProject {
    private let membership: GroupMembership
    private let project: GroupMembership.DetachedProject

    /// - Parameter name: `PROJECT@GROUP`.
    init?(_ name: String, in index: VaultIndex) throws {
        for membership in try GroupMembership.all(in: index)
        where membership.standing == .active {
            guard
                let found = membership.detached.first(where: {
                    $0.project == nil && "\($0.name)@\(membership.name)" == name
                })
            else { continue }
            (self.membership, project) = (membership, found)
            return
        }
        return nil
    }

    /// The names under which `group adopt` brings projects of a group back.
    static func names(_ membership: GroupMembership) -> [String] {
        membership.detached.filter { $0.project == nil }.map { "\($0.name)@\(membership.name)" }
            .sorted()
    }

    func plan(_ name: String) -> CommandResult {
        CommandResult(
            json: ["project": .string(name), "dryRun": true],
            text: DisplayText.safe(
                sentence: "Would get \(project.name) from \(membership.name) again, as \(name)")
                + "\n")
    }

    /// Syncs, so that the newest state comes, and returns the project.
    func takeAgain(_ workspace: Workspace) throws -> VaultProject {
        let access = try GroupAccess(membership, workspace)
        try access.sync(takingAgain: project.compartment)
        let index = try workspace.session.index(.everything, with: .values)
        let shared = try SharedProject.all(in: index).first {
            $0.group == membership.group && $0.compartment == project.compartment
        }
        guard let found = shared.flatMap({ index.project($0.project) }) else {
            throw CommandError(
                .notFound, "You no longer have access to \(project.name) in \(membership.name).")
        }
        return found
    }
}
