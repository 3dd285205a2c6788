internal import SystemFiles

/// The rule for owner and permissions of a file with a key or a passphrase.
struct SecretFileRule: Equatable {
    /// Permission bits that must not be set.
    let forbidden: UInt32
    /// Whether root may own it.
    let allowsRoot: Bool

    /// A file that the user created.
    static let own = SecretFileRule(forbidden: 0o077, allowsRoot: false)
    /// A credential that systemd created for one service: owned by root, with an access control list for
    /// the service's user, whose mask shows in the group bits.
    static let credential = SecretFileRule(forbidden: 0o007, allowsRoot: true)

    /// Returns the rule for a passphrase file at `path`.
    static func ofPassphraseFile(_ path: String, _ context: Context) -> SecretFileRule {
        guard var directory = context.variable("CREDENTIALS_DIRECTORY") else { return .own }
        while directory.hasSuffix("/") { directory.removeLast() }
        let isInside = path.hasPrefix("\(directory)/") && !path.contains("/../")
        return isInside && !directory.isEmpty ? .credential : .own
    }

    /// Returns why a regular file must not be used; nil if it may.
    func objection(to file: FileFacts) -> String? {
        guard file.isOwn || (allowsRoot && file.owner == 0) else {
            return "belongs to another user"
        }
        return file.permissions & forbidden == 0 ? nil : "can be opened by other users"
    }

    /// Refuses a passphrase file that others can open.
    ///
    /// Pipes, devices and files without a name, such as `<(...)` and `/dev/fd/N`, are accepted: they
    /// store nothing that others could open.
    func check(_ file: OpenFile, at path: String) throws {
        guard let facts = try? file.facts(), Self.isKept(facts) else { return }
        if let objection = objection(to: facts) {
            throw Self.refusal("passphrase file \(path)", objection, secret: "passphrase")
        }
    }

    /// Whether it is a regular file with a name.
    static func isKept(_ file: FileFacts) -> Bool {
        file.kind == .regular && file.hardLinkCount > 0
    }

    static func refusal(_ what: String, _ objection: String, secret: String) -> CommandError {
        CommandError(
            .locked, "The \(what) \(objection).",
            hint:
                "Other users may have read the \(secret): replace it, and restrict the file to yourself (chmod 600)."
        )
    }
}
