/// The forms of names between a relay and its devices; see `docs/postal-protocol.md`.
package enum PostalName {
    /// Returns whether this can be the id of an account: 1 to 64 letters, digits, `_` and `-`.
    package static func isAccount(_ text: String) -> Bool { isWord(text, atLeast: 1) }

    /// Returns whether this can be the name of a webhook or a device: 16 to 64 of the same
    /// characters.
    package static func isHookOrDevice(_ text: String) -> Bool { isWord(text, atLeast: 16) }

    private static func isWord(_ text: String, atLeast least: Int) -> Bool {
        guard (least...64).contains(text.utf8.count) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }
}
