package import Sealing
package import Vault

/// A variable that is to become sensitive, with the value that both sides have.
package struct HardeningItem {
    /// What the plan says of it.
    package let candidate: HardeningPlan.Candidate
    /// The platform's value, which is the vault's too or becomes it.
    package let value: SecretSlice

    /// Names both.
    package init(candidate: HardeningPlan.Candidate, value: SecretSlice) {
        self.candidate = candidate
        self.value = value
    }
}

/// A record is not any more what was planned with.
package struct HardeningConflict: Error, Equatable {
    /// Its key.
    package let key: String
}

extension VaultTransaction {
    /// Takes the platform's values of records that the vault has no value of.
    ///
    /// - Parameters:
    ///   - account: Through whom they were read.
    ///   - time: This machine's clock, in milliseconds since 1970.
    /// - Throws: ``HardeningConflict``, and what sealing throws.
    package mutating func takeIn(
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
                position = append(record.key, record.attributes, of: project, time: time)
            }
            let version = try item.value.withBytes { bytes in
                try store(bytes, forVariableAt: position, at: time)
            }
            index.variables[position].remote = RemoteState(
                id: record.id, key: record.key, account: account, pushedVersion: version,
                agreed: record.attributes, updatedAt: record.updatedAt, pushedAt: time)
        }
    }

    /// Makes records sensitive, and makes a record of its own of each part that stays readable.
    ///
    /// Both get the same time, by which a later run knows them. The values count as not sent, so
    /// that the platform gets each together with the new type.
    ///
    /// - Parameter items: Of records that the vault has a value of, equal to the platform's.
    /// - Returns: The records that are to be sent.
    /// - Throws: ``HardeningConflict``, and what sealing throws.
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
            touched.append(variable.id)
            let pushedAt = variable.remote?.pushedAt ?? 0
            index.variables[position].remote = RemoteState(
                id: record.id, key: record.key, account: account, pushedVersion: 0,
                agreed: record.attributes, updatedAt: record.updatedAt, pushedAt: pushedAt)
            if item.candidate.isPrepared { continue }
            index.variables[position].attributes.kind = .sensitive
            index.variables[position].attributes.scope = item.candidate.hardened
            index.variables[position].updatedAt = time
            if item.candidate.rest.isEmpty { continue }
            var attributes = variable.attributes
            attributes.scope = item.candidate.rest
            let part = append(variable.name, attributes, of: variable.project, time: time)
            touched.append(index.variables[part].id)
            try item.value.withBytes { bytes in
                _ = try store(bytes, forVariableAt: part, at: time)
            }
        }
        return touched
    }

    /// Makes records sensitive that Vercel has so already, or has not, and makes a record of its own of each
    /// part that stays readable. The values count as not sent.
    ///
    /// - Parameter values: Of the records, in their order.
    /// - Returns: The records that are to be sent.
    /// - Throws: ``HardeningConflict``, and what sealing throws.
    package mutating func declare(
        _ items: [HardeningPlan.Declaration], values: [SecretSlice], time: UInt64
    ) throws -> [Identifier] {
        var touched: [Identifier] = []
        for (item, value) in zip(items, values) {
            let position = try unchanged(item.variable)
            touched.append(item.variable.id)
            index.variables[position].remote?.pushedVersion = 0
            index.variables[position].attributes.kind = .sensitive
            index.variables[position].attributes.scope = item.hardened
            index.variables[position].updatedAt = time
            if item.rest.isEmpty { continue }
            var attributes = item.variable.attributes
            attributes.scope = item.rest
            let part = append(
                item.variable.name, attributes, of: item.variable.project, time: time)
            touched.append(index.variables[part].id)
            try value.withBytes { bytes in
                _ = try store(bytes, forVariableAt: part, at: time)
            }
        }
        return touched
    }

    /// Where a record stands that is still what was planned with.
    private func unchanged(_ variable: Variable) throws -> Int {
        guard let position = position(of: variable.id),
            index.variables[position].attributes == variable.attributes,
            index.variables[position].currentVersion == variable.currentVersion,
            index.variables[position].name == variable.name,
            index.variables[position].isLive
        else { throw HardeningConflict(key: variable.name) }
        return position
    }

    /// Adds a record without a value. Its versions go on where a removed record of the key ended: a
    /// version number never names two values.
    private mutating func append(
        _ key: String, _ attributes: VariableAttributes, of project: Identifier, time: UInt64
    ) -> Int {
        var variable = Variable(
            project: project, name: key, attributes: attributes, createdAt: time)
        variable.highestVersion =
            index.variables.filter { $0.project == project && $0.name == key && !$0.isLive }
            .map(\.highestVersion).max() ?? 0
        index.variables.append(variable)
        return index.variables.count - 1
    }
}
