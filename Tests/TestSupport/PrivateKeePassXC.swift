import Foundation

/// A real KeePassXC as the Secret Service, with its own database, bus and screen. Nobody can answer
/// its questions, so it is configured to ask none.
///
/// It ends with this object, like ``PrivateKeyring``.
package final class PrivateKeePassXC {
    /// Whether it and a virtual screen are installed.
    package static var isInstalled: Bool {
        ["keepassxc", "keepassxc-cli", "Xvfb"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
        }
    }

    private static let password = "private database"
    /// The exposed group, and the setting that exposes it: the same in two notations.
    private static let group = (
        text: "17af68b3-8f78-4c32-ba76-8ba88caeb9bd", base64: "F69os494TDK6douojK65vQ=="
    )

    /// The bus that the service is on.
    package let bus: PrivateBus
    private let screen: PrivateScreen
    private var daemon: Daemon?

    /// Starts a bus, a screen and KeePassXC with an empty, unlocked database.
    package init() throws {
        bus = try PrivateBus()
        screen = try PrivateScreen()
        for name in ["home", "runtime"] { try bus.directory.makeDirectory(name) }
        try bus.directory.write(
            """
            [General]
            ConfigVersion=2
            [FdoSecrets]
            Enabled=true
            ShowNotification=false
            ConfirmDeleteItem=false
            ConfirmAccessItem=false
            UnlockBeforeSearch=false
            [GUI]
            CheckForUpdates=false
            """, to: "keepassxc.ini")
        try makeDatabase()
        try start()
    }

    deinit {
        daemon?.stop()
        bus.stop()
    }

    /// The environment that a program needs to find it.
    package var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": bus.directory.path("home"),
            "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": bus.directory.path("runtime"),
            // Its directory of single-instance sockets: with the user's, it would hand over to a
            // running KeePassXC.
            "TMPDIR": bus.directory.path("runtime"),
        ]
    }

    /// Restarts KeePassXC with the same database.
    package func restart() throws {
        daemon?.stop()
        try start()
    }

    /// Locks the database, and waits until it is locked.
    ///
    /// A lock call returns a prompt, and only that one locks, some time after it was invoked; not
    /// while the last change is still being saved.
    package func lock() throws {
        let client = try bus.client()
        try daemon?.wait("the lock of its database") {
            guard
                var answer = try? client.call(
                    Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
                    "Lock", [.paths(["/org/freedesktop/secrets/collection/database"])])
            else { return false }
            let (locked, prompt) = (answer.paths(), answer.text())
            guard locked.isEmpty else { return true }
            _ = try? client.call(
                Self.service, prompt, "org.freedesktop.Secret.Prompt", "Prompt", [.string("")])
            usleep(200_000)
            return Self.isLocked(client) == true
        }
    }

    /// Whether the database is locked; nil without a reply.
    private static func isLocked(_ client: BusClient) -> Bool? {
        guard
            var answer = try? client.call(
                service, "/org/freedesktop/secrets/aliases/default",
                "org.freedesktop.DBus.Properties", "Get",
                [.string("org.freedesktop.Secret.Collection"), .string("Locked")])
        else { return nil }
        _ = answer.signature()
        return answer.number() != 0
    }

    private static let service = "org.freedesktop.secrets"

    private func makeDatabase() throws {
        let source = try bus.directory.write(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <KeePassFile><Meta><DatabaseName>private</DatabaseName><CustomData><Item>\
            <Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{\(Self.group.text)}</Value>\
            </Item></CustomData></Meta><Root><Group><UUID>\(Self.group.base64)</UUID>\
            <Name>Root</Name></Group></Root></KeePassFile>
            """, to: "database.xml")
        var runner = ProgramRunner(
            path: "/usr/bin/keepassxc-cli",
            ["import", "-q", "-p", "-t", "100", source, bus.directory.path("database.kdbx")],
            environment: environment)
        runner.input = .text("\(Self.password)\n\(Self.password)\n")
        let result = try runner.run()
        guard result.status == 0 else {
            throw SystemCallError("keepassxc-cli import: \(result.error)", number: EIO)
        }
    }

    private func start() throws {
        let daemon = try Daemon(
            // On a normal exit it may ask whether to save, and nobody answers.
            "/usr/bin/timeout",
            [
                "--kill-after=1", "600", "/usr/bin/keepassxc",
                "--config", bus.directory.path("keepassxc.ini"),
                "--localconfig", bus.directory.path("local.ini"), "--pw-stdin",
                bus.directory.path("database.kdbx"),
            ],
            environment: environment.merging(["DISPLAY": screen.display]) { $1 },
            input: Array("\(Self.password)\n".utf8))
        let client = try bus.client()
        // The name is owned before the database is open.
        try daemon.wait("its database") { Self.isLocked(client) == false }
        self.daemon = daemon
    }
}
