internal import DotEnv

/// Reads an example file: names, with the comments above them as descriptions.
///
/// Values only show what belongs there, whatever they look like: each is a placeholder.
struct PlainReader {
    private let bytes: [UInt8]
    private let notes = NoteList()
    /// The line of the next byte of a gap.
    private var line = 1
    private var description: [String] = []

    /// - Parameter bytes: UTF-8 without NUL, CR LF and byte order mark.
    /// - Throws: `schema-too-long` for a file with more than ``SpecDocument/maximumItems`` items.
    static func read(_ bytes: [UInt8]) throws(SchemaError) -> Schema {
        let source = unsafe bytes.span.bytes
        let file: DotEnvFile
        do throws(DotEnvError) {
            file = try DotEnvReader.read(source, as: .dotenv, diagnoses: false)
        } catch {
            throw SchemaError(.notText, line: error.position?.line)
        }
        guard file.entries.count <= SpecDocument.maximumItems else {
            throw SchemaError(
                .tooLong, line: file.entries[SpecDocument.maximumItems].position.line)
        }
        var reader = PlainReader(bytes: bytes)
        return reader.schema(of: file)
    }

    private mutating func schema(of file: DotEnvFile) -> Schema {
        var items: [SchemaItem] = []
        var places: [String: Int] = [:]
        var end = 0
        for entry in file.entries {
            readGap(end..<max(end, entry.extent.lowerBound))
            let rest = lineEnd(after: entry)
            end = rest.upperBound
            let item = item(entry, trailing: rest)
            line += bytes[min(entry.extent.lowerBound, end)..<end].count { $0 == 0x0A }
            if let place = places[item.key] {
                notes.add(.duplicateKey, key: item.key, line: item.line)
                items[place] = item
            } else {
                places[item.key] = items.count
                items.append(item)
            }
        }
        readGap(end..<bytes.count)
        return Schema(notation: .plain, items: items, notes: notes.sorted)
    }

    /// Returns what follows the value on its last line. The extent of an assignment is no use here:
    /// it may take in the comment of the next one.
    private func lineEnd(after entry: DotEnvEntry) -> Range<Int> {
        let value = entry.valueRange.clamped(to: 0..<bytes.count)
        var start = value.upperBound
        if value.lowerBound > 0, start < bytes.count, bytes[value.lowerBound - 1].isQuoteByte,
            bytes[start] == bytes[value.lowerBound - 1]
        {
            start += 1
        }
        var end = start
        while end < bytes.count, bytes[end] != 0x0A { end += 1 }
        return start..<end
    }

    private mutating func item(_ entry: DotEnvEntry, trailing: Range<Int>) -> SchemaItem {
        var item = SchemaItem(key: entry.key, line: entry.position.line)
        if !entry.hasPortableName { notes.add(.keyNotPortable, key: item.key, line: item.line) }
        var sink = PlainText()
        unsafe entry.decodeValue(in: bytes.span.bytes, into: &sink)
        if !sink.bytes.isEmpty {
            item.value = .placeholder(String(decoding: sink.bytes, as: UTF8.self))
            if Self.looksLikePattern(sink.bytes) {
                notes.add(.regexLike, key: item.key, line: item.line)
            }
        }
        let above = description.joined(separator: "\n")
        item.description = above.isEmpty ? comment(in: trailing) : above
        description = []
        return item
    }

    /// Returns the comment after a value. Without a blank before it, `#` may be of the value.
    private func comment(in range: Range<Int>) -> String? {
        var start = range.lowerBound
        while start < range.upperBound, bytes[start].isBlankByte { start += 1 }
        guard start < range.upperBound, bytes[start] == UInt8(ascii: "#"), start > 0,
            bytes[start - 1].isBlankByte || bytes[start - 1].isQuoteByte
        else { return nil }
        start += 1
        while start < range.upperBound, bytes[start].isBlankByte { start += 1 }
        let text = String(decoding: bytes[start..<range.upperBound], as: UTF8.self)
        return text.isEmpty ? nil : text
    }

    /// Reads the lines between two assignments.
    private mutating func readGap(_ range: Range<Int>) {
        var start = range.lowerBound
        // The rest of the line before belongs to its assignment.
        if start > 0, start < range.upperBound {
            start += 1
            line += 1
        }
        while start < range.upperBound {
            var end = start
            while end < range.upperBound, bytes[end] != 0x0A { end += 1 }
            let isWhole = end < range.upperBound || range.upperBound == bytes.count
            if isWhole { readLine(start..<end) }
            if end < range.upperBound { line += 1 }
            start = end + 1
        }
    }

    private mutating func readLine(_ range: Range<Int>) {
        switch PlainLine(bytes[range]).kind {
        case .blank, .divider: description = []
        case .comment(let text): description.append(text)
        case .commentedName(let name): notes.add(.commentedName, key: name, line: line)
        case .other:
            description = []
            notes.add(.lineIgnored, line: line)
        }
    }

    /// Whether a value holds `\d`, `\w` or `\s`, is `^…$`, or holds `(a|b)`. Another tool checks
    /// values against such patterns.
    private static func looksLikePattern(_ value: [UInt8]) -> Bool {
        if value.count > 1, value.first == UInt8(ascii: "^"), value.last == UInt8(ascii: "$") {
            return true
        }
        var previous: UInt8 = 0
        // How much of `(`, `|` and `)` was found, in this order.
        var found = 0
        for byte in value {
            switch byte {
            case UInt8(ascii: "d"), UInt8(ascii: "w"), UInt8(ascii: "s"):
                if previous == UInt8(ascii: "\\") { return true }
            case UInt8(ascii: "("): found = max(found, 1)
            case UInt8(ascii: "|"): found = found == 1 ? 2 : found
            case UInt8(ascii: ")"): if found == 2 { return true }
            default: break
            }
            previous = byte
        }
        return false
    }
}

/// Collects the bytes of a placeholder.
private struct PlainText: ByteSink {
    var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(contentsOf source: RawSpan) {
        unsafe source.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
}
