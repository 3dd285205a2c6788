internal import Vault

/// What the state directory says of the newest generation of the vault. That of the keyring is asked
/// when the vault opens.
enum AnchorChecks {
    static func findings(_ workspace: Workspace, vault: Vault?) -> [Finding] {
        guard let vault else { return [] }
        let anchors = workspace.session.anchors
        let vaultID = vault.header.vaultID
        return [
            finding(
                anchors.find(.stateDirectory, of: vaultID), anchors.file(of: vaultID),
                generation: vault.header.generation)
        ]
    }

    /// Judges what was found.
    ///
    /// - Parameters:
    ///   - file: Where it was looked for; nil where there is no such place.
    ///   - generation: That of the vault.
    static func finding(
        _ found: AnchorKeeper.Finding, _ file: String?, generation: UInt64
    ) -> Finding {
        let (check, path) = ("anchor", file ?? "The state directory")
        switch found {
        case .anchor(let seen) where seen.position.generation > generation:
            return Finding(
                check, .failed,
                "The vault is generation \(generation), and generation \(seen.position.generation) was seen "
                    + "on this machine.",
                remedy: AnchorVerdict.remedy)
        case .anchor:
            return Finding(check, .ok, "No newer generation of the vault was seen on this machine.")
        case .absent:
            return Finding(
                check, .skipped,
                "This machine has not seen the vault yet; the next change of it is noted.")
        case .unreadable:
            return Finding(
                check, .warning,
                "\(path) is to say which generation of the vault is the newest, and cannot be read: "
                    + "an older copy may not be noticed.",
                remedy:
                    "Look whether the vault is the one you expect, then remove that file: the next "
                    + "change of the vault writes it anew.")
        case .unavailable:
            return Finding(
                check, .warning, "\(path) cannot be looked at: an older copy may not be noticed.",
                remedy: "Set HOME or XDG_STATE_HOME to a directory of your own.")
        }
    }
}
