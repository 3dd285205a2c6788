/// One positional argument of a command.
package struct ArgumentSpec: Sendable, Equatable {
    /// How many words an argument takes.
    package enum Arity: Sendable, Equatable {
        /// Exactly one.
        case one
        /// One or none.
        case optional
        /// One or more.
        case oneOrMore
        /// Any number.
        case zeroOrMore
        /// All after `--`, untouched, at least one. Only as the last argument.
        case restAfterDashes
    }

    /// Name in help, in capitals, as in `KEY`.
    package let name: String
    /// How many words it takes.
    package let arity: Arity
    /// One line of help, without full stop.
    package let summary: String
    /// What each word must look like.
    package let form: ValueForm
    /// Whether an empty word is meant as one; otherwise it is a usage error.
    package let allowsEmpty: Bool
    /// What shells offer.
    package let completion: Completion

    /// Describes an argument.
    package init(
        _ name: String, _ arity: Arity = .one, _ summary: String, form: ValueForm = .text,
        allowsEmpty: Bool = false, completion: Completion? = nil
    ) {
        self.name = name
        self.arity = arity
        self.summary = summary
        self.form = form
        self.allowsEmpty = allowsEmpty
        self.completion =
            completion ?? (arity == .restAfterDashes ? .command : OptionSpec.completion(of: form))
    }

    /// How help spells it, as in `[KEY...]`.
    package var usage: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)..."
        case .zeroOrMore: "[\(name)...]"
        case .restAfterDashes: "-- \(name)"
        }
    }

    /// Fewest words it takes.
    var minimum: Int {
        switch arity {
        case .one, .oneOrMore, .restAfterDashes: 1
        case .optional, .zeroOrMore: 0
        }
    }

    /// Whether the number of words is not bounded.
    var isVariadic: Bool { arity == .oneOrMore || arity == .zeroOrMore }
}
