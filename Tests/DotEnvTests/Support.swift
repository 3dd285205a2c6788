import DotEnv
import Foundation

/// A sink that keeps its input, for tests only.
struct CollectingSink: ByteSink {
    var bytes: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(contentsOf added: RawSpan) {
        unsafe added.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
}

/// A name and its value; nil stands for a name alone.
struct Pair: Hashable, CustomStringConvertible {
    let key: String
    let value: String?

    init(_ key: String, _ value: String?) {
        self.key = key
        self.value = value
    }

    // Strings that look the same are equal; this compares bytes.
    static func == (left: Pair, right: Pair) -> Bool {
        left.key.utf8.elementsEqual(right.key.utf8)
            && left.value.map { Array($0.utf8) } == right.value.map { Array($0.utf8) }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(Array(key.utf8))
    }

    var description: String { "\(key.debugDescription): \(value?.debugDescription ?? "null")" }
}

/// U+FFFE, which the compiler does not accept in a literal.
let nonCharacter = String(decoding: [0xEF, 0xBF, 0xBE] as [UInt8], as: UTF8.self)

/// Calls `body` with the bytes of an array.
func withSpan<R, E: Error>(_ bytes: [UInt8], _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe bytes.span.bytes)
}

func read(
    _ text: String, as dialect: DotEnvDialect = .dotenv
) throws(DotEnvError) -> DotEnvFile {
    try withSpan(Array(text.utf8)) { (span) throws(DotEnvError) in
        try DotEnvReader.read(span, as: dialect)
    }
}

/// Every assignment of a text with its decoded value.
func pairs(_ text: String, as dialect: DotEnvDialect = .dotenv) throws(DotEnvError) -> [Pair] {
    let file = try read(text, as: dialect)
    return withSpan(Array(text.utf8)) { span in
        file.entries.map { entry in
            var sink = CollectingSink()
            entry.decodeValue(in: span, into: &sink)
            return Pair(entry.key, sink.text)
        }
    }
}

/// The pairs that count: the last of each name.
func effective(_ pairs: [Pair]) -> Set<Pair> {
    var values: [[UInt8]: Pair] = [:]
    for pair in pairs { values[Array(pair.key.utf8)] = pair }
    return Set(values.values)
}

/// The codes of a text's diagnostics, in order.
func codes(_ text: String, as dialect: DotEnvDialect = .dotenv) throws(DotEnvError) -> [String] {
    try read(text, as: dialect).diagnostics.map(\.code.rawValue)
}

/// The error of a call, or nil.
func failure(_ body: () throws(DotEnvError) -> Void) -> DotEnvError? {
    do throws(DotEnvError) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// Writes variables with verification and returns the text.
func written(
    _ values: [(String, [UInt8])], as format: DotEnvFormat, for dialect: DotEnvDialect? = nil,
    secretName: String = "env"
) throws(DotEnvError) -> String {
    let writer = DotEnvWriter(format, for: dialect, secretName: secretName)
    let keys = values.map(\.0)
    let lend: DotEnvWriter.Lender = { index, body in withSpan(values[index].1) { body($0) } }
    var memory = [UInt8](repeating: 0, count: try writer.length(keys, lending: lend))
    let count = try withMutableSpan(&memory) { (target) throws(DotEnvError) in
        try writer.writeVerified(keys, into: &target, lending: lend)
    }
    return String(decoding: memory.prefix(count), as: UTF8.self)
}

func written(
    _ values: KeyValuePairs<String, String>, as format: DotEnvFormat,
    for dialect: DotEnvDialect? = nil
) throws(DotEnvError) -> String {
    try written(values.map { ($0.key, Array($0.value.utf8)) }, as: format, for: dialect)
}

/// The names whose values have no form that all parsers read alike.
func unportable(
    _ values: KeyValuePairs<String, String>, for dialect: DotEnvDialect?
) -> [String] {
    let bytes = values.map { Array($0.value.utf8) }
    return DotEnvWriter(.dotenv, for: dialect).unportableKeys(
        values.map(\.key), lending: { index, body in withSpan(bytes[index]) { body($0) } })
}

func withMutableSpan<R, E: Error>(
    _ bytes: inout [UInt8], _ body: (inout MutableRawSpan) throws(E) -> R
) throws(E) -> R {
    var span = bytes.mutableSpan
    var target = unsafe span.mutableBytes
    return try body(&target)
}

/// Merges variables into a text with verification and returns the new text.
func merged(
    _ values: KeyValuePairs<String, String>, into text: String,
    as dialect: DotEnvDialect = .dotenv
) throws(DotEnvError) -> String {
    let keys = values.map(\.key)
    let bytes = values.map { Array($0.value.utf8) }
    let lend: DotEnvWriter.Lender = { index, body in withSpan(bytes[index]) { body($0) } }
    return try withSpan(Array(text.utf8)) { (source) throws(DotEnvError) in
        let document = try DotEnvDocument(source, as: dialect)
        let length = try document.mergedLength(keys, from: source, lending: lend)
        var memory = [UInt8](repeating: 0, count: length)
        let count = try withMutableSpan(&memory) { (target) throws(DotEnvError) in
            try document.mergeVerified(keys, from: source, into: &target, lending: lend)
        }
        return String(decoding: memory.prefix(count), as: UTF8.self)
    }
}

/// The values of a text after expansion, in order.
func expanded(
    _ text: String, as dialect: DotEnvDialect = .dotenv
) throws(DotEnvError) -> [String] {
    let file = try read(text, as: dialect)
    return try withSpan(Array(text.utf8)) { (span) throws(DotEnvError) in
        let expansion = try DotEnvExpansion(file, in: span)
        return file.entries.indices.map { index in
            var sink = CollectingSink()
            expansion.expandValue(of: index, in: span, into: &sink)
            return sink.bytes.count == expansion.expandedLength(of: index)
                ? sink.text : "wrong length"
        }
    }
}

/// Every assignment of a text with its value after expansion.
func expandedPairs(
    _ text: String, as dialect: DotEnvDialect
) throws(DotEnvError) -> [Pair] {
    let keys = try read(text, as: dialect).entries.map(\.key)
    return zip(keys, try expanded(text, as: dialect)).map { Pair($0, $1) }
}

/// Every assignment as a program that follows the dialect reads it.
func expandedOrPlain(
    _ text: String, as dialect: DotEnvDialect
) throws(DotEnvError) -> [Pair] {
    dialect.expands ? try expandedPairs(text, as: dialect) : try pairs(text, as: dialect)
}

/// A seeded generator, so that a failure can be repeated.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed &* 2 | 1
    }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

/// The directories of the tests and their reference data.
enum Places {
    static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    static let package = tests.deletingLastPathComponent().deletingLastPathComponent()
}
