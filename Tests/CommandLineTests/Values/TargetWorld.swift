import Foundation
import JSON
import Sandbox
import TestSupport

/// Vercel with one project and a custom environment, and one machine with a vault.
final class TargetWorld {
    /// Vercel's state at the beginning of a sequence.
    static let seed = """
        {"projects": [{"name": "web", "customEnvironments": [{"slug": "qa", "type": "preview"}],
                       "deployments": [{"target": "production"}]}]}
        """
    /// A variable that makes the custom environment known to the vault. No command names it.
    static let customKey = "ONLY_CUSTOM"

    /// A command as it ran.
    struct Run {
        let result: ProgramResult
        /// The shell line for a person to replay.
        let line: String
    }

    private let platform: SandboxHome
    private let machine: ModelMachine

    init() throws {
        platform = try SandboxHome(
            seed: Self.seed, buildSeconds: 0.05, hasVault: false, isLoggedIn: false)
        machine = try ModelMachine("a", home: platform.home, url: platform.url)
        try machine.clear()
        for (words, input) in [
            (["init", "--lock", "--kdf", "8MiB,1"], nil), (["login"], platform.token + "\n"),
            (["pull", "-p", "web", "--yes"], nil),
            (["set", Self.customKey, "-p", "web", "-t", "qa"], "custom"),
        ] as [([String], String?)] {
            let result = try machine.runner(words, input: input).run()
            guard result.status == 0 else {
                throw ModelError(description: "\(words): \(result.end) \(result.error)")
            }
        }
        try machine.keepTemplate()
    }

    /// Starts a sequence.
    func begin() throws {
        platform.server.reset()
        try platform.server.set(.members(["secretsInDevelopment": true]))
        try machine.reset()
    }

    /// The vault's current state.
    func vault() throws -> TargetObservation { try TargetObservation(of: machine) }

    /// Vercel's current state.
    var listing: TargetHistory.Cells { TargetObservation.cells(of: platform.stored) }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - number: The version that a `restore-version` names.
    ///   - value: Finds the text of a value of a variable.
    func run(
        _ command: TargetCommand, number: UInt64,
        value: (String, TargetCommand.Value) -> String
    ) throws -> Run {
        // Two changes in one millisecond would have the same timestamp.
        platform.server.advanceClock(bySeconds: 0.002)
        var words = [command.name] + Self.words(of: command, number: number)
        words += ["-p", "web"]
        var (before, input): (String, String?) = ("", nil)
        switch command.action {
        case .set(let given):
            let text = value(command.key, given)
            input = text
            before = "printf %s \(ModelScript.quoted(text)) | "
        case .load(let file):
            let text = file.text(value)
            try platform.home.directory.write(text, to: "work/\(file.name)")
            before = "printf %s \(ModelScript.quoted(text)) >\(file.name); "
        case .edit(let given), .editTarget(let given):
            let text = value(command.key, given)
            try writeEditor(command.key, text)
            before = "VISUAL='…' "
        default: break
        }
        var runner = machine.runner(words, input: input)
        if command.name == "edit" {
            runner.environment["VISUAL"] = "sh " + platform.home.directory.path("editor")
            runner.environment["TERM"] = "xterm"
            runner.terminal = .init()
            runner.script = [(.terminal("Discard your edits?"), .line("y"))]
        }
        let result = try runner.run()
        var line = before + "zg-env " + words.map(ModelScript.quoted).joined(separator: " ")
        if case .edit(let given) = command.action {
            line += "  # \(command.key)=\(value(command.key, given))"
        } else if case .editTarget(let given) = command.action {
            line += "  # \(command.key)=\(value(command.key, given))"
        }
        line +=
            "  # \(result.timedOut ? "too long" : result.status.map { "\($0)" } ?? "\(result.end)")"
        return Run(result: result, line: line)
    }

    /// Writes an editor that gives a variable a value, in its line or in a new one.
    private func writeEditor(_ key: String, _ value: String) throws {
        let script = """
            grep -v '^\(key)=' "$1" >"$HOME/edited"
            echo '\(key)=\(value)' >>"$HOME/edited"
            cat "$HOME/edited" >"$1"

            """
        try platform.home.directory.write(script, to: "editor")
    }

    private static func words(of command: TargetCommand, number: UInt64) -> [String] {
        var words: [String]
        switch command.action {
        case .set, .edit: words = [command.key]
        case .load(let file): words = [file.name]
        case .copy(let target): words = [command.key, "--to-target", target]
        case .editTarget: words = []
        case .remove(let all): words = [command.key, "--yes"] + (all ? ["--all"] : [])
        case .rename(let new): words = [command.key, new]
        case .restore: words = [command.key, "\(number)"]
        case .push, .harden: words = (command.key.isEmpty ? [] : [command.key]) + ["--yes"]
        }
        if let targets = command.targets { words += ["-t", targets.joined(separator: ",")] }
        if let type = command.type { words += ["--type", type.name] }
        if let comment = command.comment { words += ["--comment", comment] }
        if command.pushes {
            words += words.contains("--yes") ? ["--push"] : ["--push", "--yes"]
        }
        if command.allowsWeaker { words.append("--allow-weaker") }
        if command.allowsEmpty { words.append("--allow-empty") }
        return words
    }

    // MARK: What commands show

    /// Returns how `list` and `export` differ from what the vault has; empty if they do not.
    func shown(_ vault: TargetHistory.Cells) throws -> [String] {
        var problems: [String] = []
        let list = try JSONDocument(
            machine.runner(["list", "-p", "web", "--json"]).run().standardOutput)
        var types: [String: [String: String]] = [:]
        for row in list["variables"]?.elements ?? [] where row["removed"] != true {
            let targets = (row["targets"]?.texts ?? []) + (row["customEnvironments"]?.texts ?? [])
            for target in targets {
                types[row["key"]?.text ?? "", default: [:]][target] = row["type"]?.text
            }
        }
        if types != vault.mapValues({ $0.mapValues(\.type.name) }) {
            problems.append("list shows \(types)")
        }
        for target in TargetNames.all {
            let result = try machine.runner(
                ["export", "-p", "web", "-t", target, "--format", "json"]
            ).run()
            let values = vault.compactMapValues { $0[target].map { JSONDocument.string($0.value) } }
            if values.isEmpty { continue }
            let text = String(decoding: result.standardOutput, as: UTF8.self)
            if try JSONDocument(result.standardOutput) != .object(values) {
                problems.append("export shows \(text) for \(target), expected \(values)")
            }
        }
        return problems
    }
}
