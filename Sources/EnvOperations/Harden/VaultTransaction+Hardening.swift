package import Sealing
package import Vault

/// A variable to harden, with the value that both sides have.
package struct HardeningItem {
    package let candidate: HardeningPlan.Candidate
    /// Vercel's value, which the vault has or imports.
    package let value: SecretSlice

    package init(candidate: HardeningPlan.Candidate, value: SecretSlice) {
        self.candidate = candidate
        self.value = value
    }
}

/// A record changed since the plan was made.
package struct HardeningConflict: Error, Equatable {
    package let key: String
}

extension VaultTransaction {
    /// Imports Vercel's values of records without a value in the vault.
    ///
    /// - Parameters:
    ///   - account: The account that read them.
    ///   - time: Milliseconds since 1970 by this machine's clock.
    /// - Throws: ``HardeningConflict``, and sealing errors.
    package mutating func importValues(
        _ items: [HardeningItem], of project: Identifier, account: String, time: UInt64
    ) throws {
        for item in items where item.candidate.lacksValue {
            let record = item.candidate.record
            let position: Int
            if let variable = item.candidate.variable {
                position = try unchanged(variable)
            } else {
                let isThere = index.variables.contains {
                    $0.project == project && $0.isLive && $0.name == record.key
                        && ($0.remote?.id == record.id
                            || $0.attributes.scope.overlaps(record.attributes.scope))
                }
                guard !isThere else { throw HardeningConflict(key: record.key) }
                position = add(record.key, record.attributes, of: project, at: time)
            }
            let version = try item.value.withBytes { bytes in
                try store(bytes, forVariableAt: position, at: time)
            }
            index.variables[position].remote = RemoteState(
                id: record.id, key: record.key, account: account, pushedVersion: version,
                agreed: record.attributes, updatedAt: record.updatedAt, pushedAt: time)
        }
    }

    /// Makes records sensitive, and creates a separate record for each part that stays readable.
    ///
    /// Both get the same time, by which a later run recognizes them. The values count as not sent,
    /// so that Vercel gets each together with the new type.
    ///
    /// - Parameter items: Records whose value the vault has, equal to Vercel's.
    /// - Returns: The records to send.
    /// - Throws: ``HardeningConflict``, and sealing errors.
    package mutating func harden(
        _ items: [HardeningItem], account: String, time: UInt64
    ) throws -> [Identifier] {
        var touched: [Identifier] = []
        for item in items {
            let record = item.candidate.record
            guard let variable = item.candidate.variable else {
                throw HardeningConflict(key: record.key)
            }
            let position = try unchanged(variable)
            let pushedAt = variable.remote?.pushedAt ?? 0
            index.variables[position].remote = RemoteState(
                id: record.id, key: record.key, account: account, pushedVersion: 0,
                agreed: record.attributes, updatedAt: record.updatedAt, pushedAt: pushedAt)
            if item.candidate.isPrepared {
                touched.append(variable.id)
                continue
            }
            let declaration = HardeningPlan.Declaration(
                variable: variable, hardened: item.candidate.hardened, rest: item.candidate.rest)
            touched += try split(declaration, at: position, item.value, time: time)
        }
        return touched
    }

    /// Makes records sensitive that already are on Vercel or do not exist there, and creates a
    /// separate record for each part that stays readable. The values count as not sent.
    ///
    /// - Parameter values: The values of the records, in their order.
    /// - Returns: The records to send.
    /// - Throws: ``HardeningConflict``, and sealing errors.
    package mutating func declare(
        _ items: [HardeningPlan.Declaration], values: [SecretSlice], time: UInt64
    ) throws -> [Identifier] {
        var touched: [Identifier] = []
        for (item, value) in zip(items, values) {
            let position = try unchanged(item.variable)
            index.variables[position].remote?.pushedVersion = 0
            touched += try split(item, at: position, value, time: time)
        }
        return touched
    }

    /// Makes a record sensitive, and adds one with the same value for the part that stays readable.
    ///
    /// - Returns: Both.
    private mutating func split(
        _ item: HardeningPlan.Declaration, at position: Int, _ value: SecretSlice, time: UInt64
    ) throws -> [Identifier] {
        index.variables[position].attributes.kind = .sensitive
        index.variables[position].attributes.scope = item.hardened
        index.variables[position].updatedAt = time
        if item.rest.isEmpty { return [item.variable.id] }
        var attributes = item.variable.attributes
        attributes.scope = item.rest
        let part = add(item.variable.name, attributes, of: item.variable.project, at: time)
        index.variables[part].rotationSeconds = item.variable.rotationSeconds
        try value.withBytes { bytes in
            _ = try store(
                bytes, as: item.variable.currentVersion, forVariablesAt: [part], at: time)
        }
        return [item.variable.id, index.variables[part].id]
    }

    /// Returns the position of a record that has not changed since the plan was made.
    private func unchanged(_ variable: Variable) throws -> Int {
        guard let position = position(of: variable.id),
            index.variables[position].attributes == variable.attributes,
            index.variables[position].currentVersion == variable.currentVersion,
            index.variables[position].name == variable.name,
            index.variables[position].isLive
        else { throw HardeningConflict(key: variable.name) }
        return position
    }
}
