/// A failure to seal, open or derive. Contains no part of keys or values.
package enum SealingError: Error, Equatable {
    /// The tag does not match: a wrong key, other associated data, or changed bytes, which are
    /// indistinguishable.
    case notAuthentic
    /// A public key is a point of low order, which cannot be sealed to.
    case unusableKey
    /// Guarded memory could not be allocated: out of memory, or over the kernel's limit on
    /// mappings.
    case outOfMemory
    /// Argon2id could not allocate the memory that its parameters require.
    case derivationFailed
    /// The Argon2id parameters are outside of ``PassphraseCost/isAcceptable``.
    case costOutOfBounds
    /// libsodium could not be initialized.
    case libraryUnavailable
}
