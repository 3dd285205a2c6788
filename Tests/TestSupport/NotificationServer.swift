import Foundation

/// A real notification server (dunst) on a virtual screen, with a monitor on its bus that records
/// every notification shown.
///
/// It ends with this object; see ``PrivateKeyring`` on optimised builds.
package final class NotificationServer: @unchecked Sendable {
    /// A notification as the server received it.
    package struct Shown: Equatable, Sendable {
        /// Who sent it, by name.
        package let application: String
        /// The number of the notification it replaces; 0 for none.
        package let replaces: UInt32
        /// One line.
        package let title: String
        /// The lines below the summary, with markup as sent.
        package let body: String
        /// Alternating names and labels of actions.
        package let actions: [String]
        /// The hints, as texts.
        package let hints: [String: String]
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    /// The bus that the server is on.
    package let bus: PrivateBus
    private let screen: PrivateScreen
    private var daemon: Daemon?
    private let witness: BusClient
    private let lock = NSLock()
    private var messages: [Shown] = []

    /// Starts a bus, a screen and a server.
    ///
    /// - Parameters:
    ///   - starts: False for a bus without a server.
    ///   - readsMarkup: Whether the server supports markup in bodies.
    package init(starts: Bool = true, readsMarkup: Bool = true) throws {
        bus = try PrivateBus()
        screen = try PrivateScreen()
        try bus.directory.write(
            "[global]\n    markup = \(readsMarkup ? "full" : "no")\n", to: "dunstrc")
        witness = try bus.client()
        _ = try witness.call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring",
            "BecomeMonitor",
            [.strings(["type='method_call',interface='\(Self.name)',member='Notify'"]), .number(0)])
        Thread.detachNewThread { [witness, weak self] in
            while let message = try? witness.receiveMessage() {
                guard message.isCall, message.member == "Notify" else { continue }
                guard let self else { return }
                self.note(message.body)
            }
        }
        if starts { try start() }
    }

    deinit {
        witness.disconnect()
        daemon?.stop()
        bus.stop()
    }

    /// Starts the server; a new one after ``stop()``.
    package func start() throws {
        let daemon = try Daemon(
            "/usr/bin/dunst", ["-config", bus.directory.path("dunstrc")],
            environment: [
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": screen.display,
                "HOME": bus.directory.path, "PATH": "/usr/bin:/bin",
            ])
        let client = try bus.client()
        try daemon.wait("the server of notifications") {
            (try? client.call(Self.name, Self.path, Self.name, "GetServerInformation", [])) != nil
        }
        self.daemon = daemon
    }

    /// Ends the server; the bus stays.
    package func stop() {
        daemon?.stop()
        daemon = nil
    }

    /// The environment that a program needs to find the server.
    package var environment: [String: String] {
        ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    }

    /// All notifications so far.
    package var shown: [Shown] {
        lock.lock()
        defer { lock.unlock() }
        return messages
    }

    /// Waits for this many notifications, up to a time.
    package func wait(for count: Int, atMost limit: Duration = .seconds(60)) -> [Shown] {
        wait(atMost: limit) { $0.count >= count }
    }

    /// Waits until the notifications meet a condition, up to a time.
    package func wait(
        atMost limit: Duration = .seconds(60), until isMet: ([Shown]) -> Bool
    ) -> [Shown] {
        let end = ContinuousClock.now + limit
        while !isMet(shown), ContinuousClock.now < end { usleep(10_000) }
        return shown
    }

    /// The number of notifications that the server reports as displayed or waiting.
    package func displayedCount() throws -> Int {
        let client = try bus.client()
        var total = 0
        for name in ["displayedLength", "waitingLength"] {
            var answer = try client.call(
                Self.name, Self.path, "org.freedesktop.DBus.Properties", "Get",
                [.string("org.dunstproject.cmd0"), .string(name)])
            _ = answer.signature()
            total += Int(answer.number())
        }
        return total
    }

    /// Invokes the default action of the notification on top, as a click does.
    package func click() throws {
        _ = try bus.client().call(
            Self.name, Self.path, "org.dunstproject.cmd0", "NotificationAction", [.number(0)])
    }

    private func note(_ body: BusReader) {
        var body = body
        let application = body.text()
        let replaces = body.number()
        _ = body.text()
        let (title, text, actions) = (body.text(), body.text(), body.paths())
        let shown = Shown(
            application: application, replaces: replaces, title: title, body: text,
            actions: actions, hints: body.properties())
        lock.lock()
        messages.append(shown)
        lock.unlock()
    }
}
