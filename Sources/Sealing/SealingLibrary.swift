internal import CSodium

/// libsodium, which everything here is made with.
package enum SealingLibrary {
    /// The version that runs; nil where it cannot be initialised, and nothing may be sealed.
    package static var version: String? {
        guard SecretMemory.isAvailable, let text = unsafe sodium_version_string() else {
            return nil
        }
        return unsafe String(cString: text)
    }
}
