/// An item as written.
struct SpecItem {
    var key: String
    /// Counted from 1.
    var line: Int
    var value: SpecValue?
    /// Those above it, then those after its value.
    var decorators: [SpecDecorator] = []
    /// The text of the comments directly above it.
    var description: String?
}

/// The items and decorators of an env-spec file, by where they stand.
struct SpecDocument {
    /// The most items.
    static let maximumItems = 100_000

    /// Before the first item, and not attached to it.
    private(set) var header: [SpecDecorator] = []
    /// After the first item, and attached to none.
    private(set) var detached: [SpecDecorator] = []
    /// In the order of the file, with duplicates.
    private(set) var items: [SpecItem] = []

    private var blockDecorators: [SpecDecorator] = []
    private var blockText: [String] = []

    /// - Parameter bytes: UTF-8 without NUL, CR LF and byte order mark.
    /// - Throws: `schema-syntax` with the line that cannot be read.
    init(_ bytes: [UInt8]) throws(SchemaError) {
        var scanner = SpecScanner(bytes)
        while !scanner.isAtEnd { try readLine(&scanner) }
        endBlock()
    }

    private mutating func readLine(_ scanner: inout SpecScanner) throws(SchemaError) {
        let start = scanner.index
        if scanner.byte == UInt8(ascii: "#") {
            if scanner.isAtDivider {
                endBlock()
                scanner.skipLine()
            } else {
                switch try scanner.comment() {
                case .decorators(let decorators): blockDecorators += decorators
                case .text(let text): blockText.append(text)
                case nil: throw scanner.failure(at: start)
                }
            }
            guard scanner.endLine() else { throw scanner.failure(at: start) }
            return
        }
        scanner.skipBlanks()
        if scanner.endLine() {
            endBlock()
            return
        }
        scanner.index = start
        guard var item = try scanner.item() else { throw scanner.failure(at: start) }
        guard items.count < Self.maximumItems else {
            throw SchemaError(.tooLong, line: item.line)
        }
        item.decorators = blockDecorators + item.decorators
        let description = blockText.joined(separator: "\n")
        item.description = description.isEmpty ? nil : description
        items.append(item)
        blockDecorators = []
        blockText = []
    }

    /// Ends a block of comments that is not attached to an item.
    private mutating func endBlock() {
        if items.isEmpty { header += blockDecorators } else { detached += blockDecorators }
        blockDecorators = []
        blockText = []
    }
}
