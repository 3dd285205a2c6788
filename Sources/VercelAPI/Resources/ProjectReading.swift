package import Sealing

/// A project and the lists that a push or pull begins with, asked for at once.
package struct ProjectReading {
    /// The project.
    package let project: Project
    /// Its custom environments.
    package let customEnvironments: [CustomEnvironment]
    /// Its variables, with the values of the plain ones, which lists show.
    package let variables: [ReadEnvironmentVariable]
    /// The team's variables that it uses; nil outside of a team.
    package let sharedVariables: Result<[SharedVariable], VercelAPIError>?
    /// ``VercelClient/elapsed`` before they were asked for.
    package let elapsed: Duration
    /// ``VercelClient/pauseCount`` then.
    package let pauseCount: Int
}

extension VercelClient {
    /// Reads a project and its lists, of which each call needs one round trip, side by side.
    ///
    /// - Parameters:
    ///   - id: The project's id.
    ///   - arena: Takes the values that lists show.
    /// - Throws: What the calls throw one by one; that of the project first.
    package func projectReading(
        _ id: String, valuesInto arena: SecretArena
    ) throws(VercelAPIError) -> ProjectReading {
        let (elapsed, pauseCount) = (elapsed, pauseCount)
        var calls = try [
            projectCall(id), customEnvironmentsCall(id), variablesCall(id),
        ]
        if case .team = scope { calls.append(try sharedVariablesCall(id)) }
        let answers = perform(calls)
        let project = try read(try answers[0].get(), as: Project.self)
        func list<Element: ListElement>(
            _ place: Int, of type: Element.Type
        ) throws(VercelAPIError) -> [Element] {
            try self.list(
                continuing: try answers[place].get(), of: calls[place], since: elapsed,
                cursor: "until", limit: .max)
        }
        return ProjectReading(
            project: project,
            customEnvironments: try customEnvironments { () throws(VercelAPIError) in
                try list(1, of: CustomEnvironment.self)
            },
            variables: try readVariables(
                continuing: try answers[2].get(), of: calls[2], since: elapsed, into: arena),
            sharedVariables: answers.count > 3
                ? Result { () throws(VercelAPIError) in try list(3, of: SharedVariable.self) }
                : nil,
            elapsed: elapsed, pauseCount: pauseCount)
    }
}
