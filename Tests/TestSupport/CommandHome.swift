import Foundation
import Sealing

/// A home directory for runs of `zg-env`: XDG directories, a passphrase file, and an environment
/// without anything of the user's.
package final class CommandHome: Sendable {
    /// The passphrase in ``passphrasePath``, where a newline follows it.
    package static let passphrase = "correct horse battery staple"

    /// The home directory, 0700, without a symbolic link in its path.
    package let directory: TemporaryDirectory
    /// The environment of every run, without a source of a passphrase.
    package let environment: [String: String]
    private let program: String

    /// Creates a home without a vault.
    ///
    /// - Parameter keyring: The programs' keyring; nil for a home without a session bus.
    package init(keyring: PrivateKeyring? = nil) throws {
        directory = try TemporaryDirectory(named: "zg-home")
        program = try ProgramRunner.pathOfProduct("zg-env")
        var environment = ["HOME": directory.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
        for (variable, name) in [
            ("XDG_DATA_HOME", "data"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"), ("XDG_RUNTIME_DIR", "runtime"),
        ] {
            environment[variable] = try directory.makeDirectory(name)
        }
        if let keyring { environment["DBUS_SESSION_BUS_ADDRESS"] = keyring.bus.address }
        self.environment = environment
        try directory.write(Self.passphrase + "\n", to: "passphrase")
        try directory.makeDirectory("work")
    }

    /// The passphrase file, 0600.
    package var passphrasePath: String { directory.path("passphrase") }
    /// The path of the vault.
    package var vaultPath: String { directory.path("data/zg-env/vault.zgv") }
    /// All bytes of the vault.
    package func vaultBytes() throws -> [UInt8] { try directory.read("data/zg-env/vault.zgv") }

    /// Describes a run of `zg-env` in the directory `work`, without a terminal.
    ///
    /// - Parameters:
    ///   - unlocked: Whether the environment names the passphrase file.
    ///   - extra: Additional variables; they take precedence.
    package func runner(
        _ arguments: [String], input: ProgramRunner.Input = .null, unlocked: Bool = true,
        environment extra: [String: String] = [:]
    ) -> ProgramRunner {
        var variables = environment
        if unlocked { variables["ZG_ENV_PASSPHRASE_FILE"] = passphrasePath }
        variables.merge(extra) { $1 }
        var runner = ProgramRunner(path: program, arguments, environment: variables)
        runner.input = input
        runner.workingDirectory = directory.path("work")
        return runner
    }

    /// Runs `zg-env` to its end; see ``runner(_:input:unlocked:environment:)``.
    package func run(
        _ arguments: [String], input: ProgramRunner.Input = .null, unlocked: Bool = true,
        environment extra: [String: String] = [:]
    ) throws -> ProgramResult {
        try runner(arguments, input: input, unlocked: unlocked, environment: extra).run()
    }

    /// Describes a run of `zg-env` with a terminal for prompts and the given streams.
    package func terminalRunner(
        _ arguments: [String], streams: Bool = false, columns: Int = 80,
        script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
    ) -> ProgramRunner {
        var runner = runner(arguments, unlocked: false, environment: ["TERM": "xterm"])
        runner.terminal = .init()
        runner.terminal?.columns = columns
        if streams {
            runner.input = .terminal
            runner.output = .terminal
            runner.error = .terminal
        }
        runner.script = script
        return runner
    }

    /// Describes a run of another program whose arguments include the path of `zg-env`.
    package func wrapped(_ path: String, _ arguments: (String) -> [String]) -> ProgramRunner {
        var runner = runner([])
        runner.path = path
        runner.arguments = arguments(program).map { Array($0.utf8) }
        return runner
    }

    /// Changes the header of the vault, and updates the checksum in its last 32 bytes.
    package func rewriteHeader(_ change: (inout [UInt8]) -> Void) throws {
        var bytes = try vaultBytes()
        let count = bytes[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
        var body = Array(bytes[..<(count - Digest.byteCount)])
        change(&body)
        let checksum = unsafe Digest.checksum(body.span.bytes)
        bytes.replaceSubrange(..<count, with: body + checksum)
        try directory.write(bytes, to: "data/zg-env/vault.zgv")
    }

    /// The files in the state directory that record the newest generation seen.
    package func anchors() throws -> [String] {
        let folder = directory.path("state/zg-env")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".anchor") }.map { "\(folder)/\($0)" }
    }

    /// Allows an older copy of the vault, as on a machine that has not seen the vault.
    package func forgetAnchors() throws {
        for path in try anchors() { try FileManager.default.removeItem(atPath: path) }
    }

    /// Creates the vault, with the lowest cost.
    package func initialise() throws {
        let result = try run(["init", "--lock", "--kdf", "8MiB,1"])
        guard result.status == 0 else { throw CommandHomeError(of: "init", result) }
    }

    /// Sets values in a project, each for all targets; throws if that fails.
    package func store(_ values: KeyValuePairs<String, String>, in project: String = "web") throws {
        for (key, value) in values {
            let result = try run(["set", key, "-p", project, "--raw"], input: .text(value))
            guard result.status == 0 else { throw CommandHomeError(of: "set \(key)", result) }
        }
    }

    /// The output of `reveal`, or an error with its messages.
    package func revealed(_ key: String, _ options: String..., project: String = "web") throws
        -> [UInt8]
    {
        let result = try run(["reveal", key, "-p", project] + options)
        guard result.status == 0 else { throw CommandHomeError(of: "reveal \(key)", result) }
        return result.standardOutput
    }
}

/// A failed setup step of a test.
package struct CommandHomeError: Error, CustomStringConvertible {
    /// The step, its exit and its messages.
    package let description: String

    init(of step: String, _ result: ProgramResult) {
        description = "\(step): \(result.end), \(result.error)"
    }
}
