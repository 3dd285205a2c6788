/// What can go wrong while sealing, opening or deriving. Carries nothing of keys or values.
package enum SealingError: Error, Equatable {
    /// The tag does not match: wrong key, other associated data, or changed bytes. Which, is unknowable.
    case notAuthentic
    /// A public key is a point of low order, so nothing can be sealed to it.
    case unusableKey
    /// Guarded memory could not be had: out of memory, or over the kernel's limit of mappings.
    case outOfMemory
    /// Argon2id could not take the memory that its parameters ask for.
    case derivationFailed
    /// The Argon2id parameters are outside of ``PassphraseCost/isAcceptable``.
    case costOutOfBounds
    /// libsodium could not be initialised, so nothing may be sealed.
    case libraryUnavailable
}
