/// What may stand in the place of an argument or an option's value, for completion in shells.
package enum Completion: Sendable, Equatable {
    /// Nothing is offered.
    case nothing
    /// File names, by the shell.
    case file
    /// Directory names, by the shell.
    case directory
    /// These words. Others are allowed too; see ``ValueForm/oneOf(_:)`` for the contrary.
    case words([String])
    /// Words that the program finds when asked with `__complete KIND -- PREFIX`.
    case dynamic(DynamicCompletion)
    /// A command name, then its arguments, as for `sudo`.
    case command
}

/// A kind of words that only the running program knows.
package enum DynamicCompletion: String, Sendable, CaseIterable {
    case variable, project, target, deployment, account, team
}

/// What the text of an argument or option must look like, checked by ``ArgumentParser``.
package enum ValueForm: Sendable, Equatable {
    /// Any text.
    case text
    /// A whole number within the range.
    case integer(ClosedRange<Int>)
    /// A whole number and `s`, `m`, `h` or `d`; see ``DurationText``.
    case duration
    /// One of these words and no other.
    case oneOf([String])
}
