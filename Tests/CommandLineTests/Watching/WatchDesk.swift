import Foundation
import Sandbox
import TestSupport
import Testing

/// A home, a sandbox, and a shell in a terminal.
final class WatchDesk {
    let platform: SandboxHome
    let terminal: TmuxTerminal
    private let program: String

    init(
        seed: String = WatchTerminalTests.seed, columns: Int = 80, rows: Int = 24,
        unlocked: Bool = true, isLoggedIn: Bool = true, buildSeconds: Double = 0.3,
        keyring: PrivateKeyring? = nil,
        environment extra: [String: String] = [:]
    ) throws {
        platform = try SandboxHome(
            seed: seed, buildSeconds: buildSeconds, keyring: keyring, isLoggedIn: isLoggedIn)
        let runner = platform.runner([], unlocked: unlocked, environment: extra)
        program = runner.path
        terminal = try TmuxTerminal(
            environment: runner.environment, columns: columns, rows: rows,
            workingDirectory: runner.workingDirectory)
    }

    /// Starts `watch`; its exit code is in the prompt after it.
    func start(_ arguments: String = "") throws { try run("\(program) watch \(arguments)") }

    /// Starts the program without arguments; its exit code is in the prompt after it.
    func startAlone() throws { try run(program) }

    /// A shell runs nothing after a program that SIGINT ended, but it prompts.
    private func run(_ command: String) throws {
        try terminal.run("clear; PS1='ended with $? # '; \(command)")
    }

    /// Fills the response cache.
    func warm() throws {
        var runner = platform.runner(["watch", "--json"])
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in }), (.now, .signal(SIGTERM)),
        ]
        #expect(try runner.run().end == .exited(143))
    }

    /// The screen's lines that begin with the selection mark.
    var selected: String {
        terminal.screen.split(separator: "\n").first { $0.hasPrefix("> ") }
            .map { String($0) } ?? ""
    }

    var posts: [String] {
        platform.server.requests.filter { $0.method == "POST" }.map(\.path)
    }
}
