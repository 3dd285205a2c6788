internal import CommandLineKit
internal import Glibc
internal import SystemFiles
internal import Vault

/// The project that a command brought into use, reported to the offer to link a directory to it.
struct LinkableProject: NewsPart {
    let name: String
    /// Whether the project is the command's argument.
    var isArgument = false

    mutating func add(_ other: LinkableProject) { self = other }
}

/// Offers to link the working directory to the project given with `-p` or as an argument.
///
/// Asks only a person at a terminal, about a project without a linked directory, in a directory
/// without a link. Never offers the home directory or one that contains it. A failure is only a
/// warning: the command has done its work.
struct LinkOffer: FollowUp {
    init(_ command: ParsedCommand?) {}

    func run(after result: CommandResult, _ workspace: Workspace) -> CommandResult {
        guard result.failure == nil, let project = workspace.session.told[LinkableProject.self],
            project.isArgument || workspace.options.namesProject
        else { return result }
        var result = result
        do {
            try Self.link(project.name, workspace, after: &result)
        } catch {
            workspace.context.warn(
                "not-linked",
                "Could not link this directory. \(CommandError(mapping: error).message)")
        }
        return result
    }

    private static func link(
        _ name: String, _ workspace: Workspace, after result: inout CommandResult
    ) throws {
        let (options, context) = (workspace.options, workspace.context)
        let directory = context.workingDirectory
        guard !options.yes, !options.quiet, !options.json, !options.dryRun,
            TerminalDevice.isTerminal(context.messages.descriptor),
            TerminalDevice.isTerminal(0), workspace.interaction.canConfirm
        else { return }
        let home = context.variable("HOME").flatMap(RealPath.of)
        guard directory != "/", home.map({ !RealPath.isWithin($0, directory) }) ?? false,
            let facts = try? FileFacts(directory), facts.owner == geteuid(),
            facts.permissions & 0o022 == 0,
            (try? LinkFile.nearest(to: directory, user: geteuid(), warn: { _ in })) == .some(nil)
        else { return }
        _ = try workspace.session.keys(.values)
        let index = try workspace.session.index(.listing)
        guard let project = index.project(named: name),
            !index.metadata.approvedDirectories.contains(where: { $0.vaultProject == project.id })
        else { return }
        try result.showText(workspace)
        guard try workspace.interaction.offer("Link this directory to \(name)?") else { return }
        let target: LinkFile.Target =
            project.binding.map {
                .platform(project: $0.projectID, organisation: $0.teamID ?? $0.accountID)
            } ?? .local(name)
        let link = DirectoryLink(workspace)
        _ = try link.write(
            target, name: project.binding?.projectName ?? name, local: name, at: directory)
        do {
            try link.approve(directory, target, as: name, binding: nil)
        } catch {
            // A link that the vault has not approved would stop the next command.
            unsafe unlink(DirectoryLink.path(of: target, at: directory))
            throw error
        }
    }
}
