internal import CommandLineKit
internal import JSON
internal import SystemFiles
internal import Vault

/// The second process of `unlock`: does what `run` will do, and tells by its exit status whether the
/// vault is open to it.
enum UnlockReadBack: Command {
    static let spec = CommandSpec(
        ["__unlocked"], "Tell whether the vault is unlocked", section: "", hidden: true)

    static func run(_ invocation: Invocation) throws -> CommandResult {
        guard let keys = try invocation.session.unlockedKeys() else {
            throw CommandError(.locked, "The vault is locked.", hint: "Unlock with: zg-env unlock")
        }
        _ = try invocation.session.opened().index(with: keys, extent: .listing)
        return CommandResult(json: ["unlocked": true])
    }

    /// Starts this program again with nothing but the vault's path, and waits for its answer.
    static func succeeds(_ invocation: Invocation) -> Bool {
        let child = try? ChildProcess.start(
            "/proc/self/exe",
            ["zg-env", "--vault=\(invocation.options.vaultPath)"] + spec.path,
            environment: invocation.context.rawEnvironment, input: .null, output: .null,
            error: .null, searchesPath: false)
        return child?.wait() == ExitCode.done.rawValue
    }
}
