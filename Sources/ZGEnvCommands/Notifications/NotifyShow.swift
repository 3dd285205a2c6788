internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `notify show`: shows which notifications are on for which project.
struct NotifyShow: Command {
    static let spec = CommandSpec(
        ["notify", "show"], "Show which notifications are on",
        exitCodes: ExitCode.ofOpening)
    static let fields = "choices: [{ \(choiceFields) }]"

    /// The note where nothing is chosen.
    static let nothing =
        "Notifications are not turned on for any project. Choose events with: zg-env notify set PROJECT --on ready,failed"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.index(.listing)
        let choices = try NotificationFiles(workspace, keys: keys).choices().choices.map {
            named($0, in: index)
        }
        if choices.isEmpty {
            workspace.note(Self.nothing)
        }
        let look = TerminalStyle(workspace.context)
        var table = Table([
            .init("PROJECT", canShrink: true), .init("EVENTS"), .init("DEPLOYMENTS"),
        ])
        for choice in choices {
            table.append([
                .init(choice.name), .init(Self.words(choice).joined(separator: ", ")),
                .init(choice.productionOnly ? "production" : "all"),
            ])
        }
        return CommandResult(
            json: ["choices": .array(choices.map { .object(Self.members($0)) })],
            text: choices.isEmpty ? "" : table.text(width: look.width, style: look.style))
    }

    /// Returns the choice with the project's current name.
    private func named(
        _ choice: NotificationChoices.Choice, in index: VaultIndex
    ) -> NotificationChoices.Choice {
        var shown = choice
        let project = index.projects.first {
            $0.binding?.projectID == choice.projectID && $0.binding?.origin == choice.scope.origin
        }
        if let project { shown.name = project.name }
        return shown
    }

    private static func words(_ choice: NotificationChoices.Choice) -> [String] {
        NotificationChoices.Event.allCases.filter { choice.events.contains($0) }.map(\.rawValue)
    }

    static let choiceFields = """
        project, projectId: string; on: [\(oneOf: NotificationChoices.Event.self)]
        productionOnly: boolean
        """

    static func members(_ choice: NotificationChoices.Choice) -> [JSONValue.Member] {
        [
            .init("project", .string(choice.name)), .init("projectId", .string(choice.projectID)),
            .init("on", .array(words(choice).map { .string($0) })),
            .init("productionOnly", .bool(choice.productionOnly)),
        ]
    }

    static func sentence(_ choice: NotificationChoices.Choice) -> String {
        if choice.events.isEmpty { return "Notifications for \(choice.name) are off." }
        let which = choice.productionOnly ? "production deployments" : "deployments"
        return
            "Notifications for \(which) of \(choice.name): \(words(choice).joined(separator: ", "))."
    }
}
