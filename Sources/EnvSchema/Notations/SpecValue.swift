/// A value as an env-spec file writes it. Nothing in it is evaluated.
indirect enum SpecValue: Equatable {
    case text(SpecText)
    case call(SpecCall)
    case list([SpecValue])
    case object([SpecArgument])

    /// The outermost function that another tool would evaluate here, or nil for a literal. Also
    /// text such as `$KEY` is a function.
    var function: String? {
        switch self {
        case .text(let text): text.reference?.function
        case .call(let call): call.name
        case .list(let values): values.contains { $0.function != nil } ? "array" : nil
        case .object(let members): members.contains { $0.value.function != nil } ? "record" : nil
        }
    }

    /// The text of a literal, or nil for anything else.
    var literal: SpecText? {
        if case .text(let text) = self, text.reference == nil { text } else { nil }
    }
}

/// A function with its arguments.
struct SpecCall: Equatable {
    var name: String
    var arguments: [SpecArgument]
}

/// An argument of a function, or a member of an object.
struct SpecArgument: Equatable {
    var name: String?
    var value: SpecValue
}
