import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

@testable import ZGEnvCommands

/// What a click on a notification does.
@Suite("Actions of notifications")
struct NotifyActionTests {
    @Test(
        arguments: [
            ("web-1.vercel.app", "https://web-1.vercel.app"),
            ("https://vercel.com/a/b/dpl_1?x=1&y=%20", "https://vercel.com/a/b/dpl_1?x=1&y=%20"),
            ("http://web.vercel.app", nil), ("file:///etc/passwd", nil), ("javascript://x.y", nil),
            ("https://user@evil.example", nil), ("https://web.app:8443", nil), ("localhost", nil),
            ("-x.app", nil), ("https://a.b/$(id)", nil), ("https://a.b/`id`", nil),
            ("https://a.b/ c", nil), ("https://a.b/\u{202E}", nil), ("https://a.b/\n", nil),
            ("https://", nil), ("", nil), ("a." + String(repeating: "b", count: 1_000), nil),
        ] as [(String, String?)])
    func `only plain https URLs are opened`(text: String, address: String?) {
        #expect(Browser.address(text) == address)
        #expect(Browser.address(nil) == nil)
    }

    @Test(arguments: [false, true])
    func `a click opens the deployment's page, through the manager in a service`(
        isService: Bool
    ) throws {
        let desktop = try NotificationServer()
        let platform = try SandboxHome(buildSeconds: 0.2)
        try platform.set("KEY", "value")
        done(try platform.run("notify", "set", "web", "--on", "ready"))
        let source = try #require(try platform.deployments().first)
        let directory = platform.home.directory
        let log = directory.path("opened")
        for name in ["xdg-open", "systemd-run"] {
            let script = "#!/bin/sh\necho \(name) \"$@\" \"${ZG_ENV_API_URL-none}\" >>\(log)\n"
            try directory.makeDirectory("programs")
            try directory.write(script, to: "programs/\(name)", mode: 0o700)
        }
        var environment = desktop.environment
        environment["PATH"] = directory.path("programs") + ":/usr/bin:/bin"
        if isService { environment["INVOCATION_ID"] = "0123" }
        var runner = platform.runner(
            ["notify", "run", "--every", "5s", "--every-building", "5s"],
            environment: environment)
        let before = platform.server.requests.count
        runner.script = [
            (
                .now,
                .call { [teammate = platform.teammate] _, _ in
                    platform.server.waits(after: before) { !$0.isEmpty }
                    // By then its answer has arrived.
                    usleep(1_000_000)
                    _ = try? teammate.send(
                        "POST", "/v13/deployments?forceNew=1",
                        ["name": "web", "deploymentId": .string(source)])
                }
            ),
            (
                .output("web: ready"),
                .call { _, _ in
                    try? desktop.click()
                    for _ in 0..<500 where !FileManager.default.fileExists(atPath: log) {
                        usleep(10_000)
                    }
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        let opened = try String(contentsOfFile: log, encoding: .utf8)
        let id = try #require(try platform.deployments().first)
        let made = try platform.teammate.send("GET", "/v13/deployments/\(id)")
        let host = try #require(made["url"]?.string)
        // The browser does not get Vercel's API URL.
        #expect(opened.hasSuffix("https://\(host) none\n"), "\(opened)")
        #expect(
            opened.hasPrefix(isService ? "systemd-run --user --collect" : "xdg-open https://"))
    }
}
