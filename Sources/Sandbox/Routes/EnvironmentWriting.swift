internal import JSON

/// Environment variables of a project: creating and changing.
enum EnvironmentWriting {
    /// Creates one record or a batch, whose items succeed or fail separately.
    static func create(_ call: Call, _ state: inout SandboxState) throws(APIError) -> HTTPAnswer {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let body = try call.request.json()
        let items = body.array ?? [body]
        guard !items.isEmpty else {
            throw .badRequest("Invalid request: the body should NOT have fewer than 1 items.")
        }
        guard items.count <= 1000 else {
            throw APIError(
                status: 400, code: "TOO_MANY_KEYS", message: "At most 1000 variables at once.")
        }
        var wanted: [EnvironmentVariable] = []
        for item in items { wanted.append(try record(item, project: project, call, &state)) }
        var written: [Written] = []
        var failures: [APIError] = []
        for (index, record) in wanted.enumerated() {
            do throws(APIError) {
                let isLast = index == wanted.count - 1
                if isLast, let rejection = call.rejection { throw rejection }
                if isLast, let silence = call.silence, !silence.keepsAll {
                    written.append(Written(shown: record, event: nil))
                    continue
                }
                written.append(try store(record, project: project, call, &state))
            } catch {
                var failure = error
                failure.details["envVarKey"] = .string(record.key)
                failure.details["key"] = .string(record.key)
                failures.append(failure)
            }
        }
        for record in written {
            guard let event = record.event else { continue }
            state.tell(event, [record.shown], by: state.user.id, at: call.now)
        }
        let records = written.map(\.shown)
        if let silence = call.silence {
            return silence.answer(records, isArray: body.array != nil)
        }
        let failed = try EnvironmentRules.failed(failures, isWhole: records.isEmpty)
        let answer: JSONValue =
            if body.array == nil, let first = records.first {
                first.json
            } else {
                .array(records.map(\.json))
            }
        return .json(["created": answer, "failed": failed], status: 201)
    }

    /// The result of an item.
    private struct Written {
        /// The record in the response, which a fault may have falsified.
        var shown: EnvironmentVariable
        /// The webhook event; `nil` if nothing was stored.
        var event: String?
    }

    /// Parses an item; a malformed one refuses the whole batch.
    private static func record(
        _ item: JSONValue, project: Project, _ call: Call, _ state: inout SandboxState
    ) throws(APIError) -> EnvironmentVariable {
        let fields = try Fields(item)
        guard fields.has("target") || fields.has("customEnvironmentIds") else {
            throw .badRequest(
                "Invalid request: missing required property `target` or `customEnvironmentIds`.")
        }
        if let visibility = try fields.string("visibility") {
            guard ["config", "secret"].contains(visibility) else {
                throw .badRequest("Invalid request: `visibility` should be config or secret.")
            }
        }
        let type = try type(try fields.requiredString("type"))
        return EnvironmentVariable(
            id: state.generator.identifier("", count: 16), projectId: project.id,
            key: try fields.requiredString("key"), value: try fields.requiredString("value"),
            type: type, targets: try fields.targets("target") ?? [],
            customEnvironmentIds: try fields.strings("customEnvironmentIds") ?? [],
            gitBranch: try fields.string("gitBranch", maximum: 250),
            comment: try fields.string("comment", maximum: 500), createdAt: call.now,
            updatedAt: call.now, createdBy: state.user.id, updatedBy: nil)
    }

    private static func type(_ word: String) throws(APIError) -> VariableType {
        guard let type = VariableType(rawValue: word) else {
            throw .badRequest(
                "Invalid request: `type` should be one of system, encrypted, plain, sensitive.")
        }
        return type
    }

    /// Stores a new record, or changes the one with the same scope for an upsert.
    private static func store(
        _ wanted: EnvironmentVariable, project: Project, _ call: Call, _ state: inout SandboxState
    ) throws(APIError) -> Written {
        var record = wanted
        let policy = state.sensitivePolicy(of: project)
        try EnvironmentRules.check(record, of: project, in: state)
        try EnvironmentRules.apply(policy: policy, to: &record)
        try EnvironmentRules.check(state.disjunctivePolicy(of: project), record, in: state)
        if call.request.flag("upsert"),
            let index = state.variables.firstIndex(where: {
                $0.projectId == project.id && $0.hasSameScope(as: record)
            })
        {
            let before = state.variables[index]
            var old = before
            guard !old.isSecret || [.sensitive, old.type].contains(record.type) else {
                throw EnvironmentRules.fixedType
            }
            old.value = record.value
            old.type = record.type
            old.comment = record.comment ?? old.comment
            old.updatedAt = call.now
            old.updatedBy = state.user.id
            try EnvironmentRules.checkCoexistence(of: old, in: state)
            let shown = write(&old, at: index, call, &state)
            let isOld = call.effect == .returnsOldRecord
            return Written(shown: isOld ? before : shown, event: "updated")
        }
        try EnvironmentRules.checkCoexistence(of: record, in: state)
        return Written(shown: write(&record, at: nil, call, &state), event: "created")
    }

    private static func write(
        _ record: inout EnvironmentVariable, at index: Int?, _ call: Call,
        _ state: inout SandboxState
    ) -> EnvironmentVariable {
        if call.effect == .forcesSensitive { record.type = .sensitive }
        record.visibility = record.isSecret ? "secret" : "config"
        var stored = record
        if call.effect == .storesEmpty { stored.value = "" }
        if call.effect == .dropsTarget {
            if stored.targets.isEmpty {
                stored.customEnvironmentIds = stored.customEnvironmentIds.dropLast()
            } else {
                stored.targets = stored.targets.dropLast()
            }
        }
        if let index {
            state.variables[index] = stored
        } else {
            state.variables.append(stored)
        }
        return record
    }

    /// Changes the members in the body; a list of targets replaces the whole list.
    static func update(_ call: Call, _ state: inout SandboxState) throws(APIError) -> HTTPAnswer {
        let index = try EnvironmentRoutes.variableIndex(call, state)
        let old = state.variables[index]
        guard let project = state.project(id: old.projectId) else { throw .notFound("Project") }
        let fields = try call.fields()
        try fields.allow(only: [
            "key", "value", "type", "target", "gitBranch", "customEnvironmentIds", "comment",
            "visibility",
        ])
        var record = old
        if fields.has("key") { record.key = try fields.requiredString("key") }
        if fields.has("value") { record.value = try fields.requiredString("value") }
        if let word = try fields.string("type") { record.type = try type(word) }
        if let targets = try fields.targets("target") { record.targets = targets }
        if let ids = try fields.strings("customEnvironmentIds") {
            record.customEnvironmentIds = ids
        }
        if fields.has("gitBranch") {
            record.gitBranch = try fields.string("gitBranch", maximum: 250)
        }
        if fields.has("comment") { record.comment = try fields.string("comment", maximum: 500) }
        record = try EnvironmentRules.accepted(record, insteadOf: old, of: project, in: state)
        if let rejection = call.rejection { throw rejection }
        record.updatedAt = call.now
        record.updatedBy = state.user.id
        let shown = write(&record, at: index, call, &state)
        state.tell("updated", [shown], by: state.user.id, at: call.now)
        return .json(call.effect == .returnsOldRecord ? old.json : shown.json)
    }
}
