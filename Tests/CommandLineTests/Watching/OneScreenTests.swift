import Foundation
import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// The full-screen program on a project's variables, in a real tmux terminal.
@Suite("The screen of a linked directory")
struct OneScreenTests {
    /// A desk in a linked directory with `KEY` in the vault.
    private func desk(columns: Int = 100, rows: Int = 24) throws -> WatchDesk {
        let desk = try WatchDesk(columns: columns, rows: rows)
        try desk.platform.set("KEY", "first", "-t", "production")
        done(try desk.platform.run("link", "web"))
        return desk
    }

    @Test func `zg-env alone opens the directory's variables, and every change asks as usual`()
        throws
    {
        let desk = try desk()
        let terminal = desk.terminal
        try desk.startAlone()
        try terminal.wait(for: "[Variables]")
        try terminal.wait("the variable") { desk.selected.hasPrefix("> KEY") }
        #expect(terminal.screen.contains("local") && !terminal.screen.contains("first"))
        // A value is typed at the hidden prompt.
        try terminal.press("s")
        try terminal.wait(for: "Value of KEY")
        #expect(!terminal.isAlternate)
        try terminal.run("second-value")
        try terminal.wait("the screen") { terminal.isAlternate && terminal.screen.contains("KEY") }
        #expect(
            try desk.platform.home.revealed("KEY", "-t", "production") == Array("second-value".utf8)
        )
        // A new one gets its name on the screen.
        try terminal.type("nNEW")
        try terminal.wait(for: "New variable: NEW_")
        try terminal.press("Enter")
        try terminal.wait(for: "Value of NEW")
        try terminal.run("new-value")
        try terminal.wait("the new variable") {
            terminal.isAlternate && terminal.screen.contains("NEW")
        }
        // Push shows its plan and asks; its result stays readable.
        try terminal.press("P")
        try terminal.wait(for: "[y/N]")
        #expect(!terminal.isAlternate && terminal.screen.contains("create KEY"))
        try terminal.run("y")
        try terminal.wait(for: "zg-env: web: push")
        #expect(terminal.isAlternate && terminal.screen.contains("created"))
        #expect(terminal.screen.contains("Not live yet: zg-env redeploy -p web"))
        #expect(desk.platform.records("KEY") == ["production=second-value"])
        try terminal.press("Escape")
        try terminal.wait(for: "synced")
        // The history has no values.
        try terminal.press("h")
        try terminal.wait(for: "VERSION")
        #expect(terminal.screen.contains("zg-env: web: history of KEY"))
        try terminal.press("Escape")
        try terminal.wait("the list") { desk.selected.hasPrefix("> KEY") }
        // Enter shows the same, and no value; a version is restored from there.
        try terminal.press("Enter")
        try terminal.wait(for: "zg-env: web: history of KEY")
        try terminal.type("r1")
        try terminal.wait(for: "Restore version: 1_")
        try terminal.press("Enter")
        try terminal.wait(for: "Restored version 1 of KEY for")
        #expect(terminal.isAlternate)
        #expect(
            try desk.platform.home.revealed("KEY", "-t", "production") == Array("first".utf8))
        try terminal.press("End", "x")
        try terminal.wait(for: "Remove it?")
        #expect(!terminal.isAlternate && terminal.screen.contains("remove NEW from web"))
        try terminal.run("n")
        try terminal.wait(for: "Canceled.")
        #expect(terminal.isAlternate && desk.selected.hasPrefix("> NEW"))
        try terminal.press("x")
        try terminal.wait(for: "Remove it?")
        try terminal.run("y")
        try terminal.wait(for: "Removed NEW")
        try terminal.press("q")
        try terminal.wait(for: "ended with 0")
        for value in ["first", "second-value", "new-value"] {
            #expect(!terminal.everything.contains(value), "\(value)")
        }
    }

    @Test func `e changes the value for all targets of the variable`() throws {
        let desk = try WatchDesk()
        try desk.platform.set("WIDE", "first")
        done(try desk.platform.run("link", "web"))
        try desk.terminal.run("export VISUAL='sh -c \"echo WIDE=edited >\\$0\"'")
        try desk.startAlone()
        try desk.terminal.wait(for: "> WIDE")
        try desk.terminal.press("e")
        try desk.terminal.wait(for: "Saved 1 change to web.")
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        let home = desk.platform.home
        #expect(try home.scopes(of: "WIDE") == ["production,preview,development"])
        #expect(try home.revealed("WIDE") == Array("edited".utf8))
    }

    @Test func `a prompt says what it is for, and Esc and Ctrl-C return to the screen`() throws {
        let desk = try WatchDesk(unlocked: false)
        let terminal = desk.terminal
        try desk.platform.set("KEY", "value-of-key")
        done(try desk.platform.run("link", "web"))
        try desk.startAlone()
        try terminal.wait(for: "Passphrase")
        try terminal.run(CommandHome.passphrase)
        try terminal.wait(for: "> KEY")
        for (key, prompt) in [
            ("v", "Passphrase to show KEY (Esc cancels): "),
            ("e", "Passphrase to edit KEY (Esc cancels): "),
            ("P", "Passphrase to push (Esc cancels): "),
            ("s", "Passphrase to set KEY (Esc cancels): "),
        ] {
            for answer in ["Escape", "C-c"] {
                try terminal.press(key)
                try terminal.wait(for: prompt.trimmingCharacters(in: .whitespaces))
                #expect(!terminal.isAlternate)
                try terminal.type("abc")
                try terminal.press(answer)
                try terminal.wait("the screen after \(key) \(answer)") {
                    terminal.isAlternate && terminal.screen.contains("Canceled.")
                }
                #expect(desk.selected.hasPrefix("> KEY"))
                try terminal.press("j")
                try terminal.wait("the next key") { !terminal.screen.contains("Canceled.") }
            }
        }
        // A question in the shell's part, and an arrow key in a prompt, which is no Escape.
        try terminal.press("P")
        try terminal.wait(for: "Passphrase to push")
        try terminal.press("Up")
        try terminal.press("C-u")
        try terminal.run(CommandHome.passphrase)
        try terminal.wait(for: "[y/N]")
        try terminal.press("C-c")
        try terminal.wait("the screen") {
            terminal.isAlternate && terminal.screen.contains("Canceled.")
        }
        #expect(desk.platform.records("KEY").isEmpty)
        #expect(try desk.platform.home.revealed("KEY") == Array("value-of-key".utf8))
        // On the screen itself Ctrl-C still quits.
        try terminal.press("C-c")
        try terminal.wait(for: "ended with 130")
        #expect(!terminal.everything.contains("value-of-key"))
    }

    @Test func `after a redeploy from the screen, status knows that the value is live`() throws {
        let desk = try desk()
        try desk.platform.pushed()
        #expect(done(try desk.platform.run("status")).output.contains("not live yet"))
        try desk.startAlone()
        try desk.terminal.wait(for: "not yet")
        try desk.terminal.press("Tab")
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("g", "r")
        try desk.terminal.wait(for: "Redeploy this deployment?")
        try desk.terminal.press("y")
        try desk.terminal.wait(for: "Done: redeploy.")
        try desk.terminal.press("Tab")
        try desk.terminal.wait("the live value") {
            desk.selected.contains(" live ") && !desk.terminal.screen.contains("not yet")
        }
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        let status = done(try desk.platform.run("status")).output
        #expect(!status.contains("not live yet"), "\(status)")
    }

    @Test func `a conflict, a comparison and an editor have the terminal for themselves`() throws {
        let desk = try desk()
        let terminal = desk.terminal
        try desk.platform.pushed()
        try desk.platform.set("KEY", "mine", "-t", "production")
        try desk.platform.change("KEY", ["value": "theirs"])
        try terminal.run("export VISUAL='sh -c \"echo KEY=edited >\\$0\"'")
        try desk.startAlone()
        try terminal.wait(for: "> KEY")
        try terminal.press("d")
        try terminal.wait(for: "zg-env: web: diff")
        #expect(terminal.screen.contains("KEY"))
        try terminal.press("Escape")
        try terminal.wait(for: "> KEY")
        try terminal.press("p")
        try terminal.wait(for: "skip? [S/m/t/d]")
        try terminal.run("t")
        try terminal.wait("the result") { terminal.isAlternate }
        #expect(try desk.platform.home.revealed("KEY", "-t", "production") == Array("theirs".utf8))
        try terminal.wait("the page") { desk.terminal.screen.contains("zg-env: web: pull") }
        try terminal.press("Escape")
        try terminal.wait(for: "> KEY")
        try terminal.press("e")
        try terminal.wait(for: "Saved 1 change to web.")
        #expect(terminal.isAlternate)
        #expect(try desk.platform.home.revealed("KEY", "-t", "production") == Array("edited".utf8))
        try terminal.press("q")
        try terminal.wait("the shell") { !terminal.isAlternate }
    }

    @Test func `Tab shows the deployments, and Escape all projects`() throws {
        let desk = try desk()
        try desk.startAlone()
        try desk.terminal.wait(for: "[Variables]")
        try desk.terminal.press("Tab")
        try desk.terminal.wait(for: "[Deployments]")
        try desk.terminal.wait(for: "READY, live")
        try desk.terminal.press("Escape")
        try desk.terminal.wait(for: "3 projects")
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test func `elsewhere zg-env alone shows the short help`() throws {
        let desk = try WatchDesk()
        try desk.startAlone()
        try desk.terminal.wait(for: "ended with 0")
        #expect(desk.terminal.screen.contains("More help:"))
        // A linked directory is not enough without a terminal.
        try desk.platform.set("KEY", "value")
        done(try desk.platform.run("link", "web"))
        #expect(done(try desk.platform.run()).output.contains("Usage: zg-env"))
        // A dumb terminal is not cleared, and the end of the first run would be taken for this one's.
        try desk.terminal.run("clear; export TERM=dumb PS1='# '")
        try desk.terminal.wait("an empty screen") { !desk.terminal.screen.contains("ended with 0") }
        try desk.startAlone()
        try desk.terminal.wait(for: "ended with 0")
        #expect(desk.terminal.screen.contains("More help:"))
    }

    @Test func `without a vault or a login the screen says what to do`() throws {
        let desk = try WatchDesk(isLoggedIn: false)
        try desk.start()
        try desk.terminal.wait(for: "zg-env login")
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
        try desk.terminal.run("export ZG_ENV_VAULT=$PWD/none")
        try desk.start()
        try desk.terminal.wait(for: "zg-env init")
        try desk.terminal.press("q")
        try desk.terminal.wait(for: "ended with 0")
    }

    @Test(arguments: [SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE])
    func `a crash gives the terminal back`(signal: Int32) throws {
        let desk = try desk()
        let directory = desk.platform.home.directory
        try desk.terminal.run(
            "ulimit -c 0; export SWIFT_BACKTRACE=enable=no; stty -g >\(directory.path("before"))")
        try desk.startAlone()
        try desk.terminal.wait(for: "[Variables]")
        #expect(desk.terminal.isAlternate && !desk.terminal.hasCursor)
        kill(try desk.terminal.program(named: "zg-env"), signal)
        try desk.terminal.wait(for: "ended with \(128 + signal)")
        #expect(!desk.terminal.isAlternate && desk.terminal.hasCursor)
        try desk.terminal.run("stty -g >\(directory.path("after"))")
        try desk.terminal.wait("the modes") {
            (try? directory.read("after"))?.isEmpty == false
        }
        #expect(try directory.read("before") == directory.read("after"))
    }

    @Test func `a crash during a hidden prompt restores the echo`() throws {
        let desk = try WatchDesk(unlocked: false)
        let directory = desk.platform.home.directory
        try desk.platform.set("KEY", "value")
        try desk.terminal.run(
            "ulimit -c 0; export SWIFT_BACKTRACE=enable=no; stty -g >\(directory.path("before"))")
        try desk.start("-p web")
        try desk.terminal.wait(for: "Passphrase")
        kill(try desk.terminal.program(named: "zg-env"), SIGSEGV)
        try desk.terminal.wait(for: "ended with 139")
        try desk.terminal.run("stty -g >\(directory.path("after"))")
        try desk.terminal.wait("the modes") {
            (try? directory.read("after"))?.isEmpty == false
        }
        #expect(try directory.read("before") == directory.read("after"))
    }
}
