/// A decorator as written.
struct SpecDecorator: Equatable {
    enum Value: Equatable {
        /// `@name`, which means `@name=true`.
        case none
        /// `@name=value`.
        case value(SpecValue)
        /// `@name(…)`.
        case arguments([SpecArgument])
    }

    var name: String
    var value: Value
    /// Counted from 1.
    var line: Int
    /// Text follows that is neither decorator nor comment.
    var hasStrayText = false

    var isCall: Bool {
        if case .arguments = value { true } else { false }
    }

    /// The value of `@name=value`, and true for `@name`; nil for a call.
    var assigned: SpecValue? {
        switch value {
        case .none: .text(SpecText(content: "true", quote: .none))
        case .value(let value): value
        case .arguments: nil
        }
    }

    /// The note on a decorator that has no meaning in its place.
    ///
    /// - Parameter isKnownElsewhere: Whether it has one in a header or at an item instead.
    func unknownCode(isKnownElsewhere: Bool) -> SchemaNote.Code {
        if isProse { return .proseDecorator }
        guard name.utf8.allSatisfy(\.isNamePart) else { return .badDecoratorName }
        return isKnownElsewhere ? .misplacedDecorator : .unknownDecorator
    }

    /// Whether this is a word of prose that many write with `@`.
    private var isProse: Bool {
        var word = name.lowercased()
        if word.hasSuffix(":") { word.removeLast() }
        return word == "todo" || word == "see" || word == "note"
    }
}
