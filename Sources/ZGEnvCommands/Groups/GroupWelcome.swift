internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// What a newcomer does with the projects of a group: one dialogue, or options in its place.
struct GroupWelcome {
    /// Whether to adopt all projects or none; nil to ask a person.
    private let adopts: Bool?
    private let binds: Bool
    private let links: Bool

    /// Whether an option was given.
    var isNamed: Bool { adopts != nil || binds || links }

    init(_ command: ParsedCommand) {
        adopts = command.value("adopt").map { $0 == "all" }
        binds = command.has("bind")
        links = command.has("link")
    }

    private func asks(_ workspace: Workspace) -> Bool {
        adopts == nil && workspace.interaction.canConfirm && !workspace.options.yes
    }

    /// Refuses options about adopted projects if none would be adopted, before the invite is answered.
    func check(_ workspace: Workspace) throws {
        guard binds || links, adopts != true, !asks(workspace) else { return }
        throw CommandError(
            .usage, "No project would be adopted, so there would be nothing to link.",
            hint: "Add --adopt all.")
    }

    /// Adopts the projects of a group that the vault does not use yet, and adds what was done.
    func run(
        _ group: GroupHash, after result: inout CommandResult, _ workspace: Workspace
    ) throws {
        let index = try workspace.session.index(.everything)
        let projects = try SharedProject.all(in: index).filter {
            $0.group == group && !$0.isAdopted
        }.compactMap { index.project($0.project)?.name }.sorted()
        let asks = asks(workspace)
        guard adopts == true || asks, !projects.isEmpty || links else { return }
        try result.showText(workspace)
        // What the options do not allow is asked where somebody can answer.
        let adoption = GroupAdoption(workspace, binds: binds ? true : asks ? nil : false)
        var adopted: [String] = []
        do {
            for project in projects {
                let name = project.lastIndex(of: "@").map { String(project[..<$0]) } ?? project
                guard
                    try adopts == true
                        || workspace.interaction.offer("Use \(project) as \(name)?")
                else { continue }
                _ = try adoption.adopt(project, as: name)
                adopted.append(name)
            }
            if let only = adopted.first, adopted.count == 1 {
                if links {
                    let directory = workspace.context.workingDirectory
                    let link = DirectoryLink(workspace)
                    _ = try link.write(.local(only), name: only, local: only, at: directory)
                    try link.approve(
                        directory, .local(only), as: only, binding: nil)
                } else {
                    workspace.session.tell(LinkableProject(name: only, isArgument: true))
                }
            } else if links {
                throw CommandError(
                    .usage,
                    "This directory was not linked: \(adopted.count) projects were adopted.",
                    hint: "Link it with: zg-env link --local NAME")
            }
        } catch {
            var failure = CommandError(mapping: error)
            failure.message = "You are a member of the group now. " + failure.message
            result.failure = failure
        }
        result = result.with("adopted", .strings(adopted))
    }
}
