internal import CommandLineKit
internal import DotEnv
internal import Sealing
internal import Vault

/// Values written in a format, in guarded memory, read back and compared before anybody sees them.
final class ExportText {
    private var text: SecretBytes
    private let count: Int

    /// Writes `values` in `format`.
    ///
    /// - Throws: ``DotEnvError`` that names the key which the format cannot carry, and the formats that can.
    convenience init(format: DotEnvFormat, values: [RevealedValue]) throws {
        try self.init(format: format, keys: values.map(\.name)) { index, body in
            values[index].value.withBytes(body)
        }
    }

    /// Writes the values that `lender` lends for `keys`.
    init(format: DotEnvFormat, keys: [String], lender: DotEnvWriter.Lender) throws {
        let writer = DotEnvWriter(format)
        var text = try SecretBytes(count: try writer.length(keys, lending: lender))
        count = try text.withMutableBytes { target in
            try writer.writeVerified(keys, into: &target, lending: lender)
        }
        self.text = text
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
