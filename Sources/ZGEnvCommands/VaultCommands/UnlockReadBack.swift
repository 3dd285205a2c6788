internal import CommandLineKit
internal import JSON
internal import SystemFiles
internal import Vault

/// The second process of `unlock`: does what `run` will do, and tells by its exit status whether the
/// vault is open to it.
struct UnlockReadBack: Command {
    static let spec = CommandSpec(
        ["__unlocked"], "Tell whether the vault is unlocked", section: "", hidden: true)

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        guard let keys = try workspace.session.unlockedKeys() else {
            throw CommandError(.locked, "The vault is locked.", hint: "Unlock with: zg-env unlock")
        }
        _ = try workspace.session.opened().index(with: keys, extent: .listing)
        return CommandResult(json: ["unlocked": true])
    }

    /// Starts this program again with nothing but the vault's path, and waits for its answer.
    static func succeeds(_ workspace: Workspace) -> Bool {
        let child = try? ChildProcess.start(
            "/proc/self/exe",
            ["zg-env", "--vault=\(workspace.options.vaultPath)"] + spec.path,
            environment: workspace.context.rawEnvironment, input: .null, output: .null,
            error: .null, searchesPath: false)
        return child?.wait() == ExitCode.done.rawValue
    }
}
