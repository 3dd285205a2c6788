package import Sealing
package import Vault

extension VaultTransaction {
    /// Brings the vault to what a plan says. Works while values are locked: they are sealed to the
    /// vault's public key.
    ///
    /// - Parameters:
    ///   - values: What the platform showed, by its ids.
    ///   - account: Through whom it was seen.
    ///   - time: This machine's clock, in milliseconds since 1970.
    ///   - platformTime: The platform's time when it was listed.
    /// - Throws: ``VaultError/Code/tooLarge`` for a value that the vault does not take.
    package mutating func apply(
        _ plan: PullPlan, of project: Identifier, values: [String: SecretSlice], account: String,
        time: UInt64, platformTime: UInt64
    ) throws(VaultError) {
        let positions = Dictionary(
            index.variables.enumerated().map { ($0.element.id, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        // A version number never names two values of a key.
        var highest: [String: UInt64] = [:]
        let removed = Set(plan.steps.filter { $0.action == .remove }.compactMap { $0.variable?.id })
        for variable in index.variables
        where variable.project == project && (!variable.isLive || removed.contains(variable.id)) {
            highest[variable.name] = max(highest[variable.name] ?? 0, variable.highestVersion)
        }
        var departures: [Departure] = []
        for step in plan.steps {
            guard let record = step.record else {
                guard let position = step.variable.flatMap({ positions[$0.id] }) else { continue }
                if step.action == .narrow {
                    rename(at: position, to: step.key, time: time)
                    index.variables[position].attributes.scope = step.attributes.scope
                    index.variables[position].updatedAt = time
                } else {
                    remove(at: position, time: time)
                    endRemote(at: position, by: platformTime)
                }
                continue
            }
            let position: Int
            if let known = step.variable {
                guard let found = positions[known.id] else { continue }
                position = found
                change(at: position, to: step, record, time)
            } else {
                var variable = Variable(
                    project: project, name: step.key, attributes: step.attributes, createdAt: time)
                variable.highestVersion = highest[step.key] ?? 0
                position = index.variables.count
                index.variables.append(variable)
            }
            if step.bringsValue, let value = values[record.id] {
                try value.withBytes { (bytes) throws(VaultError) in
                    _ = try store(bytes, forVariableAt: position, at: time)
                }
            }
            if let known = index.variables[position].remote,
                known.leavesProduction(with: record.attributes)
            {
                departures.append(Departure(of: known.key, known.agreed, by: record.updatedAt))
            }
            agree(at: position, record, account, staysBehind: step.staysBehind)
        }
        forget(plan.forgotten, by: platformTime)
        leaveTraces(of: departures, of: project, account: account, time: time)
        dropReturned(of: project)
    }

    private mutating func change(
        at position: Int, to step: PullPlan.Step, _ record: PlatformRecord, _ time: UInt64
    ) {
        rename(at: position, to: record.key, time: time)
        let isChanged =
            index.variables[position].attributes != step.attributes
            || index.variables[position].deletedAt != nil
        index.variables[position].attributes = step.attributes
        index.variables[position].deletedAt = nil
        if isChanged { index.variables[position].updatedAt = time }
    }

    private mutating func agree(
        at position: Int, _ record: PlatformRecord, _ account: String, staysBehind: Bool
    ) {
        let variable = index.variables[position]
        var remote = RemoteState(
            id: record.id, key: record.key, account: account,
            pushedVersion: variable.currentVersion, agreed: record.attributes,
            updatedAt: record.updatedAt, pushedAt: variable.remote?.pushedAt ?? 0)
        // The time of the value that both sides had: what was changed later is still to be decided.
        if staysBehind { remote.agreedUpdatedAt = variable.remote?.agreedUpdatedAt ?? 0 }
        index.variables[position].remote = remote
    }
}

extension PullPlan.Step {
    /// Tells whether a value of the platform goes into the vault.
    package var bringsValue: Bool {
        switch action {
        case .create(withValue: true), .update(withValue: true): true
        default: false
        }
    }
}
