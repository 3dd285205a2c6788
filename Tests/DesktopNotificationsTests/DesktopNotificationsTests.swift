import DesktopNotifications
import Foundation
import TestSupport
import Testing

/// Against a real bus and a real server of notifications; what is checked was read back from the bus.
@Suite("Notifications on the desktop")
struct DesktopNotificationsTests {
    private static func message(
        _ subject: String, title: String = "web: ready", body: String = "main",
        actions: [DesktopMessage.Action] = []
    ) -> DesktopMessage {
        DesktopMessage(
            subject: subject, title: title, body: body, group: "web", actions: actions)
    }

    @Test func `a message is shown with everything that a server can use`() throws {
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

    @Test func `a server that reads no markup gets the text as it is`() throws {
        let server = try NotificationServer(readsMarkup: false)
        let desktop = DesktopNotifications(address: server.bus.address)
        #expect(try desktop.serverCapabilities().markup == false)
        try desktop.show(Self.message("dpl_1", body: "<b>x</b> & y"))
        #expect(server.wait(for: 1).first?.body == "<b>x</b> & y")
        withExtendedLifetime(server) {}
    }

    @Test func `a newer message takes the place of the older one about the same`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        try desktop.show(Self.message("dpl_1", title: "building"))
        try desktop.show(Self.message("dpl_2", title: "building"))
        try desktop.show(Self.message("dpl_1", title: "ready"))
        let shown = server.wait(for: 3)
        #expect(shown.map { $0.replaces == 0 } == [true, true, false])
        #expect(try server.displayedCount() == 2)
        // After a restart of this program the server knows the message by its tag.
        let again = DesktopNotifications(address: server.bus.address)
        try again.show(Self.message("dpl_1", title: "promoted"))
        #expect(server.wait(for: 4).last?.replaces == 0)
        #expect(try server.displayedCount() == 2)
        withExtendedLifetime(server) {}
    }

    @Test func `a click comes back with what it was about`() throws {
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

    @Test func `a server that is started anew is found, and its numbers are its own`() throws {
        let server = try NotificationServer()
        let desktop = DesktopNotifications(address: server.bus.address)
        try desktop.show(Self.message("dpl_1"))
        server.stop()
        #expect(throws: DesktopNotificationError(.noServer)) {
            try desktop.show(Self.message("dpl_1"))
        }
        try server.start()
        try desktop.show(Self.message("dpl_1"))
        // The call before may have reached the bus, and with it the witness, when nobody was there.
        let shown = server.wait { $0.count > 1 && $0.last?.replaces == 0 }
        #expect(shown.count > 1 && shown.last?.replaces == 0)
        #expect(try server.displayedCount() == 1)
        withExtendedLifetime(server) {}
    }

    @Test func `without a bus or a server it says so, at once`() throws {
        let nowhere = DesktopNotifications(address: "unix:path=/nonexistent/bus")
        #expect(throws: DesktopNotificationError(.noBus)) {
            try nowhere.show(Self.message("x"))
        }
        let server = try NotificationServer(starts: false)
        let desktop = DesktopNotifications(address: server.bus.address)
        #expect(throws: DesktopNotificationError(.noServer)) {
            try desktop.show(Self.message("x"))
        }
        // A bus that goes away is no end of this process.
        server.bus.stop()
        for _ in 0..<20 where desktop.isConnected { _ = desktop.wait(.milliseconds(100)) }
        #expect(!desktop.isConnected)
        #expect(throws: DesktopNotificationError(.noBus)) {
            try desktop.show(Self.message("x"))
        }
        withExtendedLifetime(server) {}
    }

    @Test func `a thousand messages leave no memory behind`() throws {
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
        // The witness of this process keeps all messages, with some hundred bytes each. Other tests take
        // memory of the same process meanwhile; what a message leaves behind it leaves each time.
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

    @Test func `a server that hangs is given up after the time`() throws {
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
