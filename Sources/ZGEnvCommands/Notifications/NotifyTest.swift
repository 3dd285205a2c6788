internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import JSON

/// `notify test`: shows one message, to see that they arrive.
enum NotifyTest: Command {
    static let spec = CommandSpec(
        ["notify", "test"], "Show one notification on the desktop", section: "Platform",
        discussion: "Needs no vault and no account, and sends nothing to the platform.",
        exitCodes: [ExitCode.unavailable.rawValue])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let sink = try DesktopSink(invocation.context)
        do throws(DesktopNotificationError) {
            let able = try sink.capabilities()
            if !invocation.options.dryRun { try sink.show(.sample) }
            if !able.actions {
                invocation.context.warn(
                    "no-actions",
                    "This desktop shows no actions on notifications: pages cannot be opened from them."
                )
            }
            if !invocation.options.dryRun {
                try? invocation.note("The desktop took the notification.")
            }
            return CommandResult(json: [
                "shown": .bool(!invocation.options.dryRun), "actions": .bool(able.actions),
                "body": .bool(able.body), "markup": .bool(able.markup),
                "dryRun": .bool(invocation.options.dryRun),
            ])
        } catch {
            throw CommandError(mapping: error)
        }
    }
}
