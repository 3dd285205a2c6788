/// The words that shells offer for an argument or an option's value.
package enum Completion: Sendable, Equatable {
    case nothing
    /// File names, from the shell.
    case file
    /// Directory names, from the shell.
    case directory
    /// Suggestions. Other words are valid too, unlike with ``ValueForm/oneOf(_:)``.
    case words([String])
    /// Words that the program prints for `__complete KIND -- PREFIX`.
    case dynamic(DynamicCompletion)
    /// A command name, then that command's arguments, as for `sudo`.
    case command

    /// The kind of words that only the running program knows; nil for other completions.
    package var dynamicKind: DynamicCompletion? {
        if case .dynamic(let kind) = self { kind } else { nil }
    }
}

/// A kind of words that only the running program knows.
package enum DynamicCompletion: String, Sendable, CaseIterable {
    case variable, project, target, deployment, account, team
    /// Only what means the same deployment tomorrow.
    case deploymentID = "deployment-id"
}

/// The form of an argument or an option's value, checked by ``ArgumentParser``.
package enum ValueForm: Sendable, Equatable {
    case text
    case integer(ClosedRange<Int>)
    /// A whole number and `s`, `m`, `h` or `d`; see ``DurationText``.
    case duration
    case oneOf([String])
}
