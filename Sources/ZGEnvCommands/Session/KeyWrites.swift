internal import Vault

/// The writes that change who can open the vault, or what it accepts of its own files, and no
/// variable: `passwd`, `slot …`, `log --accept`, `verify --accept-older`. The other commands of this
/// kind replace the file as a whole: `init`, `rekey` and `restore`.
extension VaultSession {
    /// Writes the vault without stages.
    ///
    /// - Parameter newPlace: A place that stores a guard from this write on.
    @discardableResult
    func changeKeys<Result>(
        newPlace: RollbackGuards.Place? = nil,
        _ body: (inout VaultTransaction) throws -> Result
    ) throws -> Result {
        try replaceVault(with: try keys(.values), newPlace: newPlace) { transaction in
            recordAudit(in: &transaction)
            return try body(&transaction)
        }
    }
}
