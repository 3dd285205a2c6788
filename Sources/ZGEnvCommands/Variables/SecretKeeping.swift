internal import Vault

/// Lets versions that were Secrets stay Secrets after their record got a weaker type.
struct SecretKeeping: WriteStage {
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        try transaction.keepSensitiveVersions(at: writer.context.now())
    }
}
