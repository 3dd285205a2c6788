import TestSupport

extension CommandHome {
    /// Puts other bytes in the place of the vault, as somebody with the file would.
    func replaceVault(by bytes: [UInt8]) throws {
        try directory.write(bytes, to: "data/zg-env/vault.zgv")
    }

    /// What `verify --json` says of the anchors, whatever its exit.
    func verdicts(
        unlocked: Bool = true, environment: [String: String] = [:]
    ) throws -> (keyring: String?, stateDirectory: String?) {
        let result = try run(["verify", "--json"], unlocked: unlocked, environment: environment)
        let anchor = try JSONDocument(result.standardOutput)["checked"]?["anchor"]
        return (anchor?["keyring"]?.text, anchor?["stateDirectory"]?.text)
    }
}
