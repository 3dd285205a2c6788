import Foundation
import TestSupport
import Testing

extension CommandHome {
    /// Creates an editor for `VISUAL` that runs one of these shell texts at each start, and repeats
    /// the last. `$1` is the file; its content goes to `seen.1`, `seen.2` and so on.
    func editor(_ passes: String...) throws -> String {
        var script = """
            n=$(($(cat "$HOME/passes" 2>/dev/null || echo 0) + 1))
            echo $n >"$HOME/passes"
            cat "$1" >"$HOME/seen.$n"
            case $n in

            """
        for (number, pass) in passes.enumerated() {
            let label = number + 1 == passes.count ? "*" : "\(number + 1)"
            script += "\(label))\n\(pass)\n;;\n"
        }
        return "sh " + (try directory.write(script + "esac\n", to: "editor"))
    }

    /// The file's content at the editor's `number`th start.
    func seen(_ number: Int = 1) throws -> String {
        String(decoding: try directory.read("seen.\(number)"), as: UTF8.self)
    }

    /// The lines that the editor got, without comments and empty ones.
    func seenLines(_ number: Int = 1) throws -> [String] {
        try seen(number).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    /// Returns a runner for `edit` on a terminal.
    func editing(
        _ arguments: [String] = ["-p", "web"], with editor: String,
        script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
    ) -> ProgramRunner {
        var runner = terminalRunner(["edit"] + arguments, script: script)
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = passphrasePath
        runner.environment["VISUAL"] = editor
        return runner
    }

    /// How often the editor was started.
    var passes: Int {
        let text = (try? directory.read("passes")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return Int(text.filter(\.isNumber)) ?? 0
    }
}
