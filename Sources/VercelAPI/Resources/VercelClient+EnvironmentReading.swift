internal import HTTPClient
internal import JSON
package import Sealing

/// The variables of a deployment or target.
package struct PulledEnvironment {
    /// The variables at run time. For a deployment these may only be keys that decrypt the rest.
    package let environment: [String: SecretSlice]
    /// The variables during the build.
    package let buildEnvironment: [String: SecretSlice]

    // Sensitive variables come as empty strings, so an empty value here proves nothing.
}

/// The variables of a project that Vercel lists to a token.
package struct VariableList<Element> {
    package internal(set) var variables: [Element] = []
    /// How many production variables Vercel left out because this token may not see them. Above 0,
    /// a variable that is not in the list may still exist.
    package internal(set) var hiddenProduction = 0

    package init(_ variables: [Element] = [], hiddenProduction: Int = 0) {
        (self.variables, self.hiddenProduction) = (variables, hiddenProduction)
    }

    /// Returns the list without values, or with other elements in place of these.
    package func map<Other>(_ transform: (Element) -> Other) -> VariableList<Other> {
        .init(variables.map(transform), hiddenProduction: hiddenProduction)
    }
}

extension VercelClient {
    /// Lists the variables of a project, without values.
    package func environmentVariables(
        ofProject project: String
    ) throws(VercelAPIError) -> VariableList<EnvironmentVariable> {
        let call = try variablesCall(project)
        let begin = elapsed
        return try listVariables(continuing: try perform(call), of: call, since: begin)
    }

    /// Lists the variables of several projects in parallel, without values.
    ///
    /// - Returns: One result for each project, in their order.
    package func environmentVariables(
        ofProjects projects: [String]
    ) throws(VercelAPIError) -> [Result<VariableList<EnvironmentVariable>, VercelAPIError>] {
        let calls = try projects.map { project throws(VercelAPIError) in
            try variablesCall(project)
        }
        return perform(calls) { (place, answer) throws(VercelAPIError) in
            // The time of each list starts with its first page.
            try self.listVariables(continuing: answer, of: calls[place], since: self.elapsed)
        }
    }

    /// Lists the variables of a project with the values of the plain ones, the only ones in lists.
    package func environmentVariables(
        ofProject project: String, valuesInto arena: SecretArena
    ) throws(VercelAPIError) -> VariableList<ReadEnvironmentVariable> {
        let call = try variablesCall(project)
        let begin = elapsed
        return try readVariables(
            continuing: try perform(call), of: call, since: begin, into: arena)
    }

    private func listVariables(
        continuing first: APIResult, of call: APICall, since begin: Duration
    ) throws(VercelAPIError) -> VariableList<EnvironmentVariable> {
        var list = VariableList<EnvironmentVariable>()
        var ids: Set<String> = []
        try forEachPage(continuing: first, of: call, since: begin, cursor: "until") {
            (page: Page<EnvironmentVariable>, _) throws(VercelAPIError) in
            list.hiddenProduction = max(list.hiddenProduction, page.hiddenCount)
            for variable in page.elements where ids.insert(variable.id).inserted {
                list.variables.append(variable)
            }
            return true
        }
        return list
    }

    /// Reads the rest of such a list after its first page.
    func readVariables(
        continuing first: APIResult, of call: APICall, since begin: Duration,
        into arena: SecretArena
    ) throws(VercelAPIError) -> VariableList<ReadEnvironmentVariable> {
        var found = VariableList<ReadEnvironmentVariable>()
        var ids: Set<String> = []
        try forEachPage(continuing: first, of: call, since: begin, cursor: "until") {
            (page: Page<EnvironmentVariable>, answer) throws(VercelAPIError) in
            let values = try scan(answer) { (body) throws(JSONError) in
                try SecretMembers.texts("value", ofList: "envs", of: body, into: arena) { place in
                    page.elements.indices.contains(place)
                        && page.elements[place].isValueReadable(inList: true)
                }
            }
            session.known.meet(values.compactMap { $0 })
            guard values.count == page.elements.count else {
                throw VercelAPIError(
                    .malformedAnswer,
                    reason: "the API returned an unexpected response")
            }
            found.hiddenProduction = max(found.hiddenProduction, page.hiddenCount)
            for (variable, value) in zip(page.elements, values)
            where ids.insert(variable.id).inserted {
                found.variables.append(ReadEnvironmentVariable(variable: variable, value: value))
            }
            return true
        }
        return found
    }

    /// Reads variables with their values in parallel.
    ///
    /// - Returns: One result for each, in their order.
    package func environmentVariables(
        _ variables: [(project: String, id: String)], valuesInto arena: SecretArena
    ) throws(VercelAPIError) -> [Result<ReadEnvironmentVariable, VercelAPIError>] {
        let calls = try variables.map { entry throws(VercelAPIError) in
            try APICall(.get, "/v1/projects/\(entry.project)/env/\(entry.id)")
        }
        return perform(calls) { (_, answer) throws(VercelAPIError) in
            try self.readVariable(answer, into: arena)
        }
    }

    /// Reads all variables of several targets in parallel, each with one request. Vercel does not
    /// document this call.
    ///
    /// - Parameter targets: `target` is `production`, `preview`, `development` or the name of a
    ///   custom environment; previews may have a branch.
    /// - Returns: One result for each, in their order.
    package func pulledEnvironments(
        _ targets: [(project: String, target: String, gitBranch: String?)],
        valuesInto arena: SecretArena
    ) throws(VercelAPIError) -> [Result<PulledEnvironment, VercelAPIError>] {
        let calls = try targets.map { entry throws(VercelAPIError) in
            guard let branch = entry.gitBranch else {
                return try APICall(.get, "/v3/env/pull/\(entry.project)/\(entry.target)")
            }
            return try APICall(.get, "/v3/env/pull/\(entry.project)/\(entry.target)/\(branch)")
        }
        return perform(calls) { (_, answer) throws(VercelAPIError) in
            try self.readPulled(answer, into: arena)
        }
    }

    /// Reads the variables that a deployment was created with.
    package func pulledEnvironment(
        ofDeployment id: String, valuesInto arena: SecretArena
    ) throws(VercelAPIError) -> PulledEnvironment {
        try readPulled(try perform(try APICall(.get, "/v3/env/pull/\(id)")), into: arena)
    }

    func variablesCall(_ project: String) throws(VercelAPIError) -> APICall {
        try APICall(.get, "/v10/projects/\(project)/env")
    }

    private func readVariable(
        _ answer: APIResult, into arena: SecretArena
    ) throws(VercelAPIError) -> ReadEnvironmentVariable {
        let variable = try read(answer, as: EnvironmentVariable.self)
        guard variable.isValueReadable(inList: false) else {
            return ReadEnvironmentVariable(variable: variable, value: nil)
        }
        let value = try scan(answer) { (body) throws(JSONError) in
            try SecretMembers.text("value", of: body, into: arena)
        }
        if let value { session.known.meet([value]) }
        return ReadEnvironmentVariable(variable: variable, value: value)
    }

    private func readPulled(
        _ answer: APIResult, into arena: SecretArena
    ) throws(VercelAPIError) -> PulledEnvironment {
        try scan(answer) { (body) throws(JSONError) in
            let environment = try SecretMembers.map("env", of: body, into: arena)
            let build = try SecretMembers.map("buildEnv", of: body, into: arena)
            guard environment != nil || build != nil else { throw .malformed }
            session.known.meet((environment ?? [:]).values)
            session.known.meet((build ?? [:]).values)
            return PulledEnvironment(
                environment: environment ?? [:], buildEnvironment: build ?? [:])
        }
    }
}
