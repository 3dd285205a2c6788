import CTestSupport
import Foundation
import Glibc

/// Private NATS servers with JetStream on free ports of 127.0.0.1: a single one, or a cluster. Each
/// can be killed and restarted in place.
package final class PrivateNATS: @unchecked Sendable {
    /// How clients authenticate.
    package struct Access: Sendable {
        /// Lines of the servers' configuration.
        package var lines: String
        /// A user and password, or a token, as in clients' credentials files.
        package var credentials: String?
        /// The prefix of the URLs.
        package var scheme = "nats"

        package init(lines: String = "", credentials: String? = nil, scheme: String = "nats") {
            (self.lines, self.credentials, self.scheme) = (lines, credentials, scheme)
        }
    }

    /// The directory of all files.
    package let directory: TemporaryDirectory
    /// The client port of each server.
    package let ports: [UInt16]
    private let access: Access
    /// The links between servers that can be cut, by source and destination; empty if servers
    /// connect directly.
    private let links: [[NetworkLink?]]
    private let lock = NSLock()
    private var servers: [ChildProcess?]
    /// Ends all servers when this process ends, however it ends.
    private var keepers: [Int32: Int32] = [:]

    /// The installed server, or the one that `ZG_ENV_NATS_SERVER` names.
    private static let program: String? = {
        if let path = ProcessInfo.processInfo.environment["ZG_ENV_NATS_SERVER"] { return path }
        return ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map { "\($0)/nats-server" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The servers' addresses, as `--nats` takes them.
    package var addresses: [String] { ports.map { "\(access.scheme)://127.0.0.1:\($0)" } }

    /// Starts servers and waits until JetStream has a leader.
    ///
    /// - Parameter separable: Whether ``separate(_:)`` can cut one off. Clients then know only the
    /// servers that they were given.
    package init(
        servers count: Int = 1, access: Access = Access(), separable: Bool = false
    ) throws {
        directory = try TemporaryDirectory(named: "zg-nats")
        self.access = access
        let free = try Self.freePorts(2 * count)
        ports = Array(free[..<count])
        servers = [ChildProcess?](repeating: nil, count: count)
        links = try (0..<count).map { from in
            try (0..<count).map { to in
                separable && from != to ? try NetworkLink(to: free[count + to]) : nil
            }
        }
        for number in 0..<count {
            var text = """
                server_name: node\(number)
                listen: 127.0.0.1:\(ports[number])
                log_file: "\(directory.path("log\(number)"))"
                jetstream { store_dir: "\(directory.path("node\(number)"))" }
                \(access.lines)

                """
            if count > 1 {
                let ways = separable ? links[number].compactMap { $0?.port } : Array(free[count...])
                let routes = ways.map { "nats-route://127.0.0.1:\($0)" }
                // Addresses that servers advertise to each other would bypass the links.
                let advertise =
                    separable ? "advertise: \"127.0.0.1:1\"\n  no_advertise: true" : ""
                text += """
                    cluster {
                      name: zg_test
                      listen: 127.0.0.1:\(free[count + number])
                      routes: [\(routes.joined(separator: ", "))]
                      \(advertise)
                    }

                    """
            }
            try directory.write(text, to: "node\(number).conf")
        }
        for number in 0..<count { try start(number) }
        try waitUntilReady()
    }

    deinit {
        for number in servers.indices { kill(number) }
        for link in links.joined() { link?.end() }
    }

    /// Cuts a server off from the others. Clients still reach it.
    package func separate(_ number: Int) {
        for other in servers.indices {
            links[number][other]?.cut()
            links[other][number]?.cut()
        }
    }

    /// Reconnects all servers.
    package func unite() {
        for link in links.joined() { link?.open() }
    }

    /// The directory of a server's streams.
    package func store(of number: Int) -> String { directory.path("node\(number)") }

    /// The path of a server's log.
    package func log(of number: Int) -> String { directory.path("log\(number)") }

    /// Starts a server that is not running.
    package func start(_ number: Int) throws {
        guard let program = Self.program else {
            throw SystemCallError("nats-server", number: ENOENT)
        }
        try lock.withLock {
            guard servers[number] == nil else { return }
            var ends: [Int32] = [-1, -1]
            guard unsafe zg_test_pipe(&ends) == 0 else { throw SystemCallError("pipe2") }
            let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
            defer {
                close(ends[0])
                close(null)
            }
            // The shell ends the server when the pipe from this process is closed. A close without
            // a word means that this process has ended, and the shell then removes the directory.
            let script =
                #""$@" 3<&- & server=$!; (if read -r line <&3; then gone=; else gone=1; fi; trap '' TERM; "#
                + #"kill -9 $server; test "$gone" || exit; "#
                + #"while kill -0 $server 2>/dev/null; do sleep 0.05; done; rm -rf "$ZG_PLACE") & "#
                + #"exec 3<&-; echo $server > "$ZG_PID"; wait $server; kill $! 2>/dev/null"#
            let identifier = directory.path("pid\(number)")
            try? FileManager.default.removeItem(atPath: identifier)
            var description = ChildProcess.Description(
                "/bin/sh",
                ["-c", script, "nats", program, "-c", directory.path("node\(number).conf")],
                environment: [
                    "PATH": "/usr/bin:/bin", "ZG_PID": identifier, "ZG_PLACE": directory.path,
                ])
            description.descriptors = [0: null, 1: null, 2: null, 3: ends[0]]
            description.startsSession = true
            let child = try ChildProcess(description)
            servers[number] = child
            keepers[Int32(number)] = ends[1]
        }
    }

    /// Kills a server.
    package func kill(_ number: Int) {
        lock.withLock {
            guard let server = servers[number] else { return }
            if let keeper = keepers.removeValue(forKey: Int32(number)) {
                // If the server has ended by itself, nobody reads this.
                _ = Glibc.signal(SIGPIPE, SIG_IGN)
                _ = unsafe write(keeper, "stays\n", 6)
                close(keeper)
            }
            server.reap()
            servers[number] = nil
        }
    }

    /// Does what the end of this process does to the servers.
    package func lose() {
        lock.withLock {
            for keeper in keepers.values { close(keeper) }
            keepers = [:]
            for number in servers.indices {
                servers[number]?.reap()
                servers[number] = nil
            }
        }
    }

    /// Waits until the running servers have a JetStream leader.
    package func waitUntilReady(seconds: Int = 60) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let logs = servers.indices.map { number in
                (try? String(contentsOfFile: directory.path("log\(number)"), encoding: .utf8)) ?? ""
            }
            let isReady =
                servers.count == 1
                ? logs[0].contains("Server is ready")
                : logs.contains { $0.contains("Self is new JetStream cluster metadata leader") }
                    && logs.allSatisfy { $0.contains("Server is ready") }
            if isReady { return }
            guard ContinuousClock.now < end else {
                throw SystemCallError("nats-server did not come up: \(logs)", number: ETIMEDOUT)
            }
            usleep(20_000)
        }
    }

    /// Free ports.
    private static func freePorts(_ count: Int) throws -> [UInt16] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return try (0..<count).map { _ in
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            sockets.append(socket)
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
}
