internal import CommandLineKit
internal import DotEnv
internal import Sealing

/// Values in an output format, in guarded memory, parsed again and compared.
final class ExportText {
    static let format = OptionSpec(
        "format", value: "FORMAT", "Output format (default dotenv)",
        form: .oneOf(DotEnvFormat.allCases.map(\.rawValue)))

    private let text: SecretBytes
    let byteCount: Int
    /// Variables that some `.env` parser reads differently in every form.
    let unportable: [String]

    /// Writes `values` in `format`, for one `.env` parser or for as many as possible.
    ///
    /// - Throws: ``DotEnvError`` with the key that the format cannot hold.
    convenience init(
        format: DotEnvFormat, for dialect: DotEnvDialect? = nil, values: [RevealedValue]
    ) throws {
        let values = Self.ordered(values, for: DotEnvWriter(format, for: dialect))
        try self.init(format: format, for: dialect, keys: values.map(\.name)) { index, body in
            values[index].value.withBytes(body)
        }
    }

    /// Returns the values in their order, or, if parsers would then disagree about others, with those
    /// last about which they disagree anyway: a parser that misses the end of one misreads what
    /// follows.
    private static func ordered(
        _ values: [RevealedValue], for writer: DotEnvWriter
    ) -> [RevealedValue] {
        let keys = values.map(\.name)
        let lender: DotEnvWriter.Lender = { values[$0].value.withBytes($1) }
        let last = Set(writer.unportableKeys(keys, lending: lender))
        guard !last.isEmpty,
            (try? ExportText(
                format: writer.format, for: writer.dialect, keys: keys, lender: lender)) == nil
        else { return values }
        return values.filter { !last.contains($0.name) } + values.filter { last.contains($0.name) }
    }

    init(
        format: DotEnvFormat, for dialect: DotEnvDialect? = nil, keys: [String],
        lender: DotEnvWriter.Lender
    ) throws {
        let writer = DotEnvWriter(format, for: dialect)
        unportable = writer.unportableKeys(keys, lending: lender)
        var text = try SecretBytes(count: try writer.length(keys, lending: lender))
        byteCount = try text.withMutableBytes { target in
            try writer.writeVerified(keys, into: &target, lending: lender)
        }
        self.text = text
    }

    /// Returns an error for each value that `format` or the parser cannot represent.
    static func refusals(
        format: DotEnvFormat, for dialect: DotEnvDialect?, values: [RevealedValue]
    ) -> [DotEnvError] {
        DotEnvWriter(format, for: dialect).refusals(values.map(\.name)) { index, body in
            values[index].value.withBytes(body)
        }
    }

    /// Warns about values that only motdotla/dotenv is sure to read correctly.
    ///
    /// - Parameter remedy: A sentence that says what to do instead.
    static func warn(_ unportable: [String], remedy: String, _ workspace: Workspace) {
        guard !unportable.isEmpty else { return }
        let (noun, verb) = unportable.count == 1 ? ("value", "It is") : ("values", "They are")
        workspace.context.warn(
            "not-portable",
            "Parsers of .env files disagree about the \(noun) of \(VariableName.list(unportable)). "
                + "\(verb) written for motdotla/dotenv. \(remedy)")
    }

    func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try text.withBytes { try body($0.extracting(first: byteCount)) }
    }

    func write(to output: OutputStream) throws {
        try withBytes { try output.write($0) }
    }
}
