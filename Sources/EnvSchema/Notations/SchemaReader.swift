/// Reads the variables that a file declares, in any of the notations.
///
/// Takes time in proportion to the size. Nothing in a file is executed, and nothing is opened here.
package enum SchemaReader {
    /// The longest file, in bytes.
    package static let maximumSize = 1 << 20
    /// The most files that a schema and its imports may ask for.
    package static let maximumImports = 64
    /// The deepest nesting of imports.
    package static let maximumImportDepth = 16
    /// The most bytes of all imported files together. Further imports are not followed.
    package static let maximumImportedSize = 8 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The bytes of the file.
    ///   - notation: Nil to find it from the name and the text.
    ///   - fileName: Only its end matters.
    ///   - target: Which profile of secretspec.toml to read: `production`, `preview`,
    ///     `development` or the slug of a custom environment. The other notations say in each item
    ///     where it is required.
    ///   - imports: Gives the files that an env-spec file imports.
    package static func read(
        _ text: [UInt8], notation: Schema.Notation? = nil, fileName: String,
        target: String? = nil, imports: any SchemaImports = NoSchemaImports()
    ) throws(SchemaError) -> Schema {
        let bytes = try normalized(text)
        switch notation ?? self.notation(ofNormalized: bytes, fileName: fileName) {
        case .envSpec: return try SpecReader(imports: imports).read(bytes)
        case .plain: return try PlainReader.read(bytes)
        case .secretspec: return try SecretspecReader.read(bytes, target: target)
        }
    }

    /// Returns the notation of a file. A text that no notation allows counts as plain.
    package static func notation(of text: [UInt8], fileName: String) -> Schema.Notation {
        let bytes = (try? normalized(text)) ?? []
        return notation(ofNormalized: bytes, fileName: fileName)
    }

    /// Returns the text without byte order mark and with LF for CR LF.
    static func normalized(_ text: [UInt8]) throws(SchemaError) -> [UInt8] {
        guard text.count <= maximumSize else { throw SchemaError(.tooLong) }
        guard isText(text.span) else { throw SchemaError(.notText) }
        var bytes = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text[3...]) : text
        guard bytes.contains(UInt8(ascii: "\r")) else { return bytes }
        var end = 0
        for index in bytes.indices {
            let isPair =
                bytes[index] == UInt8(ascii: "\r") && index + 1 < bytes.count
                && bytes[index + 1] == UInt8(ascii: "\n")
            if !isPair {
                bytes[end] = bytes[index]
                end += 1
            }
        }
        bytes.removeLast(bytes.count - end)
        return bytes
    }

    /// Whether the bytes are UTF-8 without NUL.
    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] == 0 { return false }
        return (try? UTF8Span(validating: bytes)) != nil
    }
}
