internal import Vault

/// Checks the rollback guard in the state directory. The one in the keyring is checked when the vault
/// is opened.
enum RollbackChecks {
    static func findings(_ workspace: Workspace, vault: Vault?) -> [Finding] {
        guard let vault else { return [] }
        let anchors = workspace.session.rollback.anchors
        let vaultID = vault.header.vaultID
        return [
            finding(
                anchors.find(.stateDirectory, of: vaultID), anchors.file(of: vaultID),
                generation: vault.header.generation)
        ]
    }

    /// - Parameters:
    ///   - file: The path of the guard; nil without a state directory.
    ///   - generation: The generation of the vault.
    static func finding(
        _ found: RollbackGuards.Finding, _ file: String?, generation: UInt64
    ) -> Finding {
        let (check, path) = ("anchor", file ?? "The state directory")
        switch found {
        case .anchor(let seen) where seen.position.generation > generation:
            return Finding(
                check, .failed,
                "The vault is at generation \(generation), but this machine has seen generation \(seen.position.generation).",
                remedy: RollbackVerdict.remedy)
        case .anchor:
            return Finding(
                check, .ok, "The vault is not older than the last one that this machine has seen.")
        case .otherVault:
            return Finding(
                check, .failed, "Another vault was last seen at this path on this machine.",
                remedy: "If you put this one there, accept it with: zg-env verify --accept-older")
        case .absent:
            return Finding(
                check, .skipped,
                "This machine has no rollback guard for the vault yet. The next change to the vault creates it."
            )
        case .unreadable:
            return Finding(
                check, .warning,
                "The rollback guard \(path) cannot be read: an older copy of the vault may not be "
                    + "detected.",
                remedy:
                    "Check that the vault is the one you expect, then delete that file: the next change to the vault recreates it."
            )
        case .unavailable:
            return Finding(
                check, .warning,
                "\(path) cannot be accessed: an older copy of the vault may not be detected.",
                remedy: "Set HOME or XDG_STATE_HOME to a directory that you own.")
        }
    }
}
