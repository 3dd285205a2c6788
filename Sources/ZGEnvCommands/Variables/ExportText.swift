internal import CommandLineKit
internal import DotEnv
internal import Sealing
internal import Vault

/// Values written in a format, in guarded memory, read back and compared before anybody sees them.
final class ExportText {
    private var text: SecretBytes
    private let count: Int
    /// The variables that some reader of `.env` files takes in another way, whatever form they have.
    let unportable: [String]

    /// Writes `values` in `format`, a `.env` text for one reader or for as many as possible.
    ///
    /// - Throws: ``DotEnvError`` that names the key which the format cannot carry, and the formats that can.
    convenience init(
        format: DotEnvFormat, for dialect: DotEnvDialect? = nil, values: [RevealedValue]
    ) throws {
        try self.init(format: format, for: dialect, keys: values.map(\.name)) { index, body in
            values[index].value.withBytes(body)
        }
    }

    /// Writes the values that `lender` lends for `keys`.
    init(
        format: DotEnvFormat, for dialect: DotEnvDialect? = nil, keys: [String],
        lender: DotEnvWriter.Lender
    ) throws {
        let writer = DotEnvWriter(format, for: dialect)
        unportable = writer.unportableKeys(keys, lending: lender)
        var text = try SecretBytes(count: try writer.length(keys, lending: lender))
        count = try text.withMutableBytes { target in
            try writer.writeVerified(keys, into: &target, lending: lender)
        }
        self.text = text
    }

    /// Warns of values that only motdotla/dotenv surely reads back.
    ///
    /// - Parameter remedy: What to do instead, as a sentence.
    static func warn(_ unportable: [String], remedy: String, _ workspace: Workspace) {
        guard !unportable.isEmpty else { return }
        let names =
            unportable.prefix(10).joined(separator: ", ")
            + (unportable.count > 10 ? " and \(unportable.count - 10) more" : "")
        let (noun, verb) = unportable.count == 1 ? ("value", "is") : ("values", "are")
        workspace.context.warn(
            "not-portable",
            "Readers of .env files disagree about the \(noun) of \(names), which \(verb) written for "
                + "motdotla/dotenv. \(remedy)")
    }

    /// Number of bytes.
    var byteCount: Int { count }

    /// Lends the text to `body`.
    func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try text.withBytes { try body($0.extracting(first: count)) }
    }

    /// Writes the text to `output`.
    func write(to output: OutputStream) throws {
        try withBytes { try output.write($0) }
    }
}
