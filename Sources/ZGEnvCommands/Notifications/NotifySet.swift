internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `notify set`: chooses what is told of a project.
struct NotifySet: Command {
    static let spec = CommandSpec(
        ["notify", "set"], "Choose what is told of a project", section: "Platform",
        discussion: """
            Nothing is told until it is chosen here. A choice takes the place of the one before. The \
            choices are kept on this machine alone, sealed, and a running zg-env notify run sees them \
            at once.
            """,
        arguments: [
            ArgumentSpec("PROJECT", .one, "The project", completion: .dynamic(.project))
        ],
        options: [
            OptionSpec(
                "on", value: "EVENT", "Tell this",
                form: .oneOf(NotificationChoices.Event.allCases.map(\.rawValue)),
                repeatable: true, commaSeparated: true),
            OptionSpec(flag: "off", "Tell nothing of the project any more"),
            OptionSpec(flag: "production-only", "Tell only of deployments to production"),
        ],
        exclusive: [["on", "off"], ["off", "production-only"]],
        examples: [
            .init("zg-env notify set web --on ready,failed", "when it ended, for good or bad"),
            .init("zg-env notify set web --on failed --production-only", "what hurts"),
            .init("zg-env notify set web --off", "nothing any more"),
        ], exitCodes: [ExitCode.conflict.rawValue] + ExitCode.ofOpening)

    private let name: String
    private let events: Set<NotificationChoices.Event>
    private let productionOnly: Bool

    init(_ command: ParsedCommand) throws {
        name = command.required("PROJECT")
        events = Set(command.values("on").compactMap { NotificationChoices.Event(rawValue: $0) })
        productionOnly = command.has("production-only")
        guard command.has("off") || !events.isEmpty else {
            throw CommandError(
                .usage, "What is to be told?",
                hint: "Say --on started,ready,failed,canceled or some of them, or --off.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.index(.listing)
        let files = try NotificationFiles(workspace, keys: keys)
        // What the vault does not have any more can still be switched off.
        guard let project = index.project(named: name) else {
            let known = try files.choices().choices.first { $0.name == name }
            guard events.isEmpty, let known else {
                throw ProjectResolver.notFound(name, in: index)
            }
            return try apply(without(known), files, workspace)
        }
        let bound =
            try project.binding
            ?? BoundProject.inVault(
                project, PlatformSession(workspace), workspace
            ).local?.binding
        guard let binding = bound else { throw ProjectResolver.notFound(name, in: index) }
        let choice = NotificationChoices.Choice(
            scope: .init(binding), projectID: binding.projectID, name: project.name,
            events: events, productionOnly: productionOnly,
            since: Int64(clamping: workspace.context.now()))
        return try apply(choice, files, workspace)
    }

    private func without(
        _ choice: NotificationChoices.Choice
    ) -> NotificationChoices.Choice {
        var off = choice
        off.events = []
        return off
    }

    private func apply(
        _ choice: NotificationChoices.Choice, _ files: NotificationFiles, _ workspace: Workspace
    ) throws -> CommandResult {
        if !workspace.options.dryRun {
            try files.updateChoices { choices in
                guard choices.set(choice) else {
                    throw CommandError(
                        .usage,
                        "Notifications are for \(NotificationChoices.limit) projects at most.",
                        hint: "Switch others off with: zg-env notify set PROJECT --off")
                }
            }
            // Read back: what is said to be kept is kept.
            let kept = try files.choices().choices.first {
                $0.projectID == choice.projectID && $0.scope.origin == choice.scope.origin
            }
            guard (kept?.events ?? []) == choice.events else {
                throw CommandError(
                    .conflict,
                    "The choice for \(choice.name) was changed meanwhile.",
                    hint: "See what stands with: zg-env notify show")
            }
            workspace.note(NotifyShow.sentence(choice))
        }
        return CommandResult(
            json: .object(
                NotifyShow.members(choice)
                    + [.init("dryRun", .bool(workspace.options.dryRun))]),
            text: workspace.options.dryRun ? "Would keep: \(NotifyShow.sentence(choice))\n" : "")
    }
}
