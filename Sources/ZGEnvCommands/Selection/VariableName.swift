internal import CommandLineKit
internal import Vault

/// Checks variable names on the command line.
enum VariableName {
    static let argument = ArgumentSpec(
        "KEY", .one, "The variable", completion: .dynamic(.variable))
    static let arguments = ArgumentSpec(
        "KEY", .oneOrMore, "The variables", completion: .dynamic(.variable))

    /// An option for several names.
    static func option(_ name: String, value: String = "K", _ summary: String) -> OptionSpec {
        OptionSpec(
            name, value: value, summary, repeatable: true, commaSeparated: true,
            completion: .dynamic(.variable))
    }

    /// Returns the name that a command takes.
    static func argument(of command: ParsedCommand) throws -> String {
        let key = command.required("KEY")
        try check(key)
        return key
    }

    /// Returns the names that a command takes, each once and not yet checked.
    static func arguments(of command: ParsedCommand) -> [String] {
        var seen: Set<String> = []
        return command.arguments("KEY").filter { seen.insert($0).inserted }
    }

    /// Returns the names that a command takes to select variables; nil for all variables.
    static func selection(of command: ParsedCommand) throws -> Set<String>? {
        let keys = command.arguments("KEY")
        for key in keys { try check(key) }
        return keys.isEmpty ? nil : Set(keys)
    }

    /// Returns the first names, and how many more there are.
    static func list(_ names: [String]) -> String {
        let rest = names.count > 10 ? " and \(names.count - 10) more" : ""
        return names.prefix(10).joined(separator: ", ") + rest
    }

    /// Checks a variable name.
    ///
    /// - Throws: ``ExitCode/usage``; the error for `KEY=value` does not repeat the value.
    static func check(_ key: String) throws {
        if let equals = key.utf8.firstIndex(of: UInt8(ascii: "=")) {
            let name = String(Substring(key.utf8[..<equals]))
            throw CommandError(
                .usage,
                "Values are not accepted on the command line, where other programs can read them.",
                hint:
                    "Run: zg-env set \(word: name), and type the value or pass it on stdin."
            )
        }
        guard !key.isEmpty, key.utf8.count <= VaultFormat.nameLimit,
            DisplayText.safe(key) == key, !key.utf8.contains(0x20)
        else {
            throw CommandError(
                .usage,
                "The variable name is not valid: it is empty, too long, or contains spaces or control characters."
            )
        }
    }

    /// Whether a word among several names could be a value: names that are new to a project then need
    /// to look like `API_KEY`, since a name is shown and stored where a value must not be.
    static func couldBeValue(_ word: String) -> Bool {
        let bytes = Array(word.utf8)
        let isName =
            isPortable(word) && !bytes.contains { (0x61...0x7A).contains($0) }
        let hasDigit = bytes.contains { (0x30...0x39).contains($0) }
        return !isName || (hasDigit && bytes.count >= 16 && !bytes.contains(0x5F))
    }

    /// Warns of a new name that some shells or Vercel do not accept.
    static func warnUnlessPortable(_ key: String, _ context: Context) {
        guard !isPortable(key) else { return }
        context.warn(
            "name-not-portable",
            "\(key) is not a portable variable name: Vercel and some shells reject it.")
    }

    /// Whether every shell and Vercel accept the name.
    static func isPortable(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard let first = bytes.first, !(0x30...0x39).contains(first) else { return false }
        return bytes.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == 0x5F
        }
    }
}
