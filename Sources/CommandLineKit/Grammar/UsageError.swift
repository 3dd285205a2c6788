/// An error in the arguments.
///
/// Neither the message nor the hint contains the value of an option or argument: it may be a secret
/// typed in the wrong place.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        case missingCommand, unknownCommand
        case unknownOption, missingValue, unexpectedValue, repeatedOption, conflictingOptions
        case missingArgument, unexpectedArgument
        case invalidValue, notUTF8
    }

    package let code: Code
    /// One sentence.
    package let message: String
    /// What to do about it.
    package let hint: String?
    /// The kind of words that the program knows for a missing argument.
    package let missing: DynamicCompletion?

    package init(
        _ code: Code, _ message: String, hint: String? = nil, missing: DynamicCompletion? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.missing = missing
    }

    package var description: String {
        hint.map { "\(message) \($0)" } ?? message
    }
}
