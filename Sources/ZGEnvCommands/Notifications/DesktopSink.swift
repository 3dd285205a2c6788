internal import DesktopNotifications
internal import DotEnv
internal import EnvOperations
internal import SecretServiceKeyring

/// Shows messages on the desktop, and does what is chosen on them.
final class DesktopSink {
    private let desktop: DesktopNotifications
    private let browser: Browser
    /// The messages whose actions can still be chosen, the oldest first.
    private var shown: [NotificationMessage] = []

    /// - Throws: ``ExitCode/unavailable`` where there is no session bus.
    init(_ context: Context) throws {
        let address = SessionBus.address(
            configured: context.variable("DBUS_SESSION_BUS_ADDRESS"),
            runtimeDirectory: context.variable("XDG_RUNTIME_DIR"))
        guard let address else {
            throw CommandError(
                .unavailable, "There is no session bus to show notifications on.",
                hint:
                    "Run this in a desktop session, or say --no-desktop to have them printed alone."
            )
        }
        desktop = DesktopNotifications(address: address)
        browser = Browser(context)
    }

    /// What the server can do.
    func capabilities() throws(DesktopNotificationError) -> DesktopNotifications.Capabilities {
        try desktop.serverCapabilities()
    }

    /// Shows a message, in place of an earlier one about the same.
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

    /// Waits, and does what is chosen meanwhile.
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

    /// Whether ``wait(_:)`` has something to wait on.
    var isConnected: Bool { desktop.isConnected }

    private func open(_ text: String?) throws {
        guard let address = Browser.address(text) else { return }
        do {
            try browser.open(address)
        } catch {
            let failure = CommandError(mapping: error)
            try say("zg-env: nothing was opened", failure.message)
        }
    }

    private func say(_ title: String, _ body: String) throws {
        // That a word about a choice cannot be shown is no reason to end.
        try? desktop.show(DesktopMessage(subject: "answer", title: title, body: body))
    }
}

extension CommandError {
    /// Says why a message was not shown.
    init(mapping error: DesktopNotificationError) {
        let hint =
            switch error.code {
            case .libraryMissing: "Install libglib2.0-0, or say --no-desktop."
            case .noBus, .disconnected: "Run this in a desktop session, or say --no-desktop."
            case .noServer: "Start one, such as dunst, mako or notification-daemon."
            case .timedOut, .failed: "Look whether other programs' notifications are shown."
            }
        self.init(
            .unavailable, "No notification can be shown: \(error.reason).", hint: hint)
    }
}
