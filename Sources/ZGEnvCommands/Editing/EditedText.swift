internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Sealing

/// The parsed text from the editor.
struct EditedText {
    private enum Content {
        case lines(PlaintextSource)
        /// The value of one key, which no line can hold.
        case value(String, SecretSlice)
    }

    private let content: Content

    /// Reads the text as the value of one key. Editors end a text with a newline, which is dropped
    /// unless the value before had one.
    init(
        _ text: consuming SecretBuffer, valueOf key: String, keepsNewline: Bool
    ) throws {
        var text = text
        if !keepsNewline, text.withBytes({ $0.endsInLineFeed }) { text.removeLast(1) }
        let value = try text.withBytes { try SecretArena().copy($0) }
        try ValueInput.checkText(value, key)
        guard value.count > 0 else {
            throw CommandError(
                .usage, "The value of \(key) is empty.",
                hint: "Set an empty value with: zg-env set \(word: key) --allow-empty")
        }
        content = .value(key, value)
    }

    /// Parses a text, and refuses one with lines that would be ignored: a typo must not remove a
    /// variable or cut a value.
    ///
    /// - Throws: ``ExitCode/usage`` with the line of the first error.
    init(_ text: borrowing SecretBuffer, onlyKey: String?) throws {
        var source = PlaintextSource(.init(dialect: .dotenv))
        try text.withBytes { try source.read($0, named: "edited text") }
        let refused = source.findings.first { finding in
            switch finding.diagnostic.code {
            case .differsUnterminatedQuote, .duplicateKey, .truncated, .cutValue: true
            case let code: code.isIgnored
            }
        }
        if let refused {
            let place = refused.diagnostic.position
            throw CommandError(
                .usage,
                CommandError.ending(
                    "Line \(place.line), column \(place.column): \(refused.diagnostic.message)"))
        }
        if let onlyKey, let other = source.keys.first(where: { $0 != onlyKey }) {
            throw CommandError(
                .usage,
                "Only \(onlyKey) is being edited, but the text also sets \(other).")
        }
        for key in source.keys {
            do {
                try VariableName.check(key)
            } catch {
                throw CommandError(.usage, "The text contains an invalid variable name.")
            }
        }
        content = .lines(source)
    }

    /// The keys in the order of the text.
    var keys: [String] {
        switch content {
        case .lines(let source): source.keys
        case .value(let key, _): [key]
        }
    }

    func value(of key: String) -> SecretSlice? {
        switch content {
        case .lines(let source): source.value(of: key)
        case .value(key, let value): value
        case .value: nil
        }
    }

    /// Returns warnings about suspicious values of `keys`, and places where parsers disagree.
    func warnings(about keys: Set<String>) -> [(code: String, message: String)] {
        let odd = keys.sorted().flatMap { key in
            (value(of: key)?.withBytes { ValueWarning.warnings(about: $0, of: key) } ?? [])
                .map { ($0.code.rawValue, $0.message) }
        }
        guard case .lines(let source) = content else { return odd }
        let different = source.findings.filter { finding in
            finding.diagnostic.key.map { keys.contains($0) } ?? false
        }.map { ($0.diagnostic.code.rawValue, CommandError.ending($0.line)) }
        return odd + different
    }
}
