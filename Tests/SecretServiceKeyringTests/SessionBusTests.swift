import TestSupport
import Testing

@testable import SecretServiceKeyring

@Suite("Finding the session bus")
struct SessionBusTests {
    @Test(
        arguments: [
            ("unix:path=/run/user/1000/bus", "unix:path=/run/user/1000/bus"),
            ("unix:abstract=/tmp/x,guid=1", "unix:abstract=/tmp/x,guid=1"),
            ("autolaunch:;unix:path=/a", "unix:path=/a"),
            ("unix:path=/a;autolaunch:scope=*user", "unix:path=/a"),
            ("autolaunch:", nil),
            ("autolaunch:scope=install-path;", nil),
            (";", nil),
        ] as [(String, String?)])
    func `a configured bus is used, but nothing that starts one`(
        configured: String, address: String?
    ) {
        #expect(SessionBus.address(configured: configured, runtimeDirectory: "/run") == address)
    }

    @Test func `the socket of a systemd session is found if nothing is configured`() throws {
        let directory = try TemporaryDirectory()
        let runtime = try directory.makeDirectory("a b%,;ä")
        #expect(SessionBus.address(configured: nil, runtimeDirectory: runtime) == nil)
        let listener = try SilentListener(path: runtime + "/bus")
        #expect(
            SessionBus.address(configured: nil, runtimeDirectory: runtime)
                == "unix:path=\(directory.path)/a%20b%25%2c%3b%c3%a4/bus")
        #expect(SessionBus.address(configured: "", runtimeDirectory: runtime) != nil)
        _ = listener.path
    }

    @Test func `a file that is not a socket is not a bus`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "bus")
        #expect(SessionBus.address(configured: nil, runtimeDirectory: directory.path) == nil)
        #expect(SessionBus.address(configured: nil, runtimeDirectory: "relative") == nil)
        #expect(SessionBus.address(configured: nil, runtimeDirectory: nil) == nil)
    }

    @Test(arguments: [
        ("gnome-keyring-d\n", "gnome-keyring"), ("keepassxc\n", "KeePassXC"),
        ("kwalletd6\n", "KWallet"), ("my-service\n", "my-service"), ("", "the Secret Service"),
        ("\n", "the Secret Service"), ("a\u{1b}[31m\n", "the Secret Service"),
    ])
    func `a service is called by its program's name`(command: String, name: String) {
        #expect(ServiceName.name(ofCommand: command) == name)
    }

    @Test func `a process that does not exist has no name`() {
        #expect(ServiceName.name(ofProcess: UInt32.max) == "the Secret Service")
    }
}
