internal import DotEnv
internal import EnvOperations
internal import Sealing

/// What came back from the editor, read and checked.
struct EditedText {
    private let source: PlaintextSource

    /// Reads a text.
    ///
    /// A text of which anything would be skipped is not readable: a slip of the pen must not remove a
    /// variable or cut a value.
    ///
    /// - Throws: ``ExitCode/usage`` with the place of the first thing that is wrong.
    init(_ text: borrowing SecretBuffer, onlyKey: String?) throws {
        var options = PlaintextSource.Options()
        options.dialect = .dotenv
        options.consequence = "Nothing was changed."
        var source = PlaintextSource(options)
        try text.withBytes { try source.read($0, named: "the text") }
        let refused = source.findings.first { finding in
            switch finding.diagnostic.code {
            case .differsUnterminatedQuote, .duplicateKey, .truncated: true
            case let code: code.isIgnored
            }
        }
        if let refused {
            throw CommandError(.usage, CommandError.ending("Not readable: \(refused.line)"))
        }
        if let onlyKey, let other = source.keys.first(where: { $0 != onlyKey }) {
            throw CommandError(
                .usage,
                "Not readable: only \(onlyKey) may stand in the text, and "
                    + "\(other) does too.")
        }
        for key in source.keys {
            do {
                try VariableName.check(key)
            } catch {
                throw CommandError(
                    .usage, "Not readable: a name is none that a variable can have.")
            }
        }
        self.source = source
    }

    /// The keys, in the order of the text.
    var keys: [String] { source.keys }

    /// The value of a key.
    func value(of key: String) -> SecretSlice? { source.value(of: key) }

    /// What is odd about the values of `keys`, and where other readers would see something else.
    func warnings(about keys: Set<String>) -> [(code: String, message: String)] {
        let odd = keys.sorted().flatMap { key in
            (value(of: key)?.withBytes { ValueWarning.warnings(about: $0, of: key) } ?? [])
                .map { ($0.code.rawValue, $0.message) }
        }
        let different = source.findings.filter { finding in
            finding.diagnostic.key.map { keys.contains($0) } ?? false
        }.map { ($0.diagnostic.code.rawValue, CommandError.ending($0.line)) }
        return odd + different
    }
}
