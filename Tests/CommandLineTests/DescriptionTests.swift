import CommandLineKit
import Foundation
import TestSupport
import Testing

@testable import ZGEnvCommands

/// Help, completions and manual pages, generated from the descriptions of the commands.
@Suite("Command descriptions")
struct DescriptionTests {
    private let shown = CommandTable.commands.map { $0.spec }.filter { !$0.isHidden }

    @Test func `every command has help with its summary that fits a terminal`() {
        let help = HelpFormatter(CommandTable.program, width: 80)
        for command in shown {
            let text = help.text(on: .command(command))
            #expect(text.hasPrefix("Usage: zg-env \(command.name)"))
            #expect(text.contains(command.summary))
            let long = text.split(separator: "\n").filter { $0.count > 80 }
            #expect(long == [], "\(command.name)")
        }
    }

    @Test(arguments: CompletionGenerator.Shell.allCases)
    func `completions know the visible commands and no others`(shell: CompletionGenerator.Shell) {
        let script = CompletionGenerator(CommandTable.program).script(for: shell)
        for command in shown {
            for word in command.path { #expect(script.contains(word), "\(command.name)") }
        }
        for command in CommandTable.commands.map({ $0.spec })
        where command.isHidden && command != CommandSpec.completionCallback {
            #expect(!script.contains(command.name), "\(command.name)")
        }
        #expect(script.contains("copy") && script.contains("doctor") && script.contains("edit"))
    }

    @Test func `every command's manual page formats without a warning`() throws {
        let pages = ManPageGenerator(CommandTable.program, date: "January 1, 2026").pages()
        #expect(pages.count == shown.count + 1)
        for page in pages {
            var runner = ProgramRunner(
                path: "/usr/bin/groff", ["-mdoc", "-ww", "-Tutf8", "-z"],
                environment: ["PATH": "/usr/bin:/bin"])
            runner.input = .text(page.text)
            let result = try runner.run()
            #expect(result.status == 0 && result.error == "", "\(page.fileName): \(result.error)")
        }
        let main = try #require(pages.first { $0.fileName == "zg-env.1" }).text
        let files = main.suffix(from: try #require(main.range(of: ".Sh FILES\n")).upperBound)
        for path in [
            "vault.zgv", #".local/state/zg\-env"#, #".cache/zg\-env"#, "config.json",
        ] {
            #expect(files.contains(path), "\(path)")
        }
        let edit = try #require(pages.first { $0.fileName == "zg-env-edit.1" })
        #expect(edit.text.contains("VISUAL"))
    }
}
