internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `notify show`: what is told of which project.
struct NotifyShow: Command {
    static let spec = CommandSpec(
        ["notify", "show"], "Show what is told of which project", section: "Platform",
        exitCodes: ExitCode.ofOpening)

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.index(.listing)
        let choices = try NotificationFiles(workspace, keys: keys).choices().choices.map {
            named($0, in: index)
        }
        if choices.isEmpty {
            workspace.note(
                "Nothing is told. Choose with: zg-env notify set PROJECT --on ready,failed")
        }
        let look = OutputLook(workspace.context)
        var table = Table([
            .init("PROJECT", canShrink: true), .init("TOLD OF"), .init("DEPLOYMENTS"),
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

    /// The choice under the name that the project has now.
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

    static func members(_ choice: NotificationChoices.Choice) -> [JSONValue.Member] {
        [
            .init("project", .string(choice.name)), .init("projectId", .string(choice.projectID)),
            .init("on", .array(words(choice).map { .string($0) })),
            .init("productionOnly", .bool(choice.productionOnly)),
        ]
    }

    static func sentence(_ choice: NotificationChoices.Choice) -> String {
        if choice.events.isEmpty { return "Nothing is told of \(choice.name) any more." }
        let which = choice.productionOnly ? "deployments to production" : "deployments"
        return "Told of \(choice.name): \(which) that are \(words(choice).joined(separator: ", "))."
    }
}
