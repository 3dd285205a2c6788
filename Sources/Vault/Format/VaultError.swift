package import Sealing

/// A failed vault operation. May contain names and paths, never values.
package struct VaultError: Error, Equatable {
    /// The cause, which determines the exit code and the hint.
    package enum Code: Sendable {
        /// There is no vault at that path.
        case notFound
        /// The vault already exists.
        case exists
        /// The file, its owner or its permissions are not acceptable for a vault.
        case insecure
        /// A checksum, tag or encoding is invalid.
        case damaged
        /// The format is newer than this program supports.
        case newerFormat
        /// The format of pre-releases, which no version supports.
        case preReleaseFormat
        /// No slot opens with the given passphrase or recovery code.
        case wrongPassphrase
        /// Another process holds the lock.
        case busy
        /// The index key or the whole file was replaced in the meantime: open the vault again and retry.
        case epochChanged
        /// The slots differ from those that the change was made for: open the vault again and
        /// retry.
        case slotsChanged
        /// The last slot of its kind, without which nobody could open the vault.
        case lastSlot
        /// A limit of the format would be exceeded.
        case tooLarge
        /// Too little memory for what was asked.
        case outOfMemory
        /// The new file is in place, but the kernel did not confirm that its name is on disk.
        case notConfirmed
        /// The audit log cannot be read or written.
        case auditLog
        /// Reading or writing failed.
        case inputOutput
    }

    package let code: Code
    /// One sentence, lower case, without a full stop.
    package let reason: String
    /// The kind of damage, with code ``Code/damaged``; nil for other codes, and for an older copy,
    /// which is intact.
    package let damage: VaultDamage?
    /// A command that fixes the problem; nil if no single one does.
    package let remedy: Remedy?

    /// A system command.
    package struct Remedy: Equatable, Sendable {
        /// The command without its last argument.
        package let command: String
        /// The last argument, unquoted.
        package let path: String
    }

    package init(_ code: Code, _ reason: String, remedy: Remedy? = nil) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
        damage = nil
    }

    /// Creates an error with code ``Code/damaged``.
    package init(damaged damage: VaultDamage, _ reason: String) {
        code = .damaged
        self.reason = reason
        self.damage = damage
        remedy = nil
    }

    /// Translates a sealing failure for which failed authentication means damage.
    package init(
        _ error: SealingError, damaged damage: VaultDamage, _ reason: @autoclosure () -> String
    ) {
        switch error {
        case .notAuthentic: self.init(damaged: damage, reason())
        case .unusableKey:
            self.init(
                damaged: .exchangedKey,
                "the vault's public key was replaced with an unusable one")
        case .outOfMemory, .derivationFailed:
            self.init(.outOfMemory, "there is not enough guarded memory for this operation")
        case .costOutOfBounds:
            self.init(damaged: .slot, "the cost of a passphrase slot is out of range")
        case .libraryUnavailable: self.init(.inputOutput, "cannot initialize libsodium")
        }
    }
}

/// Runs `body`, translating a failure to allocate guarded memory.
func guarding<R: ~Copyable>(
    _ body: () throws(SealingError) -> R
) throws(VaultError) -> R {
    do { return try body() } catch {
        throw VaultError(error, damaged: .tag, "authentication failed")
    }
}
