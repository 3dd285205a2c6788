import DesktopNotifications
import Foundation
import TestSupport
import Testing

/// Against a real bus and a real notification server; the notifications are read back from the bus.
@Suite("Desktop notifications")
struct DesktopNotificationsTests {
    private static func message(
        _ subject: String, title: String = "web: ready", body: String = "main",
        actions: [DesktopMessage.Action] = []
    ) -> DesktopMessage {
        DesktopMessage(
            subject: subject, title: title, body: body, group: "web", actions: actions)
    }

    @Test func `a notification uses everything that a server supports`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        let able = try desktop.serverCapabilities()
        #expect(able.actions && able.body && able.markup)
        try desktop.show(
            DesktopMessage(
                subject: "dpl_1", title: "web: failed\u{1B}[31m", body: "main: <b>x</b> & y",
                urgency: .critical, category: "transfer.error", group: "web",
                actions: [.init("default", label: "Open"), .init("logs", label: "Logs")]))
        let shown = try #require(server.wait(for: 1).first)
        #expect(shown.application == "zg-env" && shown.replaces == 0)
        #expect(shown.title == "web: failed [31m")
        #expect(shown.body == "main: &lt;b&gt;x&lt;/b&gt; &amp; y")
        #expect(shown.actions == ["default", "Open", "logs", "Logs"])
        #expect(shown.hints["urgency"] == "2" && shown.hints["category"] == "transfer.error")
        #expect(shown.hints["desktop-entry"] == "zg-env")
        #expect(shown.hints["x-kde-origin-name"] == "web")
        #expect(try server.displayedCount() == 1)
        withExtendedLifetime(server) {}
    }

    @Test func `a server without markup gets the plain text`() throws {
        let server = try NotificationServer(readsMarkup: false)
        let desktop = DesktopNotifications(address: server.bus.address)
        #expect(try desktop.serverCapabilities().markup == false)
        try desktop.show(Self.message("dpl_1", body: "<b>x</b> & y"))
        #expect(server.wait(for: 1).first?.body == "<b>x</b> & y")
        withExtendedLifetime(server) {}
    }

    @Test func `a newer notification replaces the older one about the same subject`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        try desktop.show(Self.message("dpl_1", title: "building"))
        try desktop.show(Self.message("dpl_2", title: "building"))
        try desktop.show(Self.message("dpl_1", title: "ready"))
        let shown = server.wait(for: 3)
        #expect(shown.map { $0.replaces == 0 } == [true, true, false])
        #expect(try server.displayedCount() == 2)
        // After a restart of this program the server recognizes the notification by its tag.
        let again = DesktopNotifications(address: server.bus.address)
        try again.show(Self.message("dpl_1", title: "promoted"))
        #expect(server.wait(for: 4).last?.replaces == 0)
        #expect(try server.displayedCount() == 2)
        withExtendedLifetime(server) {}
    }

    @Test func `a click returns the subject of the notification`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        try desktop.show(
            Self.message("dpl_7", actions: [.init("default", label: "Open")]))
        _ = server.wait(for: 1)
        #expect(desktop.wait(.milliseconds(50)) == nil)
        try server.click()
        var choice: DesktopNotifications.Choice?
        for _ in 0..<50 where choice == nil { choice = desktop.wait(.milliseconds(100)) }
        #expect(choice?.subject == "dpl_7" && choice?.action == "default")
        withExtendedLifetime(server) {}
    }

    @Test func `a restarted server is found, and its numbers are not mixed up`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        try desktop.show(Self.message("dpl_1"))
        server.stop()
        #expect(throws: DesktopNotificationError(.noServer)) {
            try desktop.show(Self.message("dpl_1"))
        }
        try server.start()
        try desktop.show(Self.message("dpl_1"))
        // The earlier call may have reached the bus, and so the monitor, while no server ran.
        let shown = server.wait { $0.count > 1 && $0.last?.replaces == 0 }
        #expect(shown.count > 1 && shown.last?.replaces == 0)
        #expect(try server.displayedCount() == 1)
        withExtendedLifetime(server) {}
    }

    @Test func `without a bus or a server it fails at once`() throws {
        let nowhere = DesktopNotifications(address: "unix:path=/nonexistent/bus")
        #expect(throws: DesktopNotificationError(.noBus)) {
            try nowhere.show(Self.message("x"))
        }
        let server = try NotificationServer(starts: false)
        let desktop = DesktopNotifications(address: server.bus.address)
        #expect(throws: DesktopNotificationError(.noServer)) {
            try desktop.show(Self.message("x"))
        }
        // A closed bus must not end this process.
        server.bus.stop()
        for _ in 0..<20 where desktop.isConnected { _ = desktop.wait(.milliseconds(100)) }
        #expect(!desktop.isConnected)
        #expect(throws: DesktopNotificationError(.noBus)) {
            try desktop.show(Self.message("x"))
        }
        withExtendedLifetime(server) {}
    }

    @Test func `a thousand notifications leak no memory`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        func memory() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
        }
        func show(_ count: Int) throws {
            for number in 0..<count {
                try desktop.show(Self.message("dpl_\(number % 5)", title: "\(number)"))
                _ = desktop.wait(.zero)
            }
        }
        try show(200)
        // This process's monitor keeps all notifications, some hundred bytes each. Other tests
        // allocate memory in the same process; a leak would show each time.
        var growth: [Int] = []
        for _ in 0..<4 where growth.allSatisfy({ $0 >= 6 << 20 }) {
            let before = try memory()
            try show(1_000)
            growth.append(try memory() - before)
        }
        #expect(growth.contains { $0 < 6 << 20 }, "\(growth)")
        #expect(try server.displayedCount() == 5)
        withExtendedLifetime(server) {}
    }

    @Test func `a server that hangs is given up after the timeout`() throws {
        let server = try NotificationServer(starts: false)
        let hanging = try server.bus.client()
        try hanging.own("org.freedesktop.Notifications")
        let desktop = DesktopNotifications(
            address: server.bus.address, limit: .seconds(1))
        let time = ContinuousClock().measure {
            #expect(throws: DesktopNotificationError(.timedOut)) {
                try desktop.show(Self.message("x"))
            }
        }
        #expect(time < .seconds(20))
        withExtendedLifetime((server, hanging)) {}
    }
}
