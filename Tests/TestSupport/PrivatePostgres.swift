import Foundation
import Glibc

/// A private PostgreSQL server on a free port of 127.0.0.1, with a database `app` and an
/// administrator whose password only this object knows.
///
/// The server refuses to run as root, so tests that run as root start it as `postgres` or `nobody`.
package final class PrivatePostgres {
    /// The administrator's password.
    package static let administratorPassword = "administrator-of-the-test"

    private let directory: TemporaryDirectory
    private var daemon: Daemon?
    /// The port it listens on.
    package private(set) var port: UInt16 = 0
    /// The environment of an administrator's `psql`.
    package private(set) var environment: [String: String] = [:]

    /// Returns whether the server's programs are installed.
    package static var isInstalled: Bool { binaries != nil }

    /// The directory of the newest installed server.
    private static let binaries: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let found = versions.compactMap { Int($0) }.sorted(by: >).map { "\(root)/\($0)/bin" }
        return (found + ["/usr/bin", "/usr/local/bin"]).first {
            FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
        }
    }()

    /// Creates a cluster and starts the server.
    package init() throws {
        guard let binaries = Self.binaries else { throw SystemCallError("initdb", number: ENOENT) }
        directory = try TemporaryDirectory(named: "zg-postgres")
        let data = try directory.makeDirectory("data")
        let passwordFile = try directory.write(Self.administratorPassword + "\n", to: "password")
        var prefix: [String] = []
        if geteuid() == 0 {
            let names: [String] = ["postgres", "nobody"]
            let user = names.compactMap { (name: String) -> (uid_t, gid_t)? in
                guard let entry = unsafe getpwnam(name) else { return nil }
                return unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
            }.first
            guard let user else { throw SystemCallError("getpwnam", number: ENOENT) }
            for path in [directory.path, data, passwordFile] {
                guard unsafe chown(path, user.0, user.1) == 0 else {
                    throw SystemCallError("chown \(path)")
                }
            }
            prefix = [
                "/usr/bin/setpriv", "--reuid=\(user.0)", "--regid=\(user.1)", "--clear-groups",
            ]
        }
        let plain = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": directory.path]
        let make =
            prefix + [
                "\(binaries)/initdb", "-D", data, "-U", "administrator", "-A", "scram-sha-256",
                "--pwfile", passwordFile, "-N", "-E", "UTF8", "--no-locale",
            ]
        var runner = ProgramRunner(
            path: make[0], Array(make.dropFirst()), environment: plain)
        runner.timeLimit = .seconds(120)
        runner.workingDirectory = "/"
        let made = try runner.run()
        guard made.status == 0 else {
            throw SystemCallError("initdb: \(made.error)", number: EIO)
        }
        func start(on port: UInt16) throws -> Daemon {
            let words =
                prefix + [
                    "\(binaries)/postgres", "-D", data, "-h", "127.0.0.1", "-p", "\(port)", "-k",
                    "",
                    "-F",
                ]
            return try Daemon(words[0], Array(words.dropFirst()), environment: plain)
        }
        // Another program may take a free port before the server does; then the server ends.
        for _ in 0..<3 {
            port = try Self.freePort()
            environment = plain.merging([
                "PGHOST": "127.0.0.1", "PGPORT": "\(port)", "PGUSER": "administrator",
                "PGPASSWORD": Self.administratorPassword,
            ]) { $1 }
            let daemon = try start(on: port)
            self.daemon = daemon
            var isUp = false
            try daemon.wait("the server") {
                isUp = (try? query("SELECT 1", database: "postgres")) != nil
                return isUp || daemon.hasEnded
            }
            if isUp { break }
            daemon.stop()
        }
        try query("CREATE DATABASE app", database: "postgres")
    }

    deinit {
        daemon?.stop()
    }

    /// Runs SQL as the administrator; throws if the server refuses it.
    @discardableResult
    package func query(_ text: String, database: String = "app") throws -> String {
        var runner = ProgramRunner(
            path: "/usr/bin/psql",
            ["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", database],
            environment: environment)
        runner.input = .text(text + ";\n")
        let result = try runner.run()
        guard result.status == 0 else {
            throw SystemCallError("psql: \(result.error)", number: EIO)
        }
        return result.output
    }

    /// Returns whether a role can log in with a password.
    package func accepts(_ role: String, _ password: String) throws -> Bool {
        var runner = ProgramRunner(
            path: "/usr/bin/psql", ["-X", "-q", "-w", "-d", "app", "-c", "SELECT 1"],
            environment: environment.merging(["PGUSER": role, "PGPASSWORD": password]) { $1 })
        runner.input = .null
        return try runner.run().status == 0
    }

    /// A free port.
    private static func freePort() throws -> UInt16 {
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
        guard isBound else { throw SystemCallError("bind") }
        return UInt16(bigEndian: address.sin_port)
    }
}
