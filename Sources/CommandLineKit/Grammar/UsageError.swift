/// Arguments that cannot be understood.
///
/// Neither the message nor the hint holds the value of an option or argument: it may be a secret
/// typed in the wrong place.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, for programs.
    package enum Code: String, Sendable, CaseIterable {
        case missingCommand, unknownCommand
        case unknownOption, missingValue, unexpectedValue, repeatedOption, conflictingOptions
        case missingArgument, unexpectedArgument
        case invalidValue, notUTF8
    }

    /// What is wrong, for programs.
    package let code: Code
    /// What is wrong, for people: one sentence.
    package let message: String
    /// What to do about it, when there is something to say.
    package let hint: String?

    /// Makes an error.
    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Message and hint.
    package var description: String {
        hint.map { "\(message) \($0)" } ?? message
    }
}
