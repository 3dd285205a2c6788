internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// What happens after a command that changed shared projects: the changes are sent, or the user
/// learns that they wait.
struct GroupPublication: FollowUp {
    static let options = [
        OptionSpec(flag: "sync", "Send the change to the project's group immediately")
    ]

    private let syncs: Bool

    static let fields = """
        groupChanges?: { (changes of shared projects that are not sent yet)
            waiting: number
        }
        sync?: {zg-env sync, groups} | [{zg-env sync, groups}] (with --sync; a list with the setting group-publish)
        """

    init(_ command: ParsedCommand?) {
        syncs = command?.has("sync") ?? false
    }

    /// Refuses `--sync` for a project that no group shares.
    func check(_ workspace: Workspace) throws {
        if syncs { _ = try membership(workspace) }
    }

    /// Adds to a result that changes wait, after sending them if an option or the settings say so.
    func run(after result: CommandResult, _ workspace: Workspace) -> CommandResult {
        if syncs { return send(after: result, workspace) }
        func waiting() -> Int { workspace.session.told[WaitingChanges.self]?.count ?? 0 }
        var result = result
        if waiting() == 0 { return result }
        if isAutomatic(workspace) { result = publishAll(after: result, workspace) }
        let left = waiting()
        if left == 0 { return result }
        workspace.note(WaitingChanges.advice(left))
        return result.with("groupChanges", ["waiting": .integer(Int64(left))])
    }

    /// Settings that cannot be read fail the command that needs them; here the changes just wait.
    private func isAutomatic(_ workspace: Workspace) -> Bool {
        guard !workspace.options.offline, let settings = try? Settings(workspace.context) else {
            return false
        }
        return settings[.groupPublish] == .text("auto")
    }

    /// Sends what waits without a question. The command has done its work, so a failure is a warning.
    private func publishAll(after result: CommandResult, _ workspace: Workspace) -> CommandResult {
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
                    warn(error, " to \(membership.name)", workspace)
                }
            }
        } catch {
            warn(error, "", workspace)
        }
        return reports.isEmpty ? result : result.with("sync", .array(reports))
    }

    private func warn(_ error: any Error, _ group: String, _ workspace: Workspace) {
        workspace.context.warn(
            "not-sent",
            "The change was not sent\(group). \(CommandError(mapping: error).message)")
    }

    /// The group that the command's project is shared with.
    ///
    /// - Throws: ``ExitCode/usage`` if it is not shared, ``ExitCode/unauthorized`` if this vault is
    ///   no active member.
    private func membership(_ workspace: Workspace) throws -> GroupMembership {
        let index = try workspace.session.index(.everything)
        let (project, name) = try ProjectResolver(workspace).existingOrNew(in: index)
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
    private func send(after result: CommandResult, _ workspace: Workspace) -> CommandResult {
        var (result, group) = (result, "the group")
        do {
            let membership = try membership(workspace)
            group = membership.name
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
                    "The change is in the vault, but was not sent to \(group). "
                        + failure.message, hint: "Send it with: zg-env sync")
        }
        return result
    }
}
