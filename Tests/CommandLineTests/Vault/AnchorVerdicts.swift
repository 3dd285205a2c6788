import TestSupport

extension CommandHome {
    /// Replaces the vault's bytes, as somebody with access to the file could.
    func replaceVault(by bytes: [UInt8]) throws {
        try directory.write(bytes, to: "data/zg-env/vault.zgv")
    }

    /// What `verify --json` reports about the guards, whatever its exit code.
    func verdicts(
        unlocked: Bool = true, environment: [String: String] = [:]
    ) throws -> (keyring: String?, stateDirectory: String?) {
        let result = try run(["verify", "--json"], unlocked: unlocked, environment: environment)
        let anchor = try JSONDocument(result.standardOutput)["checked"]?["anchor"]
        return (anchor?["keyring"]?.text, anchor?["stateDirectory"]?.text)
    }
}
