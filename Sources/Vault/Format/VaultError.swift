package import Sealing

/// What can go wrong with a vault. Names and paths may be in it, values never.
package struct VaultError: Error, Equatable {
    /// The cause, which decides the exit code and the remedy.
    package enum Code: Sendable {
        /// There is no vault at that path.
        case notFound
        /// There is a vault already.
        case exists
        /// The file, its owner or its permissions are not those of a vault.
        case insecure
        /// Checksum, tag or encoding do not hold.
        case damaged
        /// The format number is higher than the one this program knows.
        case newerFormat
        /// The format is that of pre-releases, which no version reads any more.
        case preReleaseFormat
        /// What is asked for was changed while the values were locked, and nobody accepted that.
        case notAccepted
        /// No passphrase slot opens with what was given.
        case wrongPassphrase
        /// Another process holds the lock.
        case busy
        /// The index key was replaced meanwhile: open again and repeat.
        case epochChanged
        /// The slots are others than those that a change was made for: open again and repeat.
        case slotsChanged
        /// A slot without which nobody could open the vault any more.
        case lastSlot
        /// A bound of the format would be exceeded.
        case tooLarge
        /// Too little memory for what was asked.
        case outOfMemory
        /// The new file stands, but the kernel did not confirm that its name is on disk.
        case notConfirmed
        /// The audit log cannot be read or written.
        case auditLog
        /// Reading or writing failed.
        case inputOutput
    }

    /// The cause.
    package let code: Code
    /// One sentence that says what happened and to what.
    package let reason: String
    /// What does not hold, of a damaged vault; nil for another code, and for an older copy, which is
    /// whole.
    package let damage: VaultDamage?
    /// What mends it; nil where no single command does.
    package let remedy: Remedy?

    /// A command of the system.
    package struct Remedy: Equatable, Sendable {
        /// The command without its last word.
        package let command: String
        /// Its last word, not quoted.
        package let path: String
    }

    /// Makes an error.
    package init(_ code: Code, _ reason: String, remedy: Remedy? = nil) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
        damage = nil
    }

    /// Makes an error of code ``Code/damaged``.
    package init(damaged damage: VaultDamage, _ reason: String) {
        code = .damaged
        self.reason = reason
        self.damage = damage
        remedy = nil
    }

    /// Translates a failure of sealing where a failed tag means damage.
    package init(
        _ error: SealingError, damaged damage: VaultDamage, _ reason: @autoclosure () -> String
    ) {
        switch error {
        case .notAuthentic: self.init(damaged: damage, reason())
        case .unusableKey:
            self.init(
                damaged: .exchangedKey,
                "the vault's public key was exchanged: nothing can be sealed to it")
        case .outOfMemory, .derivationFailed:
            self.init(.outOfMemory, "there is not enough memory for the secrets of this operation")
        case .costOutOfBounds:
            self.init(damaged: .slot, "the cost of a passphrase slot is out of bounds")
        case .libraryUnavailable: self.init(.inputOutput, "libsodium could not be initialised")
        }
    }
}

/// Runs `body` and translates a failure to get guarded memory.
func guarding<R: ~Copyable>(
    _ body: () throws(SealingError) -> R
) throws(VaultError) -> R {
    do { return try body() } catch { throw VaultError(error, damaged: .tag, "a tag does not hold") }
}
