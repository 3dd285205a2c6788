import Foundation
import TestSupport

/// Runs the command lines of a page, one after another in one shell on a terminal, as somebody would
/// who follows it: in a home of its own, with a keyring of its own, and with the programs that were
/// built for tests.
struct DocumentRun {
    /// What went wrong at which line of the page.
    struct Failure: CustomStringConvertible {
        var line: Int
        var text: String
        var description: String { "line \(line): \(text)" }
    }

    let script: DocumentScript
    let home: TemporaryDirectory
    let environment: [String: String]
    /// A page that takes longer hangs.
    var timeLimit = Duration.seconds(240)

    /// Prepares a home.
    init(_ script: DocumentScript, keyring: PrivateKeyring?) throws {
        self.script = script
        home = try TemporaryDirectory(named: "zg-docs")
        try home.makeDirectory("bin")
        try home.makeDirectory("run")
        for program in ["zg-env", "zg-env-sandbox"] {
            try FileManager.default.createSymbolicLink(
                atPath: home.path("bin/\(program)"),
                withDestinationPath: try ProgramRunner.pathOfProduct(program))
        }
        var environment = [
            "HOME": home.path, "PATH": "\(home.path("bin")):/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": home.path("run"), "NO_COLOR": "1", "TERM": "xterm",
            "PASSPHRASE": DocumentScript.passphrase, "PACKAGE": DocumentationTests.root,
            "GIT_CONFIG_NOSYSTEM": "1",
        ]
        if let keyring { environment["DBUS_SESSION_BUS_ADDRESS"] = keyring.bus.address }
        self.environment = environment
    }

    /// A runner without calls back to this thread.
    private struct Prepared: @unchecked Sendable {
        let runner: ProgramRunner
    }

    /// Parts the commands' outputs; nothing prints it by chance.
    private static let mark = "\u{1E}"

    /// The shell: takes commands from descriptor 9, each ended by a zero byte, and ends what was left
    /// in the background.
    private static let shell = """
        trap 'kill $(jobs -p) 2>/dev/null' EXIT
        umask 022
        while IFS= read -r -d '' command <&9; do
            eval "$command" 9<&-
            printf '\\036%d\\036' $?
        done
        """

    /// Runs everything. With `ZG_ENV_DOCUMENTS=show` it prints what each command shows,
    /// for writing a page.
    ///
    /// - Returns: What differs from the page.
    func failures() throws -> [Failure] {
        var runner = ProgramRunner(
            path: "/bin/bash", ["--noprofile", "--norc", "-c", Self.shell],
            environment: environment)
        runner.workingDirectory = home.path
        runner.terminal = .init()
        runner.terminal?.columns = 100
        (runner.input, runner.output, runner.error) = (.terminal, .terminal, .terminal)
        runner.descriptors[9] = script.steps.flatMap { Array($0.command.utf8) + [0] }
        runner.timeLimit = timeLimit
        for step in script.steps {
            var typed = step.typed[...]
            for line in step.expected ?? [] {
                let isHidden = DocumentScript.isHiddenPrompt(line)
                guard isHidden || DocumentScript.answer(line) != nil,
                    let text = typed.popFirst()
                else { continue }
                let prompt =
                    isHidden
                    ? line
                    : DocumentScript.choices(line).map { String(line[$0]) } ?? "[y/N] "
                let fixed = prompt.split(separator: "…").last.map(String.init) ?? prompt
                runner.script.append((.terminal(fixed), .line(text)))
            }
            runner.script.append((.terminal(Self.mark), .type([])))
            runner.script.append((.terminal(Self.mark), .type([])))
        }
        // Programs that are started one after another belong to one login, which has a keyring.
        let prepared = Prepared(runner: runner)
        return failures(
            in: try LoginThread.run(.sessionWithUserKeyring) { try prepared.runner.run() })
    }

    private func failures(in result: ProgramResult) -> [Failure] {
        let parts = result.terminal.split(
            separator: 0x1E, omittingEmptySubsequences: false)
        var failures: [Failure] = []
        for (offset, step) in script.steps.enumerated() {
            guard parts.count > offset * 2 + 1 else {
                let shown = ShownText.lines(parts.last ?? []).suffix(12).joined(separator: "\n")
                failures.append(
                    .init(line: step.line, text: "\(step.command)\ndid not end:\n\(shown)"))
                break
            }
            let shown = ShownText.lines(parts[offset * 2])
            if ProcessInfo.processInfo.environment["ZG_ENV_DOCUMENTS"] == "show" {
                print("$ \(step.command)", shown.joined(separator: "\n"), separator: "\n")
            }
            let status = Int32(String(decoding: parts[offset * 2 + 1], as: UTF8.self))
            var problem: String?
            if status != step.status {
                problem = "ended with \(status.map(String.init) ?? "?") and not \(step.status)"
            } else if let expected = step.expected {
                problem = ShownText.difference(expected, shown)
            }
            if let problem {
                let text =
                    "\(step.command)\n\(problem); it shows:\n" + shown.joined(separator: "\n")
                failures.append(.init(line: step.line, text: text))
            }
        }
        return failures
    }
}
