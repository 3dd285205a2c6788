import Foundation
internal import JSON
import Sandbox
import TestSupport

/// Vercel with one project, two clones of a vault, a machine with its own vault, and a dashboard.
final class ModelWorld {
    /// Vercel's state at the beginning of a sequence.
    static let seed = #"{"projects": [{"name": "web", "deployments": [{"target": "production"}]}]}"#

    let platform: SandboxHome
    let machines: [ModelMachine]
    private let traffic = ModelTraffic()

    init() throws {
        let platform = try SandboxHome(
            seed: Self.seed, buildSeconds: 0.05, hasVault: false, isLoggedIn: false)
        self.platform = platform
        machines = try ModelScript.names.map {
            try ModelMachine($0, home: platform.home, url: platform.url)
        }
        for machine in [machines[0], machines[2]] {
            try machine.clear()
            for (words, input) in [
                (["init", "--kdf", "8MiB,1"], nil), (["login"], platform.token + "\n"),
                (["pull", "-p", "web", "--yes"], nil),
            ] as [([String], String?)] {
                let result = try machine.runner(words, input: input).run()
                guard result.status == 0 else {
                    throw ModelError(description: "\(words): \(result.end) \(result.error)")
                }
            }
            try machine.keepTemplate()
        }
        machines[1].becomeClone(of: machines[0])
        platform.server.show(to: traffic.onlooker)
    }

    /// Starts a sequence.
    func begin() throws {
        platform.server.reset()
        for machine in machines { try machine.reset() }
    }

    /// Vercel's current state.
    var stored: [StoredVariable] { platform.stored }

    /// Performs a dashboard action. Returns false if Vercel refuses it.
    func perform(_ act: String) throws -> Bool {
        guard let act = Act(act) else { throw ModelError(description: "no act: \(act)") }
        // Two changes in one millisecond would have the same timestamp.
        platform.server.advanceClock(bySeconds: 0.002)
        return (try? platform.server.perform(act)) != nil
    }

    /// Whether production variables are hidden from the machines.
    var hidesProduction: Bool { platform.server.hidesProduction }

    /// Sets whether production Secrets must be separate.
    func set(separates: Bool) throws {
        try platform.server.set(
            .members([
                "projects": .members([
                    "web": .members([
                        "disjunctiveProductionSecretPolicy": .string(separates ? "on" : "off")
                    ])
                ])
            ]))
    }

    /// Lets time pass on Vercel.
    func advance(_ seconds: Double) { platform.server.advanceClock(bySeconds: seconds) }

    /// Returns whether a rotation has left its marker, and removes that.
    private func takeMark() -> Bool {
        let mark = platform.home.directory.path("work/revoked")
        defer { try? FileManager.default.removeItem(atPath: mark) }
        return FileManager.default.fileExists(atPath: mark)
    }

    /// Runs a command to its end.
    ///
    /// - Parameter before: The content of the machine's vault.
    func run(_ command: ModelCommand, before: ModelMachine.Contents) throws -> ModelRun {
        let machine = machines[command.machine]
        var runner = machine.runner(command.words, input: command.input)
        runner.timeLimit = .seconds(150)
        let traffic = traffic
        traffic.begin(command.kill)
        runner.script = [(.now, .call { process, _ in traffic.started(process) })]
        if let interlude = command.interlude, let act = Act(interlude) {
            runner.terminal = .init()
            (runner.input, runner.output, runner.error) = (.terminal, .terminal, .terminal)
            let server = platform.server
            runner.script += [
                (
                    .terminal("[y/N] "),
                    .call { _, _ in
                        try? server.perform(act)
                        traffic.interlude()
                    }
                ),
                (.now, .line("y")),
                // Asked after the plan if Vercel would show a value that it hides.
                (.terminal("Send them? [y/N] "), .line("y")),
            ]
        }
        platform.server.setFaults(
            try command.faults.map { text in
                guard let fault = Fault(text) else {
                    throw ModelError(description: "no fault: \(text)")
                }
                return fault
            })
        if let build = BuildMode(command.build) { platform.server.setBuild(build) }
        let storedBefore = stored
        let result = try runner.run()
        let seen = traffic.finish()
        platform.server.setFaults([])
        platform.server.setBuild(.ok)
        return ModelRun(
            command: command, result: result, isKilled: seen.isKilled && result.status == nil,
            moments: seen.moments, lost: seen.lost, storedBefore: storedBefore,
            storedAfter: stored, before: before, after: try machine.contents(),
            interludeAt: seen.interludeAt,
            built: command.name == "rotate"
                ? try platform.current().flatMap { platform.server.builtVariables(deployment: $0) }
                : nil, hasRevoked: takeMark())
    }
}
