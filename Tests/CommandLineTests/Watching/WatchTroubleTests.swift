import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// `watch` when the terminal, the keyring or Vercel misbehaves.
@Suite("watch with failures")
struct WatchTroubleTests {
    /// Whether a process has ended, even if it was not reaped yet.
    private static func hasEnded(_ number: Int32, within seconds: Double) -> Bool {
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            let status = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
            if status?.contains(") Z ") ?? true { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func `a page opens while another request is running`() throws {
        let desk = try WatchDesk()
        try desk.warm()
        try desk.platform.setFaults("GET * slow:1.5")
        try desk.start()
        try desk.terminal.wait(for: ", refreshing")
        // Its own request and the page's run at once, one for each list.
        try desk.terminal.press("Enter")
        try desk.terminal.wait(for: "zg-env: web")
        try desk.terminal.wait("the request of the page") {
            desk.platform.server.requests.contains { $0.path.contains("projectId=") }
        }
        try desk.terminal.wait("the end") { !desk.terminal.screen.contains(", refreshing") }
        try desk.terminal.press("R")
        try desk.terminal.wait(for: ", refreshing")
        let before = desk.platform.server.requests.count
        try desk.terminal.press("Escape")
        try desk.terminal.wait(for: "projects")
        try desk.terminal.press("Enter")
        try desk.terminal.wait("all answers") {
            !desk.terminal.screen.contains(", refreshing")
                && desk.platform.server.requests[before...].contains {
                    $0.path.contains("projectId=")
                }
        }
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `a blocked terminal does not delay a signal`() throws {
        let platform = try SandboxHome(seed: WatchTerminalTests.seed)
        var runner = platform.runner(["watch"], environment: ["TERM": "xterm"])
        runner.terminal = .init()
        runner.input = .terminal
        runner.output = .terminal
        runner.error = .terminal
        var hasEnded = false
        runner.script = [
            (
                .terminal("3 projects"),
                .call { number, terminal in
                    // Nobody reads meanwhile: each new size repaints a large screen.
                    for turn in 0..<40 {
                        terminal?.resize(400 - turn % 2, 150)
                        usleep(50_000)
                    }
                    kill(number, SIGTERM)
                    hasEnded = Self.hasEnded(number, within: 60)
                }
            )
        ]
        let result = try runner.run()
        #expect(hasEnded)
        #expect(result.end == .exited(143))
        #expect(result.echoAtEnd == true)
    }

    @Test func `a hanging keyring does not delay a signal`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let desk = try WatchDesk(unlocked: false, keyring: keyring)
        try desk.platform.set("KEY", "value")
        try desk.terminal.run("set -m")
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        // While it is stopped, its key expires and the keyring hangs.
        let number = try desk.terminal.program(named: "zg-env")
        kill(number, SIGSTOP)
        try desk.terminal.wait(for: "ended with \(128 + SIGSTOP)")
        done(try desk.platform.run("rekey", "--yes"))
        try keyring.hang()
        try desk.terminal.run("fg")
        try desk.terminal.wait(for: "1 project")
        usleep(3_000_000)
        // Keys do nothing, and one signal is enough.
        try desk.terminal.type("?")
        usleep(1_500_000)
        #expect(!desk.terminal.screen.contains("press any key to go back"))
        try desk.terminal.press("C-c")
        #expect(Self.hasEnded(number, within: 60))
        try desk.terminal.wait("the shell") {
            !desk.terminal.isAlternate && desk.terminal.hasCursor
        }
    }

    @Test func `an unavailable log is reported, and a refused token clears everything`()
        throws
    {
        let desk = try WatchDesk()
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        try desk.platform.setFaults("GET */events* 404")
        try desk.terminal.press("Enter", "l")
        try desk.terminal.wait("the reason") {
            let lines = desk.terminal.screen.split(separator: "\n").dropFirst()
            return lines.first?.hasPrefix("(") == true
        }
        #expect(!desk.terminal.screen.contains("Waiting for the log…"))
        try desk.terminal.press("Escape")
        try desk.terminal.wait(for: "[Deployments]")
        try desk.platform.setFaults("* * 401")
        try desk.terminal.press("R")
        try desk.terminal.wait(for: "This project is no longer available.")
        #expect(!desk.terminal.screen.contains("prj_"))
        try desk.platform.setFaults()
        try desk.terminal.press("R")
        try desk.terminal.wait(for: "READY, live")
    }
}
