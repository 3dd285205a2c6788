internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import JSON

/// `notify test`: shows one message, to see that they arrive.
struct NotifyTest: Command {
    static let spec = CommandSpec(
        ["notify", "test"], "Show one notification on the desktop", section: "Platform",
        discussion: "Needs no vault and no account, and sends nothing to the platform.",
        exitCodes: [ExitCode.unavailable.rawValue])

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let sink = try DesktopSink(workspace.context)
        do throws(DesktopNotificationError) {
            let able = try sink.capabilities()
            if !workspace.options.dryRun { try sink.show(.sample) }
            if !able.actions {
                workspace.context.warn(
                    "no-actions",
                    "This desktop shows no actions on notifications: pages cannot be opened from them."
                )
            }
            if !workspace.options.dryRun {
                workspace.note("The desktop took the notification.")
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
