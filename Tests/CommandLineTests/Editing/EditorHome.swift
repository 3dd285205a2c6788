import Foundation
import TestSupport
import Testing

extension CommandHome {
    /// Makes an editor for `VISUAL` that does one of these shell texts each time it is started, the
    /// last one again and again. `$1` is the file; what it held goes to `seen.1`, `seen.2` and so on.
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

    /// What the editor was given the last time it was started for the `number`th time.
    func seen(_ number: Int = 1) throws -> String {
        String(decoding: try directory.read("seen.\(number)"), as: UTF8.self)
    }

    /// The lines that the editor was given, without comments and empty ones.
    func seenLines(_ number: Int = 1) throws -> [String] {
        try seen(number).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    /// Describes a run of `edit` on a terminal.
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
