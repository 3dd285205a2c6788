internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// Keeps the rollback guards of one vault file: the generation last seen on this machine.
///
/// There are two: an item in the desktop keyring and a file in the state directory. Both are named by the
/// vault's id and the file's path, so that a copy at another path is not compared with this one.
final class RollbackGuards {
    enum Place: String, CaseIterable {
        case stateDirectory, keyring

        /// The name in messages, after "the".
        var name: String { self == .keyring ? "keyring" : "state directory" }
    }

    enum Finding {
        case anchor(VaultObservation)
        case absent
        /// Only a guard of another vault at the path.
        case otherVault
        /// There is something other than a guard of this vault.
        case unreadable
        /// The place does not exist now, or would have to ask the user.
        case unavailable
    }

    private let context: Context
    private let path: String
    private lazy var keyring: (any Keyring)? = context.keyring()

    init(_ context: Context, path: String) {
        self.context = context
        self.path = Self.canonical(path)
    }

    /// Resolves symbolic links in the directory; the vault itself cannot be one.
    private static func canonical(_ path: String) -> String {
        guard let real = RealPath.of(FileReplacement.directory(of: path)) else { return path }
        return RealPath.joined(real, FileReplacement.name(of: path))
    }

    /// Returns the keyring if it is unlocked.
    private func openKeyring() throws(KeyringError) -> (any Keyring)? {
        guard let keyring, try keyring.isUnlocked() else { return nil }
        return keyring
    }

    /// Returns the path in the state directory; nil if there is no such directory.
    func file(of vault: Identifier) -> String? {
        (try? Directories(context).state).map {
            "\($0)/\(vault.hexadecimal)-\(RollbackGuard.identifier(ofPath: path)).anchor"
        }
    }

    /// Returns the paths of the guards of other vaults that were seen at this path.
    private func others(than vault: Identifier) -> [String] {
        guard let state = try? Directories(context).state else { return [] }
        let ending = "-\(RollbackGuard.identifier(ofPath: path)).anchor"
        return Directory.names(in: state).filter {
            $0.hasSuffix(ending) && !$0.hasPrefix(vault.hexadecimal)
        }.map { "\(state)/\($0)" }
    }

    /// Removes the guards of other vaults at this path, which this one has replaced.
    func removeOthers(than vault: Identifier) {
        for path in others(than: vault) { _ = unsafe unlink(path) }
    }

    /// Reads a guard without asking the user.
    func find(_ place: Place, of vault: Identifier) -> Finding {
        switch place {
        case .stateDirectory:
            guard let file = file(of: vault) else { return .unavailable }
            var status = stat()
            guard unsafe stat(file, &status) == 0 else {
                guard errno == ENOENT || errno == ENOTDIR else { return .unavailable }
                return others(than: vault).isEmpty ? .absent : .otherVault
            }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                let bytes = SmallFile.bytes(file)
            else { return .unreadable }
            return Self.finding(bytes, of: vault)
        case .keyring:
            var found = Finding.absent
            do throws(KeyringError) {
                guard let keyring else { return .unavailable }
                let item = RollbackGuard.keyringItem(vault: vault, path: path)
                // The newest of several counts: an older one must not hide it.
                _ = try keyring.secretWithoutPrompting(for: item) { secret in
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
        guard secret.count <= RollbackGuard.byteLimit else { return .unreadable }
        return finding(
            secret.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } },
            of: vault)
    }

    private static func finding(_ bytes: [UInt8], of vault: Identifier) -> Finding {
        guard let anchor = RollbackGuard(bytes), anchor.vaultID == vault else { return .unreadable }
        return .anchor(anchor.sighting)
    }

    /// Removes the guard from the keyring, if that is unlocked.
    func removeFromKeyring(of vault: Identifier) {
        try? openKeyring()?.remove(RollbackGuard.keyringItem(vault: vault, path: path))
    }

    /// Replaces a guard. Does nothing if the place does not exist.
    ///
    /// - Throws: If the place exists and did not store the guard.
    func store(_ sighting: VaultObservation, _ place: Place, of vault: Identifier) throws {
        let line = RollbackGuard(vaultID: vault, sighting: sighting).line
        switch place {
        case .stateDirectory:
            guard let file = file(of: vault) else { return }
            try context.files.prepareDirectory(of: file)
            // If a power failure loses the write, the guard is behind until the vault is next opened.
            try PrivateFile.write(line, to: file, replaces: true, durably: false)
        case .keyring:
            let item = RollbackGuard.keyringItem(vault: vault, path: path)
            let secret = try line.withBytes { try SecretBytes(copying: $0) }
            do throws(KeyringError) {
                guard let keyring = try openKeyring() else { return }
                // Some keyrings ask before they replace an item, but none before they remove one. If the
                // process is killed in between, the next write stores the guard.
                try keyring.remove(item)
                try keyring.store(secret, for: item)
            } catch {
                let isMissing = [.noBus, .noProvider, .libraryMissing, .locked].contains(error.code)
                guard isMissing else { throw error }
            }
        }
    }
}
