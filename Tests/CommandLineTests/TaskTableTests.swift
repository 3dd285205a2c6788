import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// The ten most common tasks on a desktop, each from a locked vault in a linked directory: how many
/// commands, prompts for the passphrase, questions and keys each takes.
@Suite("Ten tasks and their keys")
struct TaskTableTests {
    /// What a task took. Keys are those that answer questions, Return included; what must be typed
    /// anyway (passphrases, values) is not counted.
    struct Effort: Equatable, Sendable {
        var commands = 0
        var prompts = 0
        var questions = 0
        var keys = 0
        /// What went wrong.
        var problems: [String] = []
    }

    /// A step of a person at the terminal.
    enum Step {
        /// Types the passphrase when asked for it.
        case passphrase
        /// Types a text that is no answer to a question.
        case text(String, at: String)
        /// Answers the question that has this text.
        case answer(String, to: String)
    }

    /// Somebody with a desktop keyring and a login session of their own, who is logged in to Vercel.
    /// Runs on a thread without a test, so that problems are collected.
    final class Desktop {
        let keyring: PrivateKeyring
        let platform: SandboxHome
        var effort = Effort()

        init(hasVault: Bool = true) throws {
            keyring = try PrivateKeyring()
            platform = try SandboxHome(keyring: keyring, hasVault: hasVault, isLoggedIn: false)
            guard hasVault else { return }
            try run(["login"], input: .text(platform.token + "\n"))
            try run(["set", "KEY", "-p", "web", "-t", "production"], input: .text("old"))
            try run(["link", "--local", "web"])
            try run(["unlock"])
            try run(["push", "--yes"])
            try run(["redeploy", "--yes", "--wait"])
            try run(["lock"])
        }

        func check(_ condition: Bool, _ what: String) {
            if !condition { effort.problems.append(what) }
        }

        /// Runs a command that is no part of the task.
        func run(
            _ arguments: [String], input: ProgramRunner.Input = .null, status: Int32 = 0
        ) throws {
            let result = try platform.runner(arguments, input: input).run()
            check(result.status == status, "\(arguments): \(result.error)")
        }

        /// Plays a command on a terminal and adds what it took.
        @discardableResult
        func play(
            _ arguments: String..., script: [Step] = [], environment: [String: String] = [:]
        ) throws -> String {
            var runner = platform.home.terminalRunner(
                arguments, streams: true, columns: 200,
                script: script.map { step in
                    switch step {
                    case .passphrase: (.terminal("assphrase: "), .line(CommandHome.passphrase))
                    case .text(let text, let prompt): (.terminal(prompt), .line(text))
                    case .answer(let text, let question): (.terminal(question), .line(text))
                    }
                })
            runner.environment["ZG_ENV_API_URL"] = platform.url
            runner.environment.merge(environment) { $1 }
            let result = try runner.run()
            let screen = result.screen
            check(result.end == .exited(0), "\(arguments): \(result.end): \(screen)")
            check(result.stepsDone == script.count, "\(arguments): \(screen)")
            effort.commands += 1
            // A prompt without a step would wait until the program is killed.
            effort.prompts += script.count { if case .passphrase = $0 { true } else { false } }
            // All questions end with their possible answers in brackets.
            effort.questions += screen.ranges(of: #/\[[A-Za-z0-9](/[A-Za-z0-9])+\] /#).count
            for case .answer(let text, _) in script { effort.keys += text.utf8.count + 1 }
            return screen
        }
    }

    /// Plays a task and returns what it took.
    private func effort(
        hasVault: Bool = true, _ task: @escaping @Sendable (Desktop) throws -> Void
    ) throws -> Effort {
        try LoginThread.run(.session) {
            let desktop = try Desktop(hasVault: hasVault)
            try task(desktop)
            return desktop.effort
        }
    }

    @Test func `first use`() throws {
        let effort = try effort(hasVault: false) { desktop in
            try desktop.platform.home.directory.write("A=1\nB=2\n", to: "work/.env")
            try desktop.play("init", "--kdf", "8MiB,1", script: [.passphrase, .passphrase])
            let screen = try desktop.play(
                "import", ".env", "-p", "web",
                script: [
                    .answer("4", to: "Which targets"),
                    .answer("", to: "Link this directory to web?"),
                ])
            desktop.check(screen.contains("created"), screen)
        }
        #expect(effort == Effort(commands: 2, prompts: 2, questions: 2, keys: 3))
    }

    @Test func `show one value`() throws {
        let effort = try effort { desktop in
            let screen = try desktop.play("reveal", "KEY", script: [.passphrase])
            desktop.check(screen.contains("old"), screen)
        }
        #expect(effort == Effort(commands: 1, prompts: 1))
    }

    @Test func `copy one value`() throws {
        let effort = try effort { desktop in
            let display = try PrivateScreen()
            let screen = try desktop.play(
                "reveal", "KEY", "--copy", script: [.passphrase],
                environment: ["DISPLAY": display.display])
            desktop.check(screen.contains("Copied KEY"), screen)
        }
        #expect(effort == Effort(commands: 1, prompts: 1))
    }

    @Test func `run a program while locked`() throws {
        let effort = try effort { desktop in
            let screen = try desktop.play(
                "run", "-t", "production", "--", "sh", "-c", "echo \"<$KEY>\"",
                script: [.passphrase])
            desktop.check(screen.contains("<old>"), screen)
        }
        #expect(effort == Effort(commands: 1, prompts: 1))
    }

    @Test func `run a program while unlocked`() throws {
        let effort = try effort { desktop in
            try desktop.run(["unlock"])
            let screen = try desktop.play(
                "run", "-t", "production", "--", "sh", "-c", "echo \"<$KEY>\"")
            desktop.check(screen.contains("<old>"), screen)
        }
        #expect(effort == Effort(commands: 1))
    }

    @Test func `change a value and have it live`() throws {
        let effort = try effort { desktop in
            try desktop.play(
                "set", "KEY", "-t", "production", "--push", "--redeploy",
                script: [.passphrase, .text("new", at: "Value of KEY"), .answer("y", to: "[y/N]")])
            let live = try desktop.platform.current() ?? ""
            let built = desktop.platform.server.builtVariables(deployment: live)
            desktop.check(built?["KEY"] == "new", "\(live) has \(built ?? [:])")
        }
        #expect(effort == Effort(commands: 1, prompts: 1, questions: 1, keys: 2))
    }

    @Test func `take changes of the dashboard`() throws {
        let effort = try effort { desktop in
            try desktop.platform.change("KEY", ["value": "theirs"])
            try desktop.play("pull", script: [.passphrase, .answer("y", to: "[y/N]")])
        }
        #expect(effort == Effort(commands: 1, prompts: 1, questions: 1, keys: 2))
    }

    @Test func `take changes of the dashboard that conflict`() throws {
        let effort = try effort { desktop in
            try desktop.platform.change("KEY", ["value": "theirs"])
            try desktop.run(["set", "KEY", "-t", "production"], input: .text("mine"))
            try desktop.play(
                "pull", script: [.passphrase, .answer("t", to: "skip? [S/m/t/d]")])
        }
        #expect(effort == Effort(commands: 1, prompts: 1, questions: 1, keys: 2))
    }

    @Test func `rotate a value`() throws {
        let effort = try effort { desktop in
            try desktop.play(
                "rotate", "KEY", "--generate", "hex:16", "--redeploy",
                script: [.passphrase, .answer("y", to: "[y/N]")])
            let live = try desktop.platform.current() ?? ""
            let built = desktop.platform.server.builtVariables(deployment: live)
            desktop.check(built?["KEY"]?.utf8.count == 32, "\(live)")
        }
        #expect(effort == Effort(commands: 1, prompts: 1, questions: 1, keys: 2))
    }

    @Test func `roll back`() throws {
        let effort = try effort { desktop in
            let before = try desktop.platform.current()
            try desktop.play("rollback", script: [.answer("y", to: "[y/N]")])
            desktop.check(try desktop.platform.current() != before, "nothing was rolled back")
        }
        #expect(effort == Effort(commands: 1, questions: 1, keys: 2))
    }

    @Test func `read the log of a failed build`() throws {
        let effort = try effort { desktop in
            guard let fails = BuildMode("fail") else { return }
            desktop.platform.server.setBuild(fails)
            desktop.platform.server.setBuildLog(["a line of the build"])
            try desktop.run(["redeploy", "--wait", "--yes"], status: 9)
            let screen = try desktop.play("logs")
            desktop.check(screen.contains("a line of the build"), screen)
        }
        #expect(effort == Effort(commands: 1))
    }

    @Test func `find out what to do`() throws {
        let effort = try effort { desktop in
            try desktop.run(["set", "KEY", "-t", "production"], input: .text("new"))
            let screen = try desktop.play("status")
            desktop.check(screen.contains("zg-env push"), screen)
        }
        #expect(effort == Effort(commands: 1))
    }
}
