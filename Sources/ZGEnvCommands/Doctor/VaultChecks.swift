internal import CommandLineKit
internal import Vault

/// Checks the vault as far as possible without a passphrase, and the settings.
struct VaultChecks {
    /// The vault; nil if it cannot be opened.
    let vault: Vault?
    private let problem: CommandError?
    private let settingsProblem: CommandError?
    private let path: String

    init(_ workspace: Workspace) {
        path = workspace.options.vaultPath
        do {
            vault = try workspace.session.opened()
            problem = nil
        } catch {
            vault = nil
            problem = CommandError(mapping: error)
        }
        do {
            _ = try Settings(workspace.context)
            settingsProblem = nil
        } catch {
            settingsProblem = CommandError(mapping: error)
        }
    }

    func findings() -> [Finding] {
        [Self.vault(path, vault?.header.slots.count, problem), Self.settings(settingsProblem)]
    }

    static func vault(_ path: String, _ slots: Int?, _ problem: CommandError?) -> Finding {
        guard let problem else {
            return Finding(
                "vault", .ok,
                "\(path) can be read and has \(DisplayText.count(slots ?? 0, "slot")).")
        }
        return Finding(
            "vault", problem.code == .notFound ? .skipped : .failed, problem.message,
            remedy: problem.hint)
    }

    static func settings(_ problem: CommandError?) -> Finding {
        guard let problem else { return Finding("settings", .ok, "The settings can be read.") }
        return Finding("settings", .failed, problem.message, remedy: problem.hint)
    }
}
