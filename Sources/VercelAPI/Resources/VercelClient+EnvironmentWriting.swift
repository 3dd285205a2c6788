internal import HTTPClient
internal import JSON

extension VercelClient {
    /// Creates variables in one request. Vercel accepts or rejects each by itself.
    ///
    /// - Parameters:
    ///   - isUpsert: Whether to change existing records of the same names and exactly the same
    ///     scopes.
    ///   - check: Called right before each attempt.
    /// - Returns: The records. Only reading them back shows that the values were stored as sent.
    /// - Throws: An error only if the result of the single variables is unknown.
    package func createEnvironmentVariables(
        _ new: [NewEnvironmentVariable], inProject project: String, isUpsert: Bool = false,
        check: SendCheck? = nil
    ) throws(VercelAPIError) -> EnvironmentVariableBatch {
        guard !new.isEmpty else { return EnvironmentVariableBatch(created: [], failed: []) }
        // An upsert is idempotent; a creation is not.
        var call = try APICall(
            .post, "/v10/projects/\(project)/env",
            query: [("upsert", isUpsert ? "true" : nil)], isRepeatable: isUpsert)
        call.check = check
        call.sent = new.map(\.value)
        call.names = Set(new.map(\.key) + new.compactMap(\.gitBranch))
        try call.writeBody { (json) throws(OutputError) in
            try json.array { (json) throws(OutputError) in
                for variable in new { try variable.write(to: &json) }
            }
        }
        do throws(VercelAPIError) {
            return try readBatch(try perform(call), call: call)
        } catch {
            guard !error.failedVariables.isEmpty else { throw error }
            return EnvironmentVariableBatch(created: [], failed: error.failedVariables)
        }
    }

    /// Changes a variable.
    ///
    /// - Parameter check: Called right before each attempt.
    /// - Returns: The new record, or nil if the response does not contain it.
    package func changeEnvironmentVariable(
        _ id: String, ofProject project: String, _ change: EnvironmentVariableChange,
        check: SendCheck? = nil
    ) throws(VercelAPIError) -> EnvironmentVariable? {
        var call = try APICall(.patch, "/v9/projects/\(project)/env/\(id)")
        call.check = check
        call.sent = [change.value].compactMap { $0 }
        call.names = Set([change.key, change.gitBranch ?? nil].compactMap { $0 })
        try call.writeBody { (json) throws(OutputError) in try change.write(to: &json) }
        let answer = try perform(call)
        return answer.response.body.withBytes {
            JSONDecoding.value(EnvironmentVariable.self, from: $0)
        }
    }

    /// Deletes a variable with all its targets. To remove one target, change the list of targets.
    ///
    /// - Parameter check: Called right before each attempt.
    package func deleteEnvironmentVariable(
        _ id: String, ofProject project: String, check: SendCheck? = nil
    ) throws(VercelAPIError) -> DeletionOutcome {
        var call = try APICall(.delete, "/v9/projects/\(project)/env/\(id)")
        call.check = check
        return try delete(call)
    }

    /// Deletes variables, up to 1000 per request.
    ///
    /// - Parameter check: Called right before each attempt.
    /// - Returns: The ids that Vercel reports as deleted.
    package func deleteEnvironmentVariables(
        _ ids: [String], ofProject project: String, check: SendCheck? = nil
    ) throws(VercelAPIError) -> [String] {
        var deleted: [String] = []
        var start = 0
        while start < ids.count {
            let part = Array(ids[start..<min(start + 1000, ids.count)])
            var call = try APICall(.delete, "/v1/projects/\(project)/env")
            call.check = check
            try call.writeObject { (json) throws(OutputError) in try json.member("ids", part) }
            deleted += try read(try perform(call), as: DeletedIds.self).ids
            start += part.count
        }
        return deleted
    }

    private func readBatch(
        _ answer: APIResult, call: APICall
    ) throws(VercelAPIError) -> EnvironmentVariableBatch {
        let body = try readCreated(answer, as: CreatedVariables.self)
        let secrets = secrets(of: call)
        return EnvironmentVariableBatch(
            created: body.created,
            failed: body.failed.map {
                FailedVariable($0, status: answer.response.status, secrets: secrets)
            })
    }
}

/// `{created: record | [records], failed: [{error}]}`.
private struct CreatedVariables: Decodable {
    let created: [EnvironmentVariable]
    let failed: [APIErrorBody]

    init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        guard object.contains("created") || object.contains("failed") else {
            created = [try EnvironmentVariable(from: decoder)]
            failed = []
            return
        }
        if let list: [EnvironmentVariable] = object.part("created") {
            created = list
        } else if object.contains("created"), try !object.decodeNil(forKey: "created") {
            created = [try object.decode(EnvironmentVariable.self, forKey: "created")]
        } else {
            created = []
        }
        failed = object.list("failed") ?? []
    }
}

/// `{deleted: n, ids: [...]}`; shared variables have the ids in `deleted`.
private struct DeletedIds: Decodable {
    let ids: [String]

    init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        guard let ids = object.part("ids", as: [String].self) ?? object.part("deleted") else {
            throw DecodingError.valueNotFound(
                [String].self, .init(codingPath: [], debugDescription: ""))
        }
        self.ids = ids
    }
}
