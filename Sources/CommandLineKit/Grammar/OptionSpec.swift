/// An option of a command, or a global one.
package struct OptionSpec: Sendable, Equatable {
    /// The long name without dashes: lowercase ASCII letters, digits and hyphens.
    package let name: String
    /// The short name: an ASCII letter or digit.
    package let short: Character?
    /// The name of the value in help, in capitals; nil for a flag.
    package let valueName: String?
    /// One line of help, imperative, without a full stop.
    package let summary: String
    /// The required form of the value.
    package let form: ValueForm
    /// Whether several different values may be given.
    package let isRepeatable: Bool
    /// Whether a value is a comma-separated list.
    package let isCommaSeparated: Bool
    /// Whether the value may be empty; otherwise that is a usage error, which catches unset
    /// variables in scripts.
    package let allowsEmpty: Bool
    /// The environment variable that sets the option. Shown in help; the caller reads it.
    package let environmentVariable: String?
    /// Whether help, manual pages and completions omit it.
    package let isHidden: Bool
    package let completion: Completion

    /// Creates an option with a value.
    package init(
        _ name: String, short: Character? = nil, value valueName: String, _ summary: String,
        form: ValueForm = .text, repeatable: Bool = false, commaSeparated: Bool = false,
        allowsEmpty: Bool = false, environment: String? = nil, hidden: Bool = false,
        completion: Completion? = nil
    ) {
        self.name = name
        self.short = short
        self.valueName = valueName
        self.summary = summary
        self.form = form
        self.isRepeatable = repeatable
        self.isCommaSeparated = commaSeparated
        self.allowsEmpty = allowsEmpty
        self.environmentVariable = environment
        self.isHidden = hidden
        self.completion = completion ?? Self.completion(of: form)
    }

    /// Creates a flag.
    package init(
        flag name: String, short: Character? = nil, _ summary: String, environment: String? = nil,
        hidden: Bool = false
    ) {
        self.name = name
        self.short = short
        self.valueName = nil
        self.summary = summary
        self.form = .text
        self.isRepeatable = true
        self.isCommaSeparated = false
        self.allowsEmpty = false
        self.environmentVariable = environment
        self.isHidden = hidden
        self.completion = .nothing
    }

    package var isFlag: Bool { valueName == nil }

    package var dashedName: String { "--\(name)" }

    /// The notation in help, such as `-t, --target T`.
    package var usage: String {
        let letter = short.map { "-\($0), " } ?? ""
        return letter + dashedName + (valueName.map { " \($0)" } ?? "")
    }

    static func completion(of form: ValueForm) -> Completion {
        if case .oneOf(let words) = form { .words(words) } else { .nothing }
    }
}
