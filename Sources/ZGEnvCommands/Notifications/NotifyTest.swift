internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import JSON

/// `notify test`: shows one sample notification.
struct NotifyTest: Command {
    static let spec = CommandSpec(
        ["notify", "test"], "Show a test notification on the desktop",
        discussion: "Does not need a vault or an account, and does not contact any server.",
        exitCodes: [ExitCode.unavailable.rawValue])
    static let fields =
        "shown: boolean; actions, body, markup: boolean (what the desktop supports); dryRun: boolean"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let sink = try DesktopNotifier(workspace.context)
        do throws(DesktopNotificationError) {
            let able = try sink.capabilities()
            if !workspace.options.dryRun { try sink.show(.sample) }
            if !able.actions {
                workspace.context.warn(
                    "no-actions",
                    "This desktop does not support actions on notifications, so they cannot open pages."
                )
            }
            if !workspace.options.dryRun {
                workspace.note("Notification sent.")
            }
            return CommandResult(json: [
                "shown": .bool(!workspace.options.dryRun), "actions": .bool(able.actions),
                "body": .bool(able.body), "markup": .bool(able.markup),
                "dryRun": .bool(workspace.options.dryRun),
            ])
        } catch {
            throw CommandError(mapping: error)
        }
    }
}
