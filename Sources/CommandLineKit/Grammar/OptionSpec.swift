/// One option of a command, or a global one.
package struct OptionSpec: Sendable, Equatable {
    /// Long name without the dashes; lower-case ASCII letters, digits and hyphens.
    package let name: String
    /// Letter after a single dash: an ASCII letter or digit.
    package let short: Character?
    /// Name of the value in help, in capitals; nil for a flag, which takes none.
    package let valueName: String?
    /// One line of help, imperative, without full stop.
    package let summary: String
    /// What the value must look like.
    package let form: ValueForm
    /// Whether several different values may be given.
    package let isRepeatable: Bool
    /// Whether commas part one value into several.
    package let isCommaSeparated: Bool
    /// Whether an empty value is meant as one. Otherwise it is a usage error, which catches the
    /// unset variable of a script.
    package let allowsEmpty: Bool
    /// Variable that stands in for the option. Shown in help; the caller reads it.
    package let environmentVariable: String?
    /// Whether help, man pages and completions leave it out.
    package let isHidden: Bool
    /// What shells offer for the value.
    package let completion: Completion

    /// Describes an option with a value.
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

    /// Describes a flag.
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

    /// Whether it takes no value.
    package var isFlag: Bool { valueName == nil }

    /// The long name with its dashes.
    package var dashedName: String { "--\(name)" }

    /// How help spells it, as in `-t, --target T`.
    package var usage: String {
        let letter = short.map { "-\($0), " } ?? ""
        return letter + dashedName + (valueName.map { " \($0)" } ?? "")
    }

    static func completion(of form: ValueForm) -> Completion {
        if case .oneOf(let words) = form { .words(words) } else { .nothing }
    }
}
