internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import SecretServiceKeyring

/// Shows messages on the desktop and runs the actions chosen on them.
final class DesktopNotifier {
    private let desktop: DesktopNotifications
    private let browser: Browser
    /// The messages whose actions can still be chosen, oldest first.
    private var shown: [NotificationMessage] = []

    /// - Throws: ``ExitCode/unavailable`` without a session bus.
    init(_ context: Context) throws {
        let address = SessionBus.address(
            configured: context.variable("DBUS_SESSION_BUS_ADDRESS"),
            runtimeDirectory: context.variable("XDG_RUNTIME_DIR"))
        guard let address else {
            throw CommandError(
                .unavailable, "There is no D-Bus session bus for notifications.",
                hint:
                    "Run the command in a desktop session, or use --no-desktop to only print events."
            )
        }
        desktop = DesktopNotifications(address: address)
        browser = Browser(context)
    }

    /// Returns what the notification server supports.
    func capabilities() throws(DesktopNotificationError) -> DesktopNotifications.Capabilities {
        try desktop.serverCapabilities()
    }

    /// Shows a message, replacing an earlier one with the same subject.
    func show(_ message: NotificationMessage) throws(DesktopNotificationError) {
        var actions: [DesktopMessage.Action] = []
        if Browser.address(message.siteURL) != nil {
            actions.append(.init("default", label: "Open"))
        }
        if message.deploymentID != nil { actions.append(.init("logs", label: "Logs")) }
        try desktop.show(
            DesktopMessage(
                subject: message.subject, title: message.title, body: message.body,
                urgency: message.isUrgent ? .critical : .normal,
                category: message.isUrgent ? "transfer.error" : "transfer.complete",
                group: message.project, actions: actions))
        shown.removeAll { $0.subject == message.subject }
        shown.append(message)
        if shown.count > DesktopNotifications.knownLimit { shown.removeFirst() }
    }

    /// Waits for an action on a message, and runs it.
    func wait(_ duration: Duration) throws {
        browser.reap()
        guard let choice = desktop.wait(duration),
            let message = shown.first(where: { $0.subject == choice.subject })
        else { return }
        switch choice.action {
        case "default": try open(message.siteURL)
        case "logs":
            if Browser.address(message.inspectorURL) != nil {
                return try open(message.inspectorURL)
            }
            try say(
                "zg-env: logs of \(message.project ?? "the deployment")",
                "zg-env deployment logs \(word: message.deploymentID ?? "")")
        default: break
        }
    }

    var isConnected: Bool { desktop.isConnected }

    private func open(_ text: String?) throws {
        guard let address = Browser.address(text) else { return }
        do {
            try browser.open(address)
        } catch {
            let failure = CommandError(mapping: error)
            try say("zg-env: cannot open the page", failure.message)
        }
    }

    private func say(_ title: String, _ body: String) throws {
        // A failure to show this reply must not end the watching.
        try? desktop.show(DesktopMessage(subject: "answer", title: title, body: body))
    }
}

extension CommandError {
    init(mapping error: DesktopNotificationError) {
        let hint =
            switch error.code {
            case .libraryMissing: "Install libglib2.0-0, or use --no-desktop."
            case .noBus, .disconnected: "Run the command in a desktop session, or use --no-desktop."
            case .noServer:
                "Start a notification server, such as dunst, mako or notification-daemon."
            case .timedOut, .failed: "Check whether notifications from other programs are shown."
            }
        self.init(
            .unavailable, "Cannot show notifications: \(error.reason).", hint: hint)
    }
}
