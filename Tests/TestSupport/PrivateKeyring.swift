import Foundation
import Glibc

/// A real gnome-keyring with its own files and bus: nothing of the user's is touched, and several
/// can run at once. Nobody answers its prompts.
///
/// It ends with this object, which an optimized build releases after its last use: a test that only
/// uses the address needs `defer { withExtendedLifetime(keyring) {} }`.
package final class PrivateKeyring {
    /// The password of the default collection.
    package static let password = "private keyring"

    private static let service = "org.freedesktop.secrets"
    private static let collection = "/org/freedesktop/secrets/collection/login"

    /// The bus that the keyring is on.
    package let bus: PrivateBus
    private var daemon: Daemon?

    /// Starts a bus and a keyring with an empty, unlocked default collection.
    package init() throws {
        bus = try PrivateBus()
        for name in ["home", "data", "config", "cache", "runtime"] {
            try bus.directory.makeDirectory(name)
        }
        try start(unlocked: true)
    }

    deinit {
        daemon?.stop()
        bus.stop()
    }

    /// The environment that a program needs to find the keyring, without anything of the user's.
    package var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
            "HOME": bus.directory.path("home"),
            "PATH": "/usr/bin:/bin",
            "XDG_CACHE_HOME": bus.directory.path("cache"),
            "XDG_CONFIG_HOME": bus.directory.path("config"),
            "XDG_DATA_HOME": bus.directory.path("data"),
            "XDG_RUNTIME_DIR": bus.directory.path("runtime"),
        ]
    }

    /// Restarts the service as after a login: locked, or unlocked by its password.
    package func restart(unlocked: Bool) throws {
        stop()
        try start(unlocked: unlocked)
    }

    /// Ends the service; the bus and the files stay.
    package func stop() {
        daemon?.stop()
        daemon = nil
    }

    /// Stops the service, so that it hangs. It still ends with this object.
    package func hang() throws {
        guard let daemon else { throw SystemCallError("no keyring", number: ESRCH) }
        try daemon.suspend()
    }

    /// Locks the default collection, as a screen lock does.
    package func lock() throws {
        _ = try bus.client().call(
            Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Lock",
            [.paths([Self.collection])])
    }

    /// The numbers of items in unlocked and in locked collections.
    package func itemCount() throws -> (unlocked: Int, locked: Int) {
        let (unlocked, locked) = try items(bus.client())
        return (unlocked.count, locked.count)
    }

    /// Deletes every item of the default collection, which must be unlocked.
    package func deleteItems() throws {
        let client = try bus.client()
        for path in try items(client).unlocked {
            _ = try client.call(
                Self.service, path, "org.freedesktop.Secret.Item", "Delete", [])
        }
    }

    /// Deletes the items that record the newest generation of a vault.
    package func deleteAnchors() throws {
        let client = try bus.client()
        for path in try items(client).unlocked {
            var label = try client.call(
                Self.service, path, "org.freedesktop.DBus.Properties", "Get",
                [.string("org.freedesktop.Secret.Item"), .string("Label")])
            _ = label.signature()
            guard label.text().hasPrefix("zg-env anchor ") else { continue }
            _ = try client.call(Self.service, path, "org.freedesktop.Secret.Item", "Delete", [])
        }
    }

    private func session(_ client: BusClient) throws -> String {
        var session = try client.call(
            Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
            "OpenSession", [.string("plain"), .variant("")])
        // The reply is an empty string in a variant, then the session's path.
        _ = session.signature()
        _ = session.text()
        return session.text()
    }

    /// Adds an item beside those with the same attributes, as any program in the session can.
    ///
    /// - Parameter collection: "login", the default one, or "session", which is never locked.
    package func plant(
        _ text: String, attributes: [String: String], in collection: String = "login"
    ) throws {
        let client = try bus.client()
        _ = try client.call(
            Self.service, "/org/freedesktop/secrets/collection/\(collection)",
            "org.freedesktop.Secret.Collection", "CreateItem",
            [
                .item(label: "planted", attributes: attributes),
                .secret(session: try session(client), bytes: Array(text.utf8)), .flag(false),
            ])
    }

    /// Puts `bytes` into every item of the default collection, which must be unlocked.
    package func overwriteItems(with bytes: [UInt8]) throws {
        let client = try bus.client()
        let sessionPath = try session(client)
        for path in try items(client).unlocked {
            _ = try client.call(
                Self.service, path, "org.freedesktop.Secret.Item", "SetSecret",
                [.secret(session: sessionPath, bytes: bytes)])
        }
    }

    private func items(_ client: BusClient) throws -> (unlocked: [String], locked: [String]) {
        var answer = try client.call(
            Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
            "SearchItems", [.noAttributes])
        return (answer.paths(), answer.paths())
    }

    private func start(unlocked: Bool) throws {
        var arguments = ["--foreground", "--components=secrets"]
        // Locked: the daemon that waits for a login, without the password.
        if unlocked { arguments.append("--unlock") }
        let daemon = try Daemon(
            "/usr/bin/gnome-keyring-daemon", arguments, environment: environment,
            input: unlocked ? Array(Self.password.utf8) : [])
        let client = try bus.client()
        try daemon.wait("the keyring") {
            (try? client.call(
                Self.service, "/org/freedesktop/secrets", "org.freedesktop.DBus.Properties", "Get",
                [.string("org.freedesktop.Secret.Service"), .string("Collections")])) != nil
        }
        self.daemon = daemon
    }
}
