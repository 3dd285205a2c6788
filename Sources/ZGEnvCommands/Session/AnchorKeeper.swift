internal import Glibc
internal import Sealing
internal import Vault

/// Keeps the anchors of one vault file: which generation of it was seen last on this machine.
///
/// There are two: an item of the desktop's keyring, and a file in the state directory. Both are named by
/// the vault's id and the file's path, so that a copy opened elsewhere is not held against this one.
final class AnchorKeeper {
    /// Where an anchor is.
    enum Place: String, CaseIterable {
        case stateDirectory, keyring

        /// For people, to follow "the".
        var name: String { self == .keyring ? "keyring" : "state directory" }
    }

    /// What is there.
    enum Finding {
        case anchor(VaultSighting)
        case absent
        /// Something that is no anchor of this vault.
        case unreadable
        /// There is no such place now, or it would have to ask somebody.
        case unavailable
    }

    private let context: Context
    private let path: String
    private lazy var keyring: (any Keyring)? = context.keyring()

    init(_ context: Context, path: String) {
        self.context = context
        self.path = Self.canonical(path)
    }

    /// The path without symbolic links in its directory; the vault itself is none.
    private static func canonical(_ path: String) -> String {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        guard let found = unsafe realpath(directory, nil) else { return path }
        defer { unsafe free(found) }
        let real = unsafe String(cString: found)
        return real == "/" ? "/\(name)" : "\(real)/\(name)"
    }

    /// The keyring, where it can be used without a question.
    private func openKeyring() throws(KeyringError) -> (any Keyring)? {
        guard let keyring, try keyring.isUnlocked() else { return nil }
        return keyring
    }

    /// The file of the state directory; nil where there is no such directory.
    func file(of vault: Identifier) -> String? {
        (try? Directories(context).state).map {
            "\($0)/\(vault.hexadecimal)-\(VaultAnchor.identifier(ofPath: path)).anchor"
        }
    }

    /// Looks an anchor up. Asks nobody.
    func find(_ place: Place, of vault: Identifier) -> Finding {
        switch place {
        case .stateDirectory:
            guard let file = file(of: vault) else { return .unavailable }
            var status = stat()
            guard unsafe stat(file, &status) == 0 else {
                return errno == ENOENT || errno == ENOTDIR ? .absent : .unavailable
            }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                let bytes = SmallFile.bytes(file)
            else { return .unreadable }
            return Self.finding(bytes, of: vault)
        case .keyring:
            var found = Finding.absent
            do throws(KeyringError) {
                guard let keyring else { return .unavailable }
                let item = VaultAnchor.keyringItem(vault: vault, path: path)
                // Of several the newest counts: an older one beside it must not silence it.
                _ = try keyring.secretWithoutAsking(for: item) { secret in
                    found = Self.newer(found, Self.finding(secret, of: vault))
                    return false
                }
                return found
            } catch {
                if case .anchor = found { return found }
                return error.code == .malformed ? .unreadable : .unavailable
            }
        }
    }

    private static func newer(_ left: Finding, _ right: Finding) -> Finding {
        guard case .anchor(let known) = left else { return right }
        guard case .anchor(let other) = right else { return left }
        return other.position.generation > known.position.generation ? right : left
    }

    private static func finding(
        _ secret: borrowing SecretBytes, of vault: Identifier
    ) -> Finding {
        guard secret.count <= VaultAnchor.byteLimit else { return .unreadable }
        return finding(
            secret.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } },
            of: vault)
    }

    private static func finding(_ bytes: [UInt8], of vault: Identifier) -> Finding {
        guard let anchor = VaultAnchor(bytes), anchor.vaultID == vault else { return .unreadable }
        return .anchor(anchor.sighting)
    }

    /// Takes the anchor out of the keyring, where that can be used without a question.
    func removeFromKeyring(of vault: Identifier) {
        try? openKeyring()?.remove(VaultAnchor.keyringItem(vault: vault, path: path))
    }

    /// Puts an anchor in place of the one there is. A place that is not there is passed over.
    ///
    /// - Throws: Where there is one and it did not keep the anchor.
    func store(_ sighting: VaultSighting, _ place: Place, of vault: Identifier) throws {
        let line = VaultAnchor(vaultID: vault, sighting: sighting).line
        switch place {
        case .stateDirectory:
            guard let file = file(of: vault) else { return }
            try context.files.prepareDirectory(of: file)
            // Lost with the power it is only behind, and the next opening moves it on.
            try line.withBytes {
                try PrivateFile.write($0, to: file, replaces: true, durably: false)
            }
        case .keyring:
            let item = VaultAnchor.keyringItem(vault: vault, path: path)
            let secret = try line.withBytes { try SecretBytes(copying: $0) }
            do throws(KeyringError) {
                guard let keyring = try openKeyring() else { return }
                // Some keyrings ask before they replace an item, and none before it goes. Killed in
                // between there is no anchor, and the next write stores one.
                try keyring.remove(item)
                try keyring.store(secret, for: item)
            } catch {
                let isMissing = [.noBus, .noProvider, .libraryMissing, .locked].contains(error.code)
                guard isMissing else { throw error }
            }
        }
    }
}
