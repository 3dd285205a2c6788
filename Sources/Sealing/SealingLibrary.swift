internal import CSodium

/// libsodium, on which this module is based.
package enum SealingLibrary {
    /// The version at run time; nil if libsodium cannot be initialized, and nothing may be sealed.
    package static var version: String? {
        guard SecretMemory.isAvailable, let text = unsafe sodium_version_string() else {
            return nil
        }
        return unsafe String(cString: text)
    }
}
