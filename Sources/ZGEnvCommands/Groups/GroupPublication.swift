internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import SharedProjects
internal import Vault

/// What happens after a command that changed shared projects: the changes are sent, or the user
/// learns that they wait.
struct GroupPublication {
    private let workspace: Workspace

    static let fields = """
        groupChanges?: { (changes of shared projects that are not sent yet)
            waiting: number
        }
        sync?: [{zg-env sync, groups}] (with the setting group-publish)
        """

    init(_ workspace: Workspace) { self.workspace = workspace }

    /// Adds to a result that changes wait, after sending them if the settings say so.
    func finish(_ result: CommandResult) -> CommandResult {
        var result = result
        let waiting = workspace.session.waiting
        if waiting.isEmpty || waiting.isReported { return result }
        if waiting.count > 0, isAutomatic { result = publishAll(after: result) }
        let left = workspace.session.waiting
        if left.isEmpty { return result }
        workspace.note(WaitingChanges.advice(left.count))
        return result.with("groupChanges", ["waiting": .integer(Int64(left.count))])
    }

    /// Settings that cannot be read fail the command that needs them; here the changes just wait.
    private var isAutomatic: Bool {
        guard !workspace.options.offline, let settings = try? Settings(workspace.context) else {
            return false
        }
        return settings[.groupPublish] == .text("auto")
    }

    /// Sends what waits without a question. The command has done its work, so a failure is a warning.
    private func publishAll(after result: CommandResult) -> CommandResult {
        let quiet = workspace.beside(
            workspace.command, workspace.options, workspace.context, ScriptInteraction())
        var reports: [JSONValue] = []
        do {
            let index = try workspace.session.index(.everything, with: .values)
            let groups = Set(
                try index.groupEntries(.outgoingChange).map { try OutgoingChange($0).group })
            for membership in try GroupMembership.all(in: index)
            where groups.contains(membership.group) {
                do {
                    let report = try GroupSync.sync(
                        try GroupAccess(membership, quiet), quiet, admits: false)
                    report.news.forEach(workspace.note)
                    reports.append(report.json)
                } catch {
                    warn(error, " to \(membership.name)")
                }
            }
        } catch {
            warn(error)
        }
        return reports.isEmpty ? result : result.with("sync", .array(reports))
    }

    private func warn(_ error: any Error, _ group: String = "") {
        workspace.context.warn(
            "not-sent",
            "The change was not sent\(group). \(CommandError(mapping: error).message)")
    }

    /// The group that a project is shared with.
    ///
    /// - Throws: ``ExitCode/usage`` if it is not shared, ``ExitCode/unauthorized`` if this vault is
    ///   no active member.
    func membership(of project: VaultProject?, _ name: String) throws -> GroupMembership {
        let index = try workspace.session.index(.everything)
        let shared = try SharedProject.all(in: index).first { $0.project == project?.id }
        guard let shared,
            let membership = try GroupMembership.all(in: index).first(where: {
                $0.group == shared.group
            })
        else {
            throw CommandError(
                .usage,
                "\(name) is not shared with a group, so there is nowhere to send the change.",
                hint: "Leave out --sync, or share it first: zg-env share \(word: name) --group NAME"
            )
        }
        guard membership.standing == .active else { throw Self.notMember(membership) }
        return membership
    }

    private static func notMember(_ membership: GroupMembership) -> SharingError {
        SharingError(.notAllowed, "This vault is not an active member of \(membership.name).")
    }

    /// Sends what a command stored, and adds the report, or why it was not sent.
    func send(to membership: GroupMembership, after result: CommandResult) -> CommandResult {
        workspace.session.waiting.isReported = true
        var result = result
        do {
            let access = try GroupAccess(membership, workspace)
            let report = try GroupSync.sync(access, workspace, admits: false)
            report.lines.forEach(workspace.note)
            result = result.with("sync", report.json)
            guard access.membership.standing == .active else { throw Self.notMember(membership) }
            guard report.lateCount == 0 else {
                result.failure =
                    result.failure
                    ?? CommandError(
                        .unauthorized, "A change does not count and was undone; see the warning."
                    )
                return result
            }
            let index = try workspace.session.index(.everything)
            guard try OutgoingChange.all(of: membership.group, in: index).isEmpty else {
                throw CommandError(
                    .unavailable, "zg-env could not confirm that the place has the change.")
            }
        } catch {
            let failure = CommandError(mapping: error)
            result.failure =
                result.failure
                ?? CommandError(
                    failure.code,
                    "The change is in the vault, but was not sent to \(membership.name). "
                        + failure.message, hint: "Send it with: zg-env sync")
        }
        return result
    }
}
