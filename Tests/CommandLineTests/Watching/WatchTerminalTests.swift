import Foundation
import Sandbox
import TestSupport
import Testing

/// `watch` in a real tmux terminal, against the sandbox.
@Suite("watch in a terminal")
struct WatchTerminalTests {
    static let seed = """
        {"projects": [
          {"name": "web", "env": [{"key": "SEED_ONLY", "value": "seed"}],
           "deployments": [{"target": "production", "message": "First"},
                           {"target": "preview", "branch": "feature"},
                           {"target": "production", "message": "Second"}]},
          {"name": "api", "deployments": [{"target": "production", "state": "ERROR"}]},
          {"name": "bare"}
        ]}
        """

    private typealias Desk = WatchDesk

    // MARK: Painting

    @Test func `cached data is painted and keys work while Vercel does not answer`()
        throws
    {
        let desk = try Desk()
        try desk.warm()
        let before = desk.platform.server.requests.count
        try desk.platform.setFaults("* * slow:40")
        try desk.start()
        try desk.terminal.wait(for: ", refreshing")
        // All of it is there without an answer.
        #expect(desk.platform.server.requests.count <= before + 1)
        let screen = desk.terminal.screen
        #expect(screen.contains("zg-env: 3 projects") && screen.contains("as of "))
        #expect(screen.contains("> web") && screen.contains("READY, live"))
        try desk.terminal.press("j")
        try desk.terminal.wait("the next project") { desk.selected.hasPrefix("> api") }
        try desk.terminal.press("Enter")
        try desk.terminal.wait(for: "zg-env: api")
        #expect(desk.terminal.screen.contains(", refreshing"))
        // Leaving does not wait for the answer either.
        let start = ContinuousClock.now
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `without a network it shows cached data, and says so`() throws {
        let desk = try Desk()
        try desk.warm()
        desk.platform.server.stop()
        try desk.start()
        try desk.terminal.wait(for: "Showing the last known state")
        let screen = desk.terminal.screen
        #expect(screen.contains("> web") && screen.contains(", refresh failed"))
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        try desk.start("--offline")
        try desk.terminal.wait(for: ", offline")
        #expect(desk.terminal.screen.contains("> web"))
        try desk.terminal.press("r")
        try desk.terminal.wait(for: "--offline is set")
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `it follows every size, and filters, sorts and shows help`() throws {
        let desk = try Desk()
        try desk.start()
        try desk.terminal.wait(for: "3 projects")
        try desk.terminal.wait(for: "READY, live")
        for (columns, rows) in [(40, 10), (20, 5), (12, 2), (132, 40), (80, 24)] {
            try desk.terminal.resize(columns, rows)
            try desk.terminal.wait("a screen of \(columns) by \(rows)") {
                let lines = desk.terminal.screen.split(
                    separator: "\n", omittingEmptySubsequences: false)
                return lines.first?.hasPrefix("zg-env: ") == true
                    && (rows < 5 || desk.terminal.screen.contains("> web"))
                    && (rows < 5 || lines.prefix(rows).last?.hasPrefix("? help") == true)
            }
        }
        try desk.terminal.type("/ap")
        try desk.terminal.wait(for: "1 of 3 projects")
        #expect(desk.selected.hasPrefix("> api") && desk.terminal.screen.contains("/ap_"))
        try desk.terminal.press("Enter", "Escape")
        try desk.terminal.wait(for: "zg-env: 3 projects")
        try desk.terminal.press("g", "f")
        try desk.terminal.wait("those that failed first") {
            let lines = desk.terminal.screen.split(separator: "\n")
            return lines.count > 2 && lines[2].dropFirst(2).hasPrefix("api")
        }
        try desk.terminal.type("?")
        try desk.terminal.wait(for: "press any key to go back")
        #expect(desk.terminal.screen.contains("roll production back"))
        try desk.terminal.press("x", "End")
        try desk.terminal.wait("the last project") { desk.selected.hasPrefix("> bare") }
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `names and messages from Vercel neither control the terminal nor break lines`()
        throws
    {
        let desk = try Desk(
            seed: #"""
                {"projects": [{"name": "web", "deployments": [{"target": "production",
                  "branch": "b\u001b]0;owned\u0007\u202e日本語",
                  "message": "\u001b[2J\u001b[1;1Howned \u009b31m世界世界世界世界世界世界世界世界世界世界世界世界世界\nsecond"}]},
                  {"name": "zzz"}]}
                """#)
        try desk.start()
        try desk.terminal.wait(for: "owned")
        let lines = desk.terminal.screen.split(separator: "\n").map { String($0) }
        #expect(lines.first?.hasPrefix("zg-env: 2 projects") == true, "\(lines)")
        #expect(lines[2].hasPrefix("> web") && lines[2].contains("日本語") && lines[2].contains("世"))
        #expect(lines[3].hasPrefix("  zzz"))
        #expect(!desk.terminal.screen.contains("second"))
        let title = try desk.terminal.tmux(["display-message", "-p", "#{pane_title}"])
        #expect(!title.contains("owned"))
    }

    @Test func `NO_COLOR and terminals without cursor movement are respected`() throws {
        let desk = try Desk()
        try desk.warm()
        try desk.start()
        try desk.terminal.wait(for: "READY, live")
        // The selected row is a bar.
        #expect(desk.terminal.colouredScreen.contains("7m\u{1B}[39m\u{1B}[49m> web"))
        try desk.terminal.press("j")
        try desk.terminal.wait("the color of its state") {
            desk.terminal.colouredScreen.contains("\u{1B}[32mREADY, live")
        }
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        try desk.terminal.run("export NO_COLOR=1")
        try desk.start()
        try desk.terminal.wait(for: "READY, live")
        #expect(!desk.terminal.colouredScreen.contains("\u{1B}["))
        #expect(desk.selected.hasPrefix("> web"))
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        try desk.terminal.run("export TERM=dumb")
        try desk.start()
        try desk.terminal.wait(for: "ended with 2")
        #expect(desk.terminal.screen.contains("watch --json"))
        failed(try desk.platform.run("watch"), 2, "needs a terminal", "--json")
        failed(try desk.platform.run("watch", environment: ["TERM": "xterm"]), 2, "watch --json")
    }

    // MARK: Actions

    @Test func `a redeploy shows its plan, and does nothing without a yes`() throws {
        let desk = try Desk()
        let before = desk.posts.count
        try desk.start("-p web")
        try desk.terminal.wait(for: "1 project")
        try desk.terminal.wait(for: "READY, live")
        let source = try #require(try desk.platform.current())
        try desk.terminal.press("r")
        try desk.terminal.wait(for: "Redeploy this deployment?")
        #expect(desk.terminal.screen.contains("redeploy \(source) of web for production"))
        // No other key is an answer.
        try desk.terminal.press("Enter", "j", "n")
        try desk.terminal.wait(for: "Canceled.")
        #expect(desk.posts.count == before)
        try desk.terminal.press("r")
        try desk.terminal.wait(for: "Redeploy this deployment?")
        try desk.terminal.press("y")
        try desk.terminal.wait(for: "Done: redeploy.")
        #expect(desk.posts.count == before + 1)
        let made = try #require(try desk.platform.deployments().first)
        #expect(made != source)
        try desk.terminal.press("Enter")
        try desk.terminal.wait(for: String(made.prefix(16)))
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `production is rolled back and promoted after a question`() throws {
        let desk = try Desk()
        let second = try #require(try desk.platform.current())
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("b")
        try desk.terminal.wait(for: "Roll back to this deployment?")
        #expect(desk.terminal.screen.contains("moving the domains"))
        try desk.terminal.press("y")
        try desk.terminal.wait(for: "Done: rollback.")
        let first = try #require(try desk.platform.current())
        #expect(first != second)
        try desk.terminal.press("Enter", "g")
        try desk.terminal.wait("the newest deployment") {
            desk.selected.contains(second.prefix(16))
        }
        try desk.terminal.press("p")
        try desk.terminal.wait(for: "Move the production domains to this deployment?")
        #expect(try desk.platform.current() == first)
        try desk.terminal.press("y")
        try desk.terminal.wait(for: "Done: promote.")
        #expect(try desk.platform.current() == second)
        try desk.terminal.wait("the live one") { desk.selected.contains("READY, live") }
    }

    @Test func `a growing log is followed and left`() throws {
        let desk = try Desk(buildSeconds: 3)
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("r")
        try desk.terminal.wait(for: "Redeploy this deployment?")
        try desk.terminal.press("y")
        try desk.terminal.wait(for: "Done: redeploy.")
        try desk.terminal.wait("the new deployment") { !desk.selected.contains("live") }
        try desk.terminal.press("l")
        try desk.terminal.wait(for: "$ npm install")
        try desk.terminal.wait(for: "(end of log)")
        #expect(desk.terminal.screen.contains("= READY"))
        try desk.terminal.press("Escape")
        try desk.terminal.wait(for: "zg-env: 1 project")
        // A growing log closes at once.
        try desk.terminal.press("r")
        try desk.terminal.wait(for: "Redeploy this deployment?")
        try desk.terminal.press("y")
        try desk.terminal.wait(for: "Done: redeploy.")
        try desk.terminal.press("l", "q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `a browser gets the URL`() throws {
        let desk = try Desk()
        let bin = try desk.platform.home.directory.makeDirectory("bin")
        let opened = desk.platform.home.directory.path("opened")
        try desk.platform.home.directory.write(
            Array("#!/bin/sh\necho \"$1\" >\(opened)\n".utf8), to: "bin/xdg-open", mode: 0o700)
        try desk.terminal.run("PATH=\(bin):$PATH")
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("o")
        try desk.terminal.wait(for: "Opened https://web-")
        try desk.terminal.wait("the browser") {
            (try? String(contentsOfFile: opened, encoding: .utf8))?.hasPrefix("https://web-")
                == true
        }
    }

    // MARK: Values

    @Test func `a value needs the passphrase, is hidden by any key, and is logged`() throws {
        let desk = try Desk(unlocked: false)
        let value = "v4lue-\(UInt32.random(in: 0...UInt32.max))-end"
        try desk.platform.set("KEY", value)
        try desk.start("-p web")
        try desk.terminal.wait(for: "Passphrase")
        try desk.terminal.run(CommandHome.passphrase)
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("Enter", "Tab")
        try desk.terminal.wait(for: "KEY")
        #expect(!desk.terminal.everything.contains(value))
        try desk.terminal.wait("the variable") { desk.selected.hasPrefix("> KEY") }
        try desk.terminal.press("v")
        try desk.terminal.wait(for: "Passphrase")
        #expect(!desk.terminal.isAlternate)
        for number in 2...3 {
            try desk.terminal.run("wrong")
            try desk.terminal.wait(for: "Wrong passphrase, try \(number) of 3")
        }
        try desk.terminal.run("wrong")
        try desk.terminal.wait("the refusal") {
            desk.terminal.isAlternate && desk.terminal.screen.contains("passphrase")
        }
        #expect(!desk.terminal.screen.contains(value))
        try desk.terminal.press("v")
        try desk.terminal.wait(for: "Passphrase")
        try desk.terminal.run(CommandHome.passphrase)
        try desk.terminal.wait(for: value)
        #expect(desk.terminal.isAlternate)
        try desk.terminal.press("j")
        try desk.terminal.wait("the value to go") { !desk.terminal.screen.contains(value) }
        // The key that hides it does nothing else.
        try desk.terminal.wait("the page") { desk.selected.hasPrefix("> KEY") }
        #expect(!desk.terminal.everything.contains(value))
        // Needed each time.
        try desk.terminal.press("v")
        try desk.terminal.wait(for: "Passphrase")
        try desk.terminal.run(CommandHome.passphrase)
        try desk.terminal.wait(for: value)
        try desk.terminal.press("C-c")
        try desk.terminal.wait(for: "ended with 130")
        #expect(!desk.terminal.everything.contains(value))
        let log = try json(desk.platform.run("log", "--json"))
        let given = (log["entries"]?.elements ?? []).filter { $0["outcome"] == "revealed" }
        #expect(given.count == 2, "\(given)")
        #expect(given.allSatisfy { $0["command"] == "reveal" && $0["project"] == "web" })
    }

    @Test func `a long value with escape sequences stays on the screen and is made harmless`()
        throws
    {
        let desk = try Desk()
        let value =
            "\u{1B}]0;owned\u{7}first\nsecond\u{202E}世界" + String(repeating: "x", count: 9_000)
        try desk.platform.set("KEY", value)
        try desk.start("-p web")
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("Enter", "Tab")
        try desk.terminal.wait(for: "KEY")
        try desk.terminal.press("v")
        try desk.terminal.wait(for: "The value is cut off")
        let lines = desk.terminal.screen.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[2] == "\\x1B]0;owned\\x07first")
        #expect(lines[3].hasPrefix("second\\xE2\\x80\\xAE世界xxx"))
        #expect(lines[22].allSatisfy { $0 == "x" } && lines[22].count == 80)
        let title = try desk.terminal.tmux(["display-message", "-p", "#{pane_title}"])
        #expect(!title.contains("owned"))
        // Nobody presses a key.
        let start = ContinuousClock.now
        try desk.terminal.wait("the value to go", seconds: 60) {
            !desk.terminal.screen.contains("xxx")
        }
        #expect(ContinuousClock.now - start > .seconds(20))
        #expect(desk.selected.hasPrefix("> KEY"))
        #expect(!desk.terminal.everything.contains("xxx"))
    }

    // MARK: Leaving

    @Test(arguments: ["q", "C-c", "TERM", "HUP"])
    func `the terminal is restored however it ends`(way: String) throws {
        let desk = try Desk()
        let directory = desk.platform.home.directory
        try desk.terminal.run("echo from before; stty -g >\(directory.path("before"))")
        try desk.start()
        try desk.terminal.wait(for: "3 projects")
        #expect(desk.terminal.isAlternate && !desk.terminal.hasCursor)
        let number = try desk.terminal.program(named: "zg-env")
        let code: Int
        switch way {
        case "TERM", "HUP":
            kill(number, way == "TERM" ? SIGTERM : SIGHUP)
            code = way == "TERM" ? 143 : 129
        default:
            try desk.terminal.press(way)
            code = way == "q" ? 0 : 130
        }
        try desk.terminal.wait(for: "ended with \(code)")
        #expect(!desk.terminal.isAlternate && desk.terminal.hasCursor)
        #expect(!desk.terminal.everything.contains("3 projects"))
        try desk.terminal.run("stty -g >\(directory.path("after"))")
        try desk.terminal.wait("the modes") {
            (try? directory.read("after"))?.isEmpty == false
        }
        #expect(try directory.read("before") == directory.read("after"))
    }

    @Test func `it stops and continues as a shell job`() throws {
        let desk = try Desk()
        try desk.terminal.run("set -m")
        try desk.start()
        try desk.terminal.wait(for: "3 projects")
        try desk.terminal.press("C-z")
        try desk.terminal.wait(for: "Stopped")
        #expect(!desk.terminal.isAlternate && desk.terminal.hasCursor)
        try desk.terminal.run("echo typed $((40 + 2))")
        try desk.terminal.wait(for: "typed 42")
        try desk.terminal.run("fg")
        try desk.terminal.wait(for: "3 projects")
        #expect(desk.terminal.isAlternate && !desk.terminal.hasCursor)
        // After SIGSTOP it cannot restore the terminal, but repaints when it continues.
        let number = try desk.terminal.program(named: "zg-env")
        kill(number, SIGSTOP)
        usleep(300_000)
        try desk.terminal.tmux(["send-keys", "-R"])
        try desk.terminal.run("fg")
        try desk.terminal.wait(for: "3 projects")
        try desk.terminal.press("j")
        try desk.terminal.wait("the next project") { desk.selected.hasPrefix("> api") }
        try desk.terminal.press("q")
        try desk.terminal.wait("the shell") { !desk.terminal.isAlternate }
        try desk.terminal.run("echo typed $((40 + 3))")
        try desk.terminal.wait(for: "typed 43")
    }

    @Test func `a closed terminal ends it`() throws {
        let desk = try Desk()
        try desk.start()
        try desk.terminal.wait(for: "3 projects")
        let number = try desk.terminal.program(named: "zg-env")
        try desk.terminal.tmux(["kill-server"])
        var isGone = false
        for _ in 0..<1_000 where !isGone {
            // Nobody may be there to reap it.
            let status = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
            isGone = status?.contains(") Z ") ?? true
            usleep(10_000)
        }
        #expect(isGone)
    }
}
