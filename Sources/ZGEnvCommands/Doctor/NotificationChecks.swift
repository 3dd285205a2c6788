internal import DesktopNotifications
internal import SecretServiceKeyring

/// Checks for a session bus and a notification server on it, which `notify` needs.
enum NotificationChecks {
    private static let check = "notifications"

    static func findings(_ context: Context) -> [Finding] {
        let address = SessionBus.address(
            configured: context.variable("DBUS_SESSION_BUS_ADDRESS"),
            runtimeDirectory: context.variable("XDG_RUNTIME_DIR"))
        guard let address else {
            return [
                Finding(check, .skipped, "There is no session bus for notifications.")
            ]
        }
        let desktop = DesktopNotifications(address: address)
        do throws(DesktopNotificationError) {
            let able = try desktop.serverCapabilities()
            // A server without a name can show notifications all the same.
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
                    ? "\(shown) without actions: they cannot open pages."
                    : "\(shown) with titles only.",
                remedy: "Use another server, such as dunst or mako, to see everything.")
        }
        return Finding(check, .ok, "\(shown) with actions.")
    }

    /// Only `notify` needs notifications, so this is never a failure.
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
