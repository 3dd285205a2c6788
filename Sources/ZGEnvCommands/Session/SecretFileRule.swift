internal import SystemFiles

/// Whose a file with a key or a passphrase must be, and who else may open it: nobody.
struct SecretFileRule: Equatable {
    /// Permissions that nobody may have.
    let forbidden: UInt32
    /// Whether root may own it.
    let mayBeRoots: Bool

    /// A file that the user made.
    static let own = SecretFileRule(forbidden: 0o077, mayBeRoots: false)
    /// A file that systemd made for one service: root's, with an access control list for the service's
    /// user, whose mask stands in the bits of the group.
    static let credential = SecretFileRule(forbidden: 0o007, mayBeRoots: true)

    /// The rule for a passphrase file at `path`.
    static func ofPassphraseFile(_ path: String, _ context: Context) -> SecretFileRule {
        guard var directory = context.variable("CREDENTIALS_DIRECTORY") else { return .own }
        while directory.hasSuffix("/") { directory.removeLast() }
        let isInside = path.hasPrefix("\(directory)/") && !path.contains("/../")
        return isInside && !directory.isEmpty ? .credential : .own
    }

    /// What speaks against taking a secret from a regular file; nil where nothing does.
    func objection(to file: FileFacts) -> String? {
        guard file.isOwn || (mayBeRoots && file.owner == 0) else {
            return "belongs to another user"
        }
        return file.permissions & forbidden == 0 ? nil : "can be opened by other users"
    }

    /// Refuses a passphrase file that somebody else can open.
    ///
    /// A pipe, a device, and a file without a name keep nothing that others could open: what
    /// `<(...)` and `/dev/fd/N` name is taken.
    func check(_ file: OpenFile, at path: String) throws {
        guard let facts = try? file.facts(), Self.isKept(facts) else { return }
        if let objection = objection(to: facts) {
            throw Self.refusal("passphrase file \(path)", objection, secret: "passphrase")
        }
    }

    /// Tells whether it is a regular file that has a name.
    static func isKept(_ file: FileFacts) -> Bool { file.kind == .regular && file.nameCount > 0 }

    static func refusal(_ what: String, _ objection: String, secret: String) -> CommandError {
        CommandError(
            .locked, "The \(what) \(objection).",
            hint:
                "It was not used. Other users may have read its \(secret): replace that, and let only yourself open the file (chmod 600)."
        )
    }
}
