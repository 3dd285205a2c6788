import CommandLineKit
import CurlTransport
import Foundation
import HTTPClient
import TestSupport
import Testing
import Vault

@testable import ZGEnvCommands

/// Two writing commands of one process, on threads under one lock, whose changes become one write.
@Suite("Two writing commands in one process")
struct MergedWriteTests {
    /// What two threads share, one at a time.
    private final class Outcomes {
        var codes: [Int32] = [-1, -1]
    }

    private struct Offline: Error {}

    private static func context(_ home: CommandHome) -> Context {
        var environment = home.environment
        environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        return Context(
            program: CommandTable.program, arguments: [],
            hardening: ProcessHardening(mask: 0o077, coreLimit: rlimit()),
            environment: environment, rawEnvironment: [],
            workingDirectory: home.directory.path("work"), files: PosixFileStore(),
            keyring: { nil }, now: ProcessParts.milliseconds, user: { UserAccount.current },
            transport: { throw Offline() },
            waitingRoom: SystemSleeper(shouldCancel: { false }),
            output: OutputStream(descriptor: -1), messages: OutputStream(descriptor: -1))
    }

    /// The command without stdin, a terminal and the working directory of this process.
    private static func parsed(
        _ act: WritePairTests.Act, _ home: CommandHome
    ) throws -> ParsedCommand {
        var words = act.words.map { $0 == ".env" ? home.directory.path("work/.env") : $0 }
        if let input = act.input {
            let name = "work/\(UUID().uuidString)"
            try home.directory.write(input, to: name)
            words += ["--from-file", home.directory.path(name)]
        }
        if act.question != nil { words.append("--yes") }
        guard
            case .command(let parsed) = try ArgumentParser(CommandTable.program).parse(
                bytes: words.map { Array($0.utf8) })
        else { throw CommandError(.failed, "\(words) is no command") }
        return parsed
    }

    private static func code(_ parsed: ParsedCommand, _ workspace: Workspace) -> Int32 {
        do {
            guard let command = CommandTable.command(of: parsed.spec) else { return -1 }
            let options = try GlobalOptions(
                parsed, workspace.context, need: command.vaultUse.need)
            let beside = workspace.beside(
                parsed.spec.name, options, workspace.context, ScriptInteraction())
            return try command.init(parsed).run(in: beside).failure?.code.rawValue ?? 0
        } catch {
            return CommandError(mapping: error).code.rawValue
        }
    }

    /// Runs both commands in this process, and returns their exit codes.
    private static func run(
        _ acts: [WritePairTests.Act], _ home: CommandHome
    ) throws -> [Int32] {
        let commands = try acts.map { try parsed($0, home) }
        let context = context(home)
        let workspace = Workspace(
            try GlobalOptions(commands[0], context, need: VaultUse().need), context,
            command: commands[0].spec.name, VaultUse(), stages: WriteStages.all)
        // Opened before the threads, so that both wait for each other at the write.
        _ = try workspace.session.keysForWriting()
        let outcomes = Outcomes()
        workspace.session.turns.run(2, limit: 2) { place in
            outcomes.codes[place] = code(commands[place], workspace)
            return true
        }
        return outcomes.codes
    }

    @Test("lose nothing, and tell the group once")
    func merged() throws {
        let home = try WritePairTests.prepared()
        var random = ProofRandom(60)
        // No threads of a command copy values, which a write cannot read from itself.
        let acts = WritePairTests.acts.filter { $0.words[0] != "copy" }
        let pairs = acts.indices.flatMap { first in
            acts.indices.filter { $0 > first }.map { (first, $0) }
        }
        var bothDone = 0
        for (first, second) in Proof.sample(pairs, short: 15, using: &random) {
            let pair = [acts[first], acts[second]]
            let copy = try WritePairTests.copy(of: home)
            let codes = try Self.run(pair, copy)
            let state = try WritePairTests.state(of: copy)
            let names = "\(pair.map(\.name)) \(codes) \(random.seedText)"
            for code in codes { #expect([0, 2, 4, 5].contains(code), "\(names)") }
            // One that was refused has no effect.
            let effective = zip(pair, codes).filter { $0.1 == 0 }.map(\.0)
            let allowed = try [
                WritePairTests.inOrder(effective, home),
                WritePairTests.inOrder(effective.reversed(), home),
            ]
            // One write tells the group the end of several changes to one variable.
            let matches = allowed.filter {
                $0.values == state.values && $0.namesTold == state.namesTold
                    && $0.told.count >= state.told.count
            }
            #expect(!matches.isEmpty, "\(names)\n\(state)\n\(allowed)")
            if codes == [0, 0] { bothDone += 1 }
        }
        #expect(bothDone > 0)
    }
}
