package import Sealing
package import Vault

extension VaultTransaction {
    /// Applies a plan to the vault.
    ///
    /// - Parameters:
    ///   - values: The values that Vercel showed, by its ids.
    ///   - account: The account that read them.
    ///   - time: Milliseconds since 1970 by this machine's clock.
    ///   - vercelTime: Vercel's time of the listing.
    /// - Throws: ``VaultError/Code/tooLarge`` for a value that the vault cannot store.
    package mutating func apply(
        _ plan: PullPlan, of project: Identifier, values: [String: SecretSlice], account: String,
        time: UInt64, vercelTime: UInt64
    ) throws(VaultError) {
        let positions = Dictionary(
            firstOf: index.variables.enumerated().map { ($0.element.id, $0.offset) })
        var departures: [ProductionRemoval] = []
        for step in plan.steps {
            guard let record = step.record else {
                guard let position = step.variable.flatMap({ positions[$0.id] }) else { continue }
                if step.action == .narrow {
                    try rename(at: [position], to: step.key, time: time)
                    index.variables[position].attributes.scope = step.attributes.scope
                    index.variables[position].updatedAt = time
                } else {
                    remove(at: position, time: time)
                    endRemote(at: position, by: vercelTime)
                    // What Vercel has under a former name is the only one, and not to be deleted.
                    let id = index.variables[position].id
                    index.forgetOtherAgreements(of: project) { $0.variable == id }
                }
                continue
            }
            let position: Int
            if let known = step.variable {
                guard let found = positions[known.id] else { continue }
                position = found
                try change(at: position, to: step, record, time)
            } else {
                position = add(step.key, step.attributes, of: project, at: time)
            }
            if step.bringsValue, let value = values[record.id] {
                try value.withBytes { (bytes) throws(VaultError) in
                    _ = try store(bytes, forVariableAt: position, at: time)
                }
            }
            let known = index.variables[position].remote
            if let removal = known?.removal(with: record.attributes, by: record.updatedAt) {
                departures.append(removal)
            }
            agree(at: position, record, account, staysBehind: step.staysBehind)
        }
        for conflict in plan.kept {
            guard let variable = conflict.variable, let position = positions[variable.id] else {
                continue
            }
            if let record = conflict.record,
                let removal = variable.remote?.removal(
                    with: record.attributes, by: record.updatedAt)
            {
                departures.append(removal)
            }
            keep(conflict, at: position, account)
        }
        forget(plan.forgotten, by: vercelTime)
        addTraces(of: departures, of: project, account: account, time: time)
        dropObsoleteTraces(of: project)
    }

    private mutating func change(
        at position: Int, to step: PullPlan.Step, _ record: VercelRecord, _ time: UInt64
    ) throws(VaultError) {
        try rename(at: [position], to: record.key, time: time)
        let isChanged =
            index.variables[position].attributes != step.attributes
            || index.variables[position].deletedAt != nil
        index.variables[position].attributes = step.attributes
        index.variables[position].deletedAt = nil
        if isChanged { index.variables[position].updatedAt = time }
    }

    /// Records Vercel's version as seen, so that the next push replaces it.
    private mutating func keep(_ conflict: PullConflict, at position: Int, _ account: String) {
        guard let record = conflict.record else {
            // The next push creates it again.
            index.variables[position].remote = nil
            return
        }
        agree(at: position, record, account, staysBehind: false)
        // Vercel's value is not one of the vault's versions.
        if conflict.isValueEqual != true { index.variables[position].remote?.pushedVersion = 0 }
    }

    private mutating func agree(
        at position: Int, _ record: VercelRecord, _ account: String, staysBehind: Bool
    ) {
        let variable = index.variables[position]
        var remote = RemoteState(
            id: record.id, key: record.key, account: account,
            pushedVersion: variable.currentVersion, agreed: record.attributes,
            updatedAt: record.updatedAt, pushedAt: variable.remote?.pushedAt ?? 0)
        // The time of the last common value: later changes are still undecided.
        if staysBehind { remote.agreedUpdatedAt = variable.remote?.agreedUpdatedAt ?? 0 }
        index.variables[position].remote = remote
        index.forgetOtherAgreements(of: variable.project) { $0.record == record.id }
    }
}

extension PullPlan.Step {
    /// Whether the step stores a value from Vercel.
    package var bringsValue: Bool {
        switch action {
        case .create(withValue: true), .update(withValue: true): true
        default: false
        }
    }
}
