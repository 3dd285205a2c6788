import Foundation

/// A private D-Bus with only what a test starts, and no service activation.
package final class PrivateBus {
    /// The directory of the bus's files, and of other programs on it.
    package let directory: TemporaryDirectory
    /// The bus's address, for `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    /// The path of its socket.
    package let socketPath: String
    private let daemon: Daemon

    /// Starts a bus and waits until it answers.
    package init() throws {
        directory = try TemporaryDirectory(named: "zg-bus")
        socketPath = directory.path("bus")
        address = "unix:path=\(socketPath)"
        try directory.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """, to: "bus.conf")
        daemon = try Daemon(
            "/usr/bin/dbus-daemon",
            ["--config-file=\(directory.path("bus.conf"))", "--nofork", "--nopidfile"],
            environment: ["HOME": directory.path, "PATH": "/usr/bin:/bin"])
        let path = socketPath
        try daemon.wait("the bus") { (try? BusClient(socketPath: path)) != nil }
    }

    /// Stops the bus before this object goes.
    package func stop() {
        daemon.stop()
    }

    /// A new connection to the bus.
    package func client() throws -> BusClient {
        try BusClient(socketPath: socketPath)
    }
}
