import Foundation
import GroupPlaces
import TestSupport
import Testing

/// A server of git repositories on a free port of 127.0.0.1, which ends with this object.
final class GitServer {
    enum Kind: CaseIterable, Sendable {
        case http, ssh
    }

    /// The URL of the fixture's repository.
    private(set) var url = ""
    /// The directories that git of the test finds its programs in.
    private(set) var path = "/usr/bin:/bin"
    private var daemon: Daemon?
    private let fixture: PlaceFixture

    init(_ kind: Kind, for fixture: PlaceFixture) throws {
        self.fixture = fixture
        switch kind {
        case .http: try startHTTP()
        case .ssh: try startSSH()
        }
    }

    private func startHTTP() throws {
        let directory = fixture.directory
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("http_backend.py").path
        try fixture.git(["--git-dir", fixture.place, "config", "http.receivepack", "true"])
        let port = directory.path("port")
        try require("/usr/bin/git", "git")
        let daemon = try Daemon(
            "/usr/bin/env", ["python3", script, directory.path, port],
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
                "HOME": directory.path("home"),
            ])
        self.daemon = daemon
        try daemon.wait("the port") { FileManager.default.fileExists(atPath: port) }
        url = "http://127.0.0.1:\(try String(contentsOfFile: port, encoding: .utf8))/place.git"
    }

    private func startSSH() throws {
        try require("/usr/sbin/sshd", "sshd (Debian: openssh-server)")
        try require("/usr/bin/ssh", "ssh (Debian: openssh-client)")
        let directory = fixture.directory
        for key in ["host", "user"] {
            let result = try ProgramRunner(
                path: "/usr/bin/ssh-keygen",
                ["-q", "-t", "ed25519", "-N", "", "-f", directory.path(key)]
            ).run()
            try #require(result.status == 0, "\(result.error)")
        }
        // As root, sshd needs its directory.
        if geteuid() == 0 { unsafe mkdir("/run/sshd", 0o755) }
        let port = try freePort()
        let server = try directory.write(
            """
            ListenAddress 127.0.0.1:\(port)
            HostKey \(directory.path("host"))
            AuthorizedKeysFile \(directory.path("user.pub"))
            PidFile none
            StrictModes no
            UsePAM no
            PermitRootLogin prohibit-password
            PasswordAuthentication no
            KbdInteractiveAuthentication no

            """, to: "sshd_config")
        let host = try String(contentsOfFile: directory.path("host.pub"), encoding: .utf8)
        try directory.write("[127.0.0.1]:\(port) \(host)", to: "known_hosts")
        let client = try directory.write(
            """
            IdentityFile \(directory.path("user"))
            IdentitiesOnly yes
            UserKnownHostsFile \(directory.path("known_hosts"))
            GlobalKnownHostsFile /dev/null

            """, to: "ssh_config")
        // OpenSSH takes the home from the password file, not from HOME.
        try directory.makeDirectory("bin")
        try directory.write(
            "#!/bin/sh\nexec /usr/bin/ssh -F \(client) \"$@\"\n", to: "bin/ssh", mode: 0o700)
        path = "\(directory.path("bin")):/usr/bin:/bin"
        let daemon = try Daemon(
            "/usr/sbin/sshd", ["-D", "-f", server], environment: ["PATH": "/usr/bin:/bin"])
        self.daemon = daemon
        let user = NSUserName()
        url = "ssh://\(user)@127.0.0.1:\(port)\(fixture.place)"
        try daemon.wait("sshd") {
            let probe = try? ProgramRunner(
                path: "/usr/bin/ssh", ["-F", client, "-p", "\(port)", "\(user)@127.0.0.1", "true"]
            ).run()
            return probe?.status == 0
        }
    }

    private func require(_ path: String, _ name: String) throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: path),
            "\(name) is not installed; make setup-tests installs it")
    }

    private func freePort() throws -> UInt16 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }

    /// The place over this server.
    func open(_ member: String) throws -> GitPlace {
        var environment = fixture.environment
        environment["PATH"] = path
        return GitPlace(
            try fixture.address(url), copyIn: try fixture.directory.makeDirectory(member),
            GitEnvironment(environment.map { Array("\($0)=\($1)".utf8) }))
    }
}
