package import Sealing

/// A project and the lists that a push or pull starts with, read together.
package struct ProjectReading {
    package let project: Project
    package let customEnvironments: [CustomEnvironment]
    /// Its variables, with the values of the plain ones.
    package let variables: VariableList<ReadEnvironmentVariable>
    /// The shared variables that it uses; nil outside of a team.
    package let sharedVariables: Result<[SharedVariable], VercelAPIError>?
    /// ``VercelClient/elapsed`` before the requests.
    package let elapsed: Duration
    /// ``VercelClient/pauseCount`` before the requests.
    package let pauseCount: Int
}

extension VercelClient {
    /// Reads a project and its lists in parallel, in one round trip.
    ///
    /// - Parameters:
    ///   - id: The project's id.
    ///   - arena: Receives the values that lists show.
    /// - Throws: The error of any call; that of the project first.
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
                cursor: "until")
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
