import Foundation
import Glibc
import PostalProtocol
import TestSupport
import Testing

/// The shipped nginx configuration, with a real nginx and a certificate made for the test.
@Suite struct ProxyTests {
    @Test func `Webhooks and streams pass nginx, and private paths do not`()
        throws
    {
        let nginx = try #require(
            ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
                FileManager.default.isExecutableFile(atPath: $0)
            }, "nginx is not there; .ci/set-up tests installs it")
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let proxy = try Proxy(nginx, of: relay)
        defer { proxy.stop() }

        // The stream: headers and greeting at once, and each event as it arrives.
        let stream = try proxy.curl(
            ["-N", "-H", "Authorization: Bearer \(device.token)", proxy.url + "/events"],
            output: "stream")
        try proxy.wait("the greeting") { proxy.text("stream").contains(": connected") }
        for number in 1...3 {
            let body = TestWebhook.deployment("evt_\(number)")
            let signature = TestWebhook.signature(Array(body.utf8), RelayProcess.hook.secret)
            try relay.directory.write(body, to: "body")
            let answer = try proxy.ask([
                "-H", "x-vercel-signature: \(signature)", "--data-binary",
                "@" + relay.directory.path("body"),
                proxy.url + "/webhook/\(RelayProcess.hook.name)",
            ])
            #expect(answer == #"{"accepted":true}200"#)
            try proxy.wait("event \(number)") {
                proxy.text("stream").components(separatedBy: "event: sealed").count == number + 1
            }
        }
        let data = proxy.text("stream").split(separator: "\n").filter { $0.hasPrefix("data: ") }
        #expect(try device.opened(String(data[2].dropFirst(6))).id == "evt_3")
        #expect(proxy.text("head").contains("text/event-stream"))

        // Joining over TLS, and requests refused by either side.
        let late = try TestDevice()
        try relay.directory.write(late.joining(try relay.invite()), to: "body")
        let joining = [
            "--data-binary", "@" + relay.directory.path("body"), proxy.url + "/devices",
        ]
        #expect(try proxy.ask(joining).hasSuffix("201"))
        #expect(try proxy.ask(joining).hasSuffix("403"))
        for path in ["/metrics", "/healthz", "/"] {
            #expect(try proxy.ask([proxy.url + path]).hasSuffix("404"))
        }
        try relay.directory.write(String(repeating: "x", count: 300_000), to: "body")
        let long = ["--data-binary", "@" + relay.directory.path("body")]
        #expect(
            try proxy.ask(long + [proxy.url + "/webhook/\(RelayProcess.hook.name)"]).hasSuffix(
                "413"))
        #expect(try relay.refused("too_long") == 0)

        // A removed device's stream ends through the proxy too.
        #expect(try relay.run("devices", "remove", device.id).status == 0)
        try proxy.wait("the end") { proxy.text("stream").contains("event: removed") }
        #expect(stream.reap() == .exited(0))
        // The relay takes addresses from nginx, not from a client's headers.
        for _ in 0..<61 {
            _ = try relay.client().request(
                "GET", "/device", ["Authorization": "Bearer x", "X-Forwarded-For": "203.0.113.5"])
        }
        let asked = try proxy.ask([
            "-H", "X-Forwarded-For: 203.0.113.5", "-H", "Authorization: Bearer x",
            proxy.url + "/device",
        ])
        #expect(asked.hasSuffix("401"))
    }
}

/// nginx with the shipped configuration, and the test's names and paths.
private final class Proxy {
    let url: String
    private let directory: TemporaryDirectory
    private var child: ChildProcess?

    init(_ nginx: String, of relay: RelayProcess) throws {
        directory = try TemporaryDirectory(named: "zg-nginx")
        let port = try Self.freePort()
        url = "https://127.0.0.1:\(port)"
        let made = try ProgramRunner(
            path: "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", directory.path("key"), "-out",
                directory.path("certificate"),
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).run()
        guard made.status == 0 else { throw CheckFailure("openssl: \(made.error)") }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        var text = try String(
            contentsOf: root.appendingPathComponent("Packaging/zg-env-postal.nginx"),
            encoding: .utf8)
        for (shown, used) in [
            ("127.0.0.1:8787", "127.0.0.1:\(relay.port)"),
            ("listen 443 ssl http2;", "listen 127.0.0.1:\(port) ssl http2;"),
            ("listen [::]:443 ssl http2;", ""), ("postal.example.org;", "127.0.0.1;"),
            ("/etc/ssl/postal.example.org.pem", directory.path("certificate")),
            ("/etc/ssl/private/postal.example.org.key", directory.path("key")),
        ] {
            guard text.contains(shown) else { throw CheckFailure("\(shown) is not there") }
            text = text.replacingOccurrences(of: shown, with: used)
        }
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(directory.path($0));"
        }
        try directory.write(
            """
            daemon off; worker_processes 1; pid \(directory.path("pid"));
            error_log \(directory.path("error")) warn;
            events { worker_connections 128; }
            http { access_log off; \(places.joined(separator: " "))
            \(text) }

            """, to: "nginx.conf")
        var description = ChildProcess.Description(
            nginx, ["-c", directory.path("nginx.conf"), "-e", directory.path("error")],
            environment: ["PATH": "/usr/bin:/bin"])
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        description.descriptors = [0: null, 1: null, 2: null]
        child = try ChildProcess(description)
        try wait("nginx") { (try? ask([url + "/"]))?.hasSuffix("404") == true }
    }

    func stop() {
        child?.signal(SIGTERM)
        child?.reap()
        child = nil
    }

    func text(_ name: String) -> String {
        (try? String(contentsOfFile: directory.path(name), encoding: .utf8)) ?? ""
    }

    private func arguments(_ rest: [String]) -> [String] {
        ["-sS", "--http1.1", "--cacert", directory.path("certificate")] + rest
    }

    /// The body of a response, followed by its status.
    func ask(_ rest: [String]) throws -> String {
        try ProgramRunner(path: "/usr/bin/curl", arguments(["-w", "%{http_code}"] + rest)).run()
            .output
    }

    /// Starts a request that stays open.
    func curl(_ rest: [String], output: String) throws -> ChildProcess {
        var description = ChildProcess.Description(
            "/usr/bin/curl", arguments(["-D", directory.path("head")] + rest), environment: [:])
        let file = unsafe open(
            directory.path(output), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        description.descriptors = [1: file]
        return try ChildProcess(description)
    }

    func wait(_ what: String, until condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !condition() {
            guard ContinuousClock.now < end else {
                throw CheckFailure("\(what) did not come; \(text("error"))")
            }
            usleep(10_000)
        }
    }

    /// A free port.
    private static func freePort() throws -> UInt16 {
        let result = try ProgramRunner(
            path: "/usr/bin/python3",
            [
                "-c",
                "import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); print(s.getsockname()[1])",
            ]
        ).run()
        guard let port = UInt16(result.output.dropLast()) else { throw CheckFailure("no port") }
        return port
    }
}
