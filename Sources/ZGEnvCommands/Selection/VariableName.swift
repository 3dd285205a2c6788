internal import CommandLineKit
internal import DotEnv
internal import Vault

/// Keys as people type them.
enum VariableName {
    /// Checks a key for `set` and the like.
    ///
    /// - Throws: ``ExitCode/usage``; `KEY=value` is refused without repeating the value.
    static func check(_ key: String) throws {
        if let equals = key.utf8.firstIndex(of: UInt8(ascii: "=")) {
            let name = String(Substring(key.utf8[..<equals]))
            throw CommandError(
                .usage,
                "Values are not taken from the command line, where other programs can read them.",
                hint:
                    "Run: zg-env set \(word: name), and type the value or give it on stdin."
            )
        }
        guard !key.isEmpty, key.utf8.count <= VaultFormat.nameLimit,
            DisplayText.safe(key) == key, !key.utf8.contains(0x20)
        else {
            throw CommandError(
                .usage,
                "That is no name for a variable: it is empty, too long, or has blanks or control characters."
            )
        }
    }

    /// Tells whether every shell and the platform take the name.
    static func isPortable(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard let first = bytes.first, !(0x30...0x39).contains(first) else { return false }
        return bytes.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == 0x5F
        }
    }
}
