import Sandbox
import TestSupport
import Testing

/// A person who types the commands that zg-env prints, and nothing else.
struct AdviceFollower {
    /// The result.
    struct Arrival {
        /// The commands that were typed, without the failed one.
        var typed: [[String]] = []
        /// All output of the commands.
        var said = ""
    }

    let platform: SandboxHome
    /// The project of the failed command.
    var project = "web"
    /// The input where a command asks for a value.
    var given = "given by hand"
    /// Whether all commands in a message are typed, even after one that leaves nothing to do.
    var isThorough = false

    /// Runs a command that fails, follows what it prints, and expects that within three commands a
    /// push is done with nothing left.
    @discardableResult
    func arrives(
        after failing: [String], status: Int32, input: ProgramRunner.Input = .null,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Arrival {
        let failed = try platform.runner(failing, input: input).run()
        #expect(failed.status == status, "\(all(failed))", sourceLocation: sourceLocation)
        return try follows(all(failed), sourceLocation: sourceLocation)
    }

    /// The same for a text that contains commands.
    @discardableResult
    func follows(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Arrival {
        var arrival = Arrival(said: text)
        var queue = PrintedCommands.all(in: text)
        #expect(!queue.isEmpty, "\(text)", sourceLocation: sourceLocation)
        while arrival.typed.count < 3 {
            if queue.isEmpty {
                let push = try platform.run("push", "-p", project, "--yes")
                arrival.said += all(push)
                queue = PrintedCommands.all(in: all(push))
                if queue.isEmpty { break }
            }
            let command = queue.removeFirst()
            arrival.typed.append(command)
            let result = try typed(command)
            arrival.said += all(result)
            let printed = PrintedCommands.all(in: all(result))
            if result.status != 0, !printed.isEmpty { queue = printed }
            if isThorough, !queue.isEmpty { continue }
            if try isThere() { return arrival }
        }
        Issue.record(
            "typed \(arrival.typed) and did not arrive: \(arrival.said)",
            sourceLocation: sourceLocation)
        return arrival
    }

    /// Types a command, with a value if it takes one, and answers its question as printed.
    private func typed(_ command: [String]) throws -> ProgramResult {
        let input = command.first == "set" ? ProgramRunner.Input.text(given) : .null
        let result = try platform.runner(command, input: input).run()
        guard result.status == 2, result.error.contains("--yes") else { return result }
        return try platform.runner(command + ["--yes"], input: input).run()
    }

    /// Returns whether a push succeeds with nothing left to do.
    private func isThere() throws -> Bool {
        let push = ["push", "-p", project, "--json"]
        guard try platform.runner(push + ["--dry-run"]).run().status == 0,
            try platform.runner(push + ["--yes"]).run().status == 0
        else { return false }
        let report = try json(platform.runner(push + ["--yes"]).run())
        return ["created", "updated", "deleted", "conflicts", "failed"].allSatisfy {
            report[$0] == []
        }
    }

    private func all(_ result: ProgramResult) -> String { "\(result.output)\n\(result.error)\n" }

    /// Expects that values are on Vercel, or in current or earlier versions of the vault.
    func expectHeld(
        _ values: [String], of keys: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var held = Set(
            (platform.server.storedVariables(project: project) ?? []).map(\.value))
        for key in keys {
            for target in [nil, "production", "preview", "development"] {
                let place = target.map { ["-t", $0] } ?? []
                for version in 1...5 {
                    let result = try platform.runner(
                        ["reveal", key, "-p", project, "--version", "\(version)"] + place
                    ).run()
                    if result.status == 0 { held.insert(result.output) }
                }
            }
        }
        for value in values {
            #expect(held.contains(value), "\(value) is lost", sourceLocation: sourceLocation)
        }
    }
}
