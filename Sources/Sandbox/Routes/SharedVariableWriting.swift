internal import JSON

/// Variables of a team: creating and changing.
enum SharedVariableWriting {
    static func create(_ call: Call, _ state: inout SandboxState) throws(APIError) -> HTTPAnswer {
        guard state.team(id: call.ownerId) != nil else {
            throw .forbidden("Shared variables belong to a team.")
        }
        let fields = try call.fields()
        guard let items = fields.members["evs"]?.array, (1...50).contains(items.count) else {
            throw .badRequest("Invalid request: `evs` should have 1 to 50 items.")
        }
        let appliesToCustom = try fields.bool("applyToAllCustomEnvironments") ?? false
        let targets = try fields.targets("target") ?? []
        guard appliesToCustom || !targets.isEmpty else {
            throw EnvironmentRules.complaint(
                "MISSING_TARGET", "At least one environment is required.")
        }
        let type = try type(fields) ?? .encrypted
        let projectIds = try projectIds(fields, "projectId", call, state) ?? []
        var wanted: [SharedVariable] = []
        for item in items {
            let item = try Fields(item)
            wanted.append(
                SharedVariable(
                    id: state.generator.identifier("env_", count: 24), ownerId: call.ownerId,
                    key: try item.requiredString("key"), value: try item.requiredString("value"),
                    type: type, targets: targets, projectIds: projectIds,
                    appliesToCustomEnvironments: appliesToCustom,
                    comment: try item.string("comment", maximum: 500), createdAt: call.now,
                    updatedAt: call.now, createdBy: state.user.id, updatedBy: state.user.id))
        }
        var created: [JSONValue] = []
        var failures: [APIError] = []
        for (index, record) in wanted.enumerated() {
            do throws(APIError) {
                if index == wanted.count - 1, let rejection = call.rejection { throw rejection }
                try check(record, in: state)
                let (shown, stored) = spoiled(record, call.effect)
                state.sharedVariables.append(stored)
                created.append(shown.json(decrypted: false))
            } catch {
                failures.append(named(error, record))
            }
        }
        return try answer("created", created, failures, status: 201)
    }

    static func update(_ call: Call, _ state: inout SandboxState) throws(APIError) -> HTTPAnswer {
        let fields = try call.fields()
        try fields.allow(only: ["updates"])
        guard let updates = try fields.object("updates"), (1...50).contains(updates.members.count)
        else { throw .badRequest("Invalid request: `updates` should have 1 to 50 members.") }
        var updated: [JSONValue] = []
        var failures: [APIError] = []
        for (id, change) in updates.members.sorted(by: { $0.key < $1.key }) {
            do throws(APIError) {
                if updated.isEmpty, failures.isEmpty, let rejection = call.rejection {
                    throw rejection
                }
                let index = try SharedVariableRoutes.index(id, call, state)
                var record = state.sharedVariables[index]
                try apply(try Fields(change), to: &record, call, state)
                try check(record, in: state)
                record.updatedAt = call.now
                record.updatedBy = state.user.id
                let (shown, stored) = spoiled(record, call.effect)
                state.sharedVariables[index] = stored
                updated.append(shown.json(decrypted: false))
            } catch {
                var failure = error
                failure.details["envVarId"] = .string(id)
                failures.append(failure)
            }
        }
        return try answer("updated", updated, failures, status: 200)
    }

    private static func apply(
        _ fields: Fields, to record: inout SharedVariable, _ call: Call, _ state: SandboxState
    ) throws(APIError) {
        try fields.allow(only: [
            "key", "value", "target", "projectId", "projectIdUpdates", "type", "comment",
        ])
        if let key = try fields.string("key") { record.key = key }
        if let value = try fields.string("value") { record.value = value }
        if let targets = try fields.targets("target") { record.targets = targets }
        if let ids = try projectIds(fields, "projectId", call, state) { record.projectIds = ids }
        if let changes = try fields.object("projectIdUpdates") {
            let unlinked = try changes.strings("unlink") ?? []
            let linked = try projectIds(changes, "link", call, state) ?? []
            record.projectIds.removeAll { unlinked.contains($0) || linked.contains($0) }
            record.projectIds += linked
        }
        if let comment = try fields.string("comment", maximum: 500) { record.comment = comment }
        guard let type = try type(fields) else { return }
        guard record.type != .sensitive || type == .sensitive else {
            throw EnvironmentRules.fixedType
        }
        record.type = type
    }

    private static func type(_ fields: Fields) throws(APIError) -> VariableType? {
        switch try fields.string("type") {
        case nil: return nil
        case "encrypted": return .encrypted
        case "sensitive": return .sensitive
        default:
            throw .badRequest("Invalid request: `type` should be one of encrypted, sensitive.")
        }
    }

    private static func projectIds(
        _ fields: Fields, _ name: String, _ call: Call, _ state: SandboxState
    ) throws(APIError) -> [String]? {
        guard let ids = try fields.strings(name) else { return nil }
        let known = state.projects.filter { $0.ownerId == call.ownerId }.map(\.id)
        guard ids.allSatisfy(known.contains) else { throw .notFound("Project") }
        return ids
    }

    private static func check(_ record: SharedVariable, in state: SandboxState) throws(APIError) {
        try EnvironmentRules.check(key: record.key)
        try EnvironmentRules.check(value: record.value)
        try EnvironmentRules.check(type: record.type, targets: record.targets, in: state)
        let isTaken = state.sharedVariables.contains {
            $0.id != record.id && record.conflicts(with: $0)
        }
        guard !isTaken else {
            throw APIError(
                status: 409, code: "existing_key_and_target",
                message: "A variable with that name and target already exists.")
        }
    }

    /// Returns the record in the response and the stored one after a fault.
    private static func spoiled(_ record: SharedVariable, _ effect: Fault.Effect?)
        -> (shown: SharedVariable, stored: SharedVariable)
    {
        var shown = record
        if effect == .forcesSensitive { shown.type = .sensitive }
        var stored = shown
        if effect == .storesEmpty { stored.value = "" }
        if effect == .dropsTarget { stored.targets = stored.targets.dropLast() }
        return (shown, stored)
    }

    private static func named(_ error: APIError, _ record: SharedVariable) -> APIError {
        var failure = error
        failure.details["key"] = .string(record.key)
        failure.details["envVarKey"] = .string(record.key)
        failure.details["target"] = .strings(record.targets.map(\.rawValue))
        return failure
    }

    private static func answer(
        _ name: String, _ done: [JSONValue], _ failures: [APIError], status: Int
    ) throws(APIError) -> HTTPAnswer {
        let failed = try EnvironmentRules.failed(failures, isWhole: done.isEmpty)
        return .json(.members([name: .array(done), "failed": failed]), status: status)
    }
}
