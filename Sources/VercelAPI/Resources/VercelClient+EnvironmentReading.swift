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

extension VercelClient {
    /// Lists the variables of a project, without values.
    package func environmentVariables(
        ofProject project: String
    ) throws(VercelAPIError) -> [EnvironmentVariable] {
        try list(try variablesCall(project), cursor: "until")
    }

    /// Lists the variables of several projects in parallel, without values.
    ///
    /// - Returns: One result for each project, in their order.
    package func environmentVariables(
        ofProjects projects: [String]
    ) throws(VercelAPIError) -> [Result<[EnvironmentVariable], VercelAPIError>] {
        let calls = try projects.map { project throws(VercelAPIError) in
            try variablesCall(project)
        }
        return perform(calls) { (place, answer) throws(VercelAPIError) in
            // The time of each list starts with its first page.
            try self.list(
                continuing: answer, of: calls[place], since: self.elapsed, cursor: "until")
        }
    }

    /// Lists the variables of a project with the values of the plain ones, the only ones in lists.
    package func environmentVariables(
        ofProject project: String, valuesInto arena: SecretArena
    ) throws(VercelAPIError) -> [ReadEnvironmentVariable] {
        let call = try variablesCall(project)
        let begin = session.waitingRoom.elapsed
        return try readVariables(
            continuing: try perform(call), of: call, since: begin, into: arena)
    }

    /// Reads the rest of such a list after its first page.
    func readVariables(
        continuing first: APIResult, of call: APICall, since begin: Duration,
        into arena: SecretArena
    ) throws(VercelAPIError) -> [ReadEnvironmentVariable] {
        var answer = first
        var found: [ReadEnvironmentVariable] = []
        var ids: Set<String> = []
        var cursors: Set<PageCursor> = []
        while true {
            let page = try read(answer, as: Page<EnvironmentVariable>.self)
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
            for (variable, value) in zip(page.elements, values)
            where ids.insert(variable.id).inserted {
                found.append(ReadEnvironmentVariable(variable: variable, value: value))
            }
            guard let next = page.next else { return found }
            guard cursors.insert(next).inserted, cursors.count < Paging.maximumPages else {
                throw VercelAPIError(
                    .malformedAnswer, reason: "the API returned a list without a last page")
            }
            answer = try perform(try nextPage(at: next, of: call, since: begin, cursor: "until"))
        }
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
