internal import DesktopNotifications
internal import SecretServiceKeyring

/// Whether `notify` can show anything: a session bus, and a server of notifications on it.
enum NotificationChecks {
    private static let check = "notifications"

    static func findings(_ context: Context) -> [Finding] {
        let address = SessionBus.address(
            configured: context.variable("DBUS_SESSION_BUS_ADDRESS"),
            runtimeDirectory: context.variable("XDG_RUNTIME_DIR"))
        guard let address else {
            return [
                Finding(check, .skipped, "There is no session bus to show notifications on.")
            ]
        }
        let desktop = DesktopNotifications(address: address)
        do throws(DesktopNotificationError) {
            let able = try desktop.serverCapabilities()
            // A server that does not say what it is called shows notifications all the same.
            return [finding(able, server: (try? desktop.serverName()) ?? "")]
        } catch {
            return [finding(error)]
        }
    }

    static func finding(
        _ able: DesktopNotifications.Capabilities, server: String
    ) -> Finding {
        let name = server.trimmingBlanks
        let shown = "Notifications are shown by \(name.isEmpty ? "this desktop" : name)"
        guard able.actions, able.body else {
            return Finding(
                check, .warning,
                able.body
                    ? "\(shown), which has no actions: pages cannot be opened from them."
                    : "\(shown), which shows titles alone.",
                remedy: "Another server, such as dunst or mako, shows all of them.")
        }
        return Finding(check, .ok, "\(shown), with actions.")
    }

    /// Nothing but `notify` needs it, so that none of this is a failure.
    static func finding(_ error: DesktopNotificationError) -> Finding {
        let failure = CommandError(mapping: error)
        return Finding(check, .warning, failure.message, remedy: failure.hint)
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        split(separator: " ").joined(separator: " ")
    }
}
