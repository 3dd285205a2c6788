import Foundation
import Testing

/// A server of a git repository on a free port of 127.0.0.1, which ends with this object.
package final class GitServer {
    package enum Kind: CaseIterable, Sendable {
        case http, ssh
    }

    /// The URL of the repository.
    package private(set) var url = ""
    /// The directories that git of the test finds its programs in.
    package private(set) var path = "/usr/bin:/bin"
    private var daemon: Daemon?
    private let directory: TemporaryDirectory
    private let repository: String

    /// The processes that serve requests at the moment. Each may be killed: the server stays.
    package var requests: [Int32] {
        guard let daemon else { return [] }
        // The shell of the daemon, and below it the server itself.
        let servers = ProcessTree.children(of: daemon.identifier)
        return servers.flatMap { ProcessTree.descendants(of: $0) }
    }

    /// - Parameters:
    ///   - repository: The name of a bare repository in `directory`.
    ///   - directory: Gets the server's keys and configuration.
    package init(
        _ kind: Kind, serving repository: String, in directory: TemporaryDirectory
    ) throws {
        (self.repository, self.directory) = (repository, directory)
        switch kind {
        case .http: try startHTTP()
        case .ssh: try startSSH()
        }
    }

    private func startHTTP() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("http_backend.py").path
        let configured = try ProgramRunner(
            path: "/usr/bin/git",
            ["--git-dir", directory.path(repository), "config", "http.receivepack", "true"],
            environment: ["PATH": path, "HOME": directory.path]
        ).run()
        try #require(configured.status == 0, "\(configured.error)")
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
        url = "http://127.0.0.1:\(try String(contentsOfFile: port, encoding: .utf8))/\(repository)"
    }

    private func startSSH() throws {
        try require("/usr/sbin/sshd", "sshd (Debian: openssh-server)")
        try require("/usr/bin/ssh", "ssh (Debian: openssh-client)")
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
        // bash reads ~/.bashrc below sshd, unless it is a shell in a shell: what that starts, and a kill
        // of it, is not this test's.
        let server = try directory.write(
            """
            SetEnv SHLVL=2
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
        url = "ssh://\(user)@127.0.0.1:\(port)\(directory.path(repository))"
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
}
