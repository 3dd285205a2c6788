import Foundation
import TestSupport
import Testing

extension CommandHome {
    /// A home whose project "web" holds A in two versions and B, with a second passphrase in a
    /// file.
    static func filled(_ keyring: PrivateKeyring? = nil) throws -> CommandHome {
        let home = try CommandHome.initialised(keyring)
        try home.store(["A": "first", "B": "bee", "A": "second"])
        try home.directory.write("another passphrase\n", to: "other")
        return home
    }

    /// The path of the file with the second passphrase.
    var other: String { directory.path("other") }

    /// The slots as `slot list` shows them.
    func slots() throws -> [JSONDocument] {
        try json(run(["slot", "list", "--json"], unlocked: false))["slots"]?.elements ?? []
    }

    /// The ids of the slots of one kind.
    func slotIDs(_ kind: JSONDocument) throws -> [String] {
        try slots().filter { $0["kind"] == kind }.compactMap { $0["id"]?.text }
    }

    /// Adds a passphrase slot that opens with ``other``.
    func addOther() throws {
        done(
            try run(
                ["slot", "add", "passphrase", "--new-passphrase-file", other, "--kdf", "8MiB,1"]))
    }

    /// Adds a recovery slot, stores its code in the file `code` and returns that file's path.
    func addRecovery() throws -> String {
        let code = done(try run(["slot", "add", "recovery"])).output
        return try directory.write(code, to: "code")
    }

    /// Runs `reveal` with the passphrase of a file.
    func reveal(_ key: String, with path: String) throws -> ProgramResult {
        try run(["reveal", key, "-p", "web", "--passphrase-file", path], unlocked: false)
    }

    /// Expects that the vault is intact and holds what ``filled(_:)`` stored.
    func throwFirstProblem(
        with path: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let verified = try json(
            run(["verify", "--json", "--passphrase-file", path ?? passphrasePath]),
            sourceLocation: sourceLocation)
        #expect(verified["ok"] == true, sourceLocation: sourceLocation)
        #expect(verified["checked"]?["valuesOpened"] == true, sourceLocation: sourceLocation)
        let revealed = done(
            try reveal("A", with: path ?? passphrasePath), sourceLocation: sourceLocation)
        #expect(revealed.output == "second", sourceLocation: sourceLocation)
    }

    /// Restores the vault's bytes, and removes the files beside it and this machine's record of
    /// newer ones.
    func reset(to bytes: [UInt8]) throws {
        let folder = "data/zg-env"
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path(folder)) {
            try FileManager.default.removeItem(atPath: directory.path("\(folder)/\(name)"))
        }
        try directory.write(bytes, to: "\(folder)/vault.zgv")
        try forgetAnchors()
    }
}
