internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `notify set`: chooses which events of a project are shown.
struct NotifySet: Command {
    static let spec = CommandSpec(
        ["notify", "set"], "Choose which notifications to show for a project",
        discussion: """
            No notifications are shown until you choose them with this command. A new choice \
            replaces the previous choice. Choices are stored encrypted on this machine only; a \
            running zg-env notify run applies them immediately.
            """,
        arguments: [
            ArgumentSpec("PROJECT", .one, "The project", completion: .dynamic(.project))
        ],
        options: [
            OptionSpec(
                "on", value: "EVENT", "Show notifications for this event",
                form: .oneOf(NotificationChoices.Event.allCases.map(\.rawValue)),
                repeatable: true, commaSeparated: true),
            OptionSpec(flag: "off", "Turn off notifications for the project"),
            OptionSpec(flag: "production-only", "Show only production deployments"),
        ],
        exclusive: [["on", "off"], ["off", "production-only"]],
        examples: [
            .init(
                "zg-env notify set web --on ready,failed",
                "notify when a deployment succeeds or fails"),
            .init(
                "zg-env notify set web --on failed --production-only",
                "notify only about failures in production"
            ),
            .init("zg-env notify set web --off", "turn off notifications"),
        ], exitCodes: [ExitCode.conflict.rawValue] + ExitCode.ofOpening)
    static let fields = "\(NotifyShow.choiceFields); dryRun: boolean"

    private let name: String
    private let events: Set<NotificationChoices.Event>
    private let productionOnly: Bool

    init(_ command: ParsedCommand) throws {
        name = command.required("PROJECT")
        events = Set(command.values("on").compactMap { NotificationChoices.Event(rawValue: $0) })
        productionOnly = command.has("production-only")
        guard command.has("off") || !events.isEmpty else {
            throw CommandError(
                .usage, "No event given.",
                hint: "Use --on with one or more of started,ready,failed,canceled, or --off.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.index(.listing)
        let files = try NotificationFiles(workspace, keys: keys)
        // A project that is no longer in the vault can still be switched off.
        guard let project = index.project(named: name) else {
            let known = try files.choices().choices.first { $0.name == name }
            guard events.isEmpty, var choice = known else {
                throw ProjectResolver.notFound(name, in: index)
            }
            choice.events = []
            return try apply(choice, files, workspace)
        }
        guard
            let binding = try project.binding
                ?? LinkedProject.inVault(project, VercelSession(workspace), workspace).local?
                .binding
        else { throw ProjectResolver.notFound(name, in: index) }
        let choice = NotificationChoices.Choice(
            scope: .init(binding), projectID: binding.projectID, name: project.name,
            events: events, productionOnly: productionOnly,
            since: Int64(clamping: workspace.context.now()))
        return try apply(choice, files, workspace)
    }

    private func apply(
        _ choice: NotificationChoices.Choice, _ files: NotificationFiles, _ workspace: Workspace
    ) throws -> CommandResult {
        if !workspace.options.dryRun {
            try files.updateChoices { choices in
                guard choices.set(choice) else {
                    throw CommandError(
                        .usage,
                        "Notifications can be turned on for at most \(NotificationChoices.limit) projects.",
                        hint:
                            "Turn off the notifications of another project with: zg-env notify set PROJECT --off"
                    )
                }
            }
            // Read back to confirm that the choice is on disk.
            let kept = try files.choices().choices.first {
                $0.projectID == choice.projectID && $0.scope.origin == choice.scope.origin
            }
            guard (kept?.events ?? []) == choice.events else {
                throw CommandError(
                    .conflict,
                    "The choice for \(choice.name) was changed by another command at the same time.",
                    hint: "See the current choice with: zg-env notify show")
            }
            workspace.note(NotifyShow.sentence(choice))
        }
        return CommandResult(
            json: .object(
                NotifyShow.members(choice)
                    + [.init("dryRun", .bool(workspace.options.dryRun))]),
            text: workspace.options.dryRun ? "Would set: \(NotifyShow.sentence(choice))\n" : "")
    }
}
