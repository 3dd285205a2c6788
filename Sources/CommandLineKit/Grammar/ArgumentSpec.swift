/// A positional argument of a command.
package struct ArgumentSpec: Sendable, Equatable {
    package enum Arity: Sendable, Equatable {
        case one
        case optional
        case oneOrMore
        case zeroOrMore
        /// One or more words after `--`, passed on unchanged. Only for the last argument.
        case restAfterDashes
    }

    /// The name in help, in capitals, such as `KEY`.
    package let name: String
    package let arity: Arity
    /// One line of help, without a full stop.
    package let summary: String
    /// The required form of each word.
    package let form: ValueForm
    /// Whether a word may be empty; otherwise that is a usage error.
    package let allowsEmpty: Bool
    package let completion: Completion

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

    /// The notation in help, such as `[KEY...]`.
    package var usage: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .oneOrMore: "\(name)..."
        case .zeroOrMore: "[\(name)...]"
        case .restAfterDashes: "-- \(name)"
        }
    }

    /// The minimum number of words.
    var minimum: Int {
        switch arity {
        case .one, .oneOrMore, .restAfterDashes: 1
        case .optional, .zeroOrMore: 0
        }
    }

    /// Whether the number of words is unbounded.
    var isVariadic: Bool { arity == .oneOrMore || arity == .zeroOrMore }
}
