/// The parts of a text between separators, without blanks around them and without empty ones.
struct SplitText {
    private var rest: ValueSlice
    private let separator: [UInt8]

    /// An empty separator parts nothing.
    init(_ text: ValueSlice, by separator: [UInt8]) {
        rest = text
        self.separator = separator
    }

    mutating func next() -> ValueSlice? {
        while !rest.isEmpty {
            let end = nextSeparator ?? rest.endIndex
            let part = rest[rest.startIndex..<end].trimmed
            rest = rest[min(end + separator.count, rest.endIndex)..<rest.endIndex]
            if !part.isEmpty { return part }
        }
        return nil
    }

    private var nextSeparator: Int? {
        guard let first = separator.first else { return nil }
        return rest.indices.first {
            rest[$0] == first && rest[$0..<rest.endIndex].starts(with: separator)
        }
    }
}
