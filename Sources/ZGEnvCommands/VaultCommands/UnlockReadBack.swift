internal import CommandLineKit
internal import JSON
internal import SystemFiles
internal import Vault

/// The second process of `unlock`: opens the vault as `run` would; its exit status is the result.
struct UnlockReadBack: Command {
    static let spec = CommandSpec(
        ["__unlocked"], "Check whether the vault is unlocked", hidden: true)

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        guard let keys = try workspace.session.unlockedKeys() else {
            throw CommandError(
                .locked, "The vault is locked.", hint: "Unlock it with: zg-env unlock")
        }
        _ = try workspace.session.opened().index(with: keys, extent: .listing)
        return CommandResult(json: ["unlocked": true])
    }

    /// Runs this program again with only the vault's path, and waits for it.
    static func succeeds(_ workspace: Workspace) -> Bool {
        let child = try? ChildProcess.start(
            "/proc/self/exe",
            ["zg-env", "--vault=\(workspace.options.vaultPath)"] + spec.path,
            environment: workspace.context.rawEnvironment, input: .null, output: .null,
            error: .null, searchesPath: false)
        return child?.wait() == ExitCode.done.rawValue
    }
}
