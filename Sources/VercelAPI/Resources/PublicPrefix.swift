internal import HTTPClient

/// The prefix of a name whose value a framework builds into what browsers load.
package struct PublicPrefix: Equatable, Sendable {
    /// The prefix, with the underscore at its end.
    package let text: String
    /// Whether Vercel refuses a Secret with such a name. For the others its tools only advise against
    /// one.
    package let isRefusedForSecrets: Bool

    private static let refused = [
        "NEXT_PUBLIC_", "VUE_APP_", "REACT_APP_", "GATSBY_", "GRIDSOME_", "NUXT_PUBLIC_",
        "STORYBOOK_", "VITE_", "PUBLIC_", "EXPO_PUBLIC_", "NG_APP_", "REDWOOD_ENV_",
    ]
    private static let discouraged = ["NUXT_ENV_", "SANITY_STUDIO_"]

    /// Returns the prefix of a name, in any case of its letters; nil if it has none.
    package init?(of name: String) {
        func isPrefix(_ prefix: String) -> Bool {
            name.utf8.count >= prefix.utf8.count
                && zip(prefix.utf8, name.utf8).allSatisfy { wanted, byte in
                    wanted == byte || byte.isASCIILetter && wanted == byte & ~0x20
                }
        }
        if let prefix = Self.refused.first(where: isPrefix) {
            (text, isRefusedForSecrets) = (prefix, true)
        } else if let prefix = Self.discouraged.first(where: isPrefix) {
            (text, isRefusedForSecrets) = (prefix, false)
        } else {
            return nil
        }
    }
}
