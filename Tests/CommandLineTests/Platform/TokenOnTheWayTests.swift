import Foundation
import Glibc
import TestSupport
import Testing
import Threads

/// A listener that stores the first bytes of each connection and sends one fixed answer.
private final class Eavesdropper: Sendable {
    let port: UInt16
    private let socket: Int32
    private let heard = Monitor<[String]>([])

    init(answer head: String = "403 No") throws {
        let answer = "HTTP/1.1 \(head)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let descriptor = Glibc.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        socket = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) | listen(descriptor, 16)
                    | getsockname(descriptor, pointer, &length)
            }
        }
        try #require(status == 0)
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                var buffer = [UInt8](repeating: 0, count: 16_384)
                let count = unsafe read(connection, &buffer, buffer.count)
                heard.look {
                    $0.append(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self))
                }
                _ = unsafe send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
        }
    }

    var address: String { "http://127.0.0.1:\(port)" }
    var all: [String] { heard.look { $0 } }

    func stop() {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }
}

/// What the network sees of a token.
@Suite("The token in transit")
struct TokenOnTheWayTests {
    private static let token = "marker-token-5b1f0c9e77aa"

    @Test(arguments: ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
    func `a proxy only gets a CONNECT request, without the token`(variable: String) throws {
        let proxy = try Eavesdropper()
        defer { proxy.stop() }
        let home = try CommandHome()
        let result = try home.run(
            ["project", "list", "--verbose", "--json"],
            environment: ["VERCEL_TOKEN": Self.token, variable: proxy.address])
        #expect(result.status == 7, "\(result.error)")
        #expect(!proxy.all.isEmpty)
        for heard in proxy.all {
            #expect(heard.hasPrefix("CONNECT api.vercel.com:443 "))
            #expect(!heard.contains("marker") && !heard.contains("uthorization"))
        }
        #expect(!(result.output + result.error).contains("marker"))
    }

    @Test func `plain http to this machine uses no proxy`() throws {
        let proxy = try Eavesdropper()
        defer { proxy.stop() }
        let platform = try SandboxHome()
        let proxies = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
        let environment = Dictionary(uniqueKeysWithValues: proxies.map { ($0, proxy.address) })
        done(try platform.run("project", "list", environment: environment))
        done(
            try platform.run(
                "login", "--verbose", input: .text(platform.token), environment: environment))
        #expect(proxy.all == [])
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `no redirect is followed, whatever the request`(status: Int) throws {
        let other = try Eavesdropper()
        defer { other.stop() }
        let server = try Eavesdropper(
            answer: "\(status) Elsewhere\r\nLocation: \(other.address)/v9/projects")
        defer { server.stop() }
        let home = try CommandHome()
        for arguments in [["project", "list"], ["redeploy", "dpl_1", "--yes"]] {
            let result = try home.run(
                arguments + ["--json", "--verbose"],
                environment: ["VERCEL_TOKEN": Self.token, "ZG_ENV_API_URL": server.address])
            let message = try failedAsJSON(result, 7, "unavailable")
            #expect(message.contains("redirect"))
            #expect(!(result.output + result.error).contains("marker"))
        }
        #expect(other.all == [])
    }

    @Test(
        "SEC-F12: no keys of connections are written where SSLKEYLOGFILE says, and run hands it on")
    func keyLog() throws {
        let server = try Eavesdropper()
        defer { server.stop() }
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        let file = platform.home.directory.path("work/keys")
        let result = try platform.run(
            "project", "list", "--api-url",
            server.address.replacingOccurrences(of: "http://", with: "https://"),
            environment: ["VERCEL_TOKEN": Self.token, "SSLKEYLOGFILE": file])
        #expect(result.status == 7, "\(result.error)")
        #expect(!server.all.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: file))
        let child = try platform.run(
            "run", "-p", "web", "--", "printenv", "SSLKEYLOGFILE",
            environment: ["SSLKEYLOGFILE": file])
        #expect(child.output == file + "\n")
    }

    @Test func `only commands that reach Vercel open libcurl`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        /// The files that a command opens.
        func opened(_ arguments: [String]) throws -> String {
            var runner = platform.home.wrapped("/usr/bin/strace") { program in
                ["-f", "-e", "trace=openat,open", "-o", "trace.txt", program] + arguments
            }
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
            runner.environment["ZG_ENV_API_URL"] = platform.url
            done(try runner.run())
            return String(
                decoding: try platform.home.directory.read("work/trace.txt"), as: UTF8.self)
        }
        for arguments in [
            ["list", "-p", "web"], ["reveal", "KEY", "-p", "web"], ["status"], ["verify"],
            ["show", "KEY", "-p", "web"], ["account", "list"], ["config", "list"], ["help"],
            ["export", "-p", "web"], ["run", "-p", "web", "--", "/bin/true"], ["log"],
        ] {
            let trace = try opened(arguments)
            #expect(trace.contains("libsodium"), "\(arguments)")
            #expect(!trace.contains("libcurl"), "\(arguments)")
        }
        #expect(try opened(["project", "list"]).contains("libcurl"))
    }
}
