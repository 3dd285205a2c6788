import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// `watch` where the terminal, the keyring or the platform does not do its part.
@Suite("watch in trouble")
struct WatchTroubleTests {
    /// Whether a process has ended, be it that nobody took note of it yet.
    private static func hasEnded(_ number: Int32, within seconds: Double) -> Bool {
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            let status = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
            if status?.contains(") Z ") ?? true { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func `a page is opened while the platform is asked for something else`() throws {
        let desk = try WatchDesk()
        try desk.warm()
        try desk.platform.setFaults("GET * slow:1.5")
        try desk.start()
        try desk.terminal.wait(for: ", asking")
        // Its own request and that of the page are under way at once, of one list and of the other.
        try desk.terminal.press("Enter")
        try desk.terminal.wait(for: "zg-env watch: web")
        try desk.terminal.wait("the request of the page") {
            desk.platform.server.requests.contains { $0.path.contains("projectId=") }
        }
        try desk.terminal.wait("the end of asking") { !desk.terminal.screen.contains(", asking") }
        try desk.terminal.press("R")
        try desk.terminal.wait(for: ", asking")
        let before = desk.platform.server.requests.count
        try desk.terminal.press("Escape")
        try desk.terminal.wait(for: "projects")
        try desk.terminal.press("Enter")
        try desk.terminal.wait("all answers") {
            !desk.terminal.screen.contains(", asking")
                && desk.platform.server.requests[before...].contains {
                    $0.path.contains("projectId=")
                }
        }
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `a terminal that takes nothing does not hold up a signal`() throws {
        let platform = try PlatformHome(seed: WatchTerminalTests.seed)
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
                    // Nobody reads meanwhile: each size paints all of a large screen.
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

    @Test func `a keyring that hangs does not hold up a signal`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let desk = try WatchDesk(unlocked: false, keyring: keyring)
        try desk.platform.set("KEY", "value")
        try desk.terminal.run("set -m")
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        // While it stands still, what it has opens nothing any more, and the keyring hangs.
        let number = try desk.terminal.program(named: "zg-env")
        kill(number, SIGSTOP)
        try desk.terminal.wait(for: "Stopped")
        done(try desk.platform.run("rekey", "--yes"))
        try keyring.hang()
        try desk.terminal.run("fg")
        try desk.terminal.wait(for: "1 project")
        usleep(3_000_000)
        // Keys do nothing, and one signal is enough.
        try desk.terminal.type("?")
        usleep(1_500_000)
        #expect(!desk.terminal.screen.contains("any key goes back"))
        try desk.terminal.press("C-c")
        #expect(Self.hasEnded(number, within: 60))
        try desk.terminal.wait("the shell") {
            !desk.terminal.isAlternate && desk.terminal.hasCursor
        }
    }

    @Test func `a log that cannot be had says so, and a token that is refused takes all away`()
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
        #expect(!desk.terminal.screen.contains("Waiting for the log."))
        try desk.terminal.press("Escape")
        try desk.terminal.wait(for: "The vault does not have this project.")
        try desk.platform.setFaults("* * 401")
        try desk.terminal.press("R")
        try desk.terminal.wait(for: "This project is not shown any more.")
        #expect(!desk.terminal.screen.contains("prj_"))
        try desk.platform.setFaults()
        try desk.terminal.press("R")
        try desk.terminal.wait(for: "READY, live")
    }
}
