package import Sealing
package import Vault
package import VercelAPI

/// Vercel's variables of one project.
package struct VercelPlatform: SyncPlatform {
    let client: VercelClient
    let project: String
    let environments: CustomEnvironmentNames

    /// - Parameter project: Vercel's id of the project.
    package init(_ client: VercelClient, project: String, environments: CustomEnvironmentNames) {
        (self.client, self.project, self.environments) = (client, project, environments)
    }

    package var traits: PlatformTraits {
        var traits = PlatformTraits()
        // The response to a larger request would take so long that it might be lost.
        (traits.creationLimit, traits.changeLimit) = (100, 100)
        // Vercel's maximum.
        traits.deletionLimit = 1_000
        return traits
    }

    package var elapsed: Duration { client.elapsed }
    package var pauseCount: Int { client.pauseCount }
    package var time: UInt64 { client.lastDate }

    package func list() throws(PlatformError) -> ListedRecords {
        try calling { () throws(VercelAPIError) in
            ListedRecords(
                try client.environmentVariables(ofProject: project), environments: environments)
        }
    }

    package func create(_ new: [OutgoingRecord]) throws(PlatformError) -> WrittenRecords {
        try calling { () throws(VercelAPIError) in
            let batch = try client.createEnvironmentVariables(
                newVariables(new), inProject: project)
            return written(batch.created, batch.failed)
        }
    }

    package func change(
        _ records: [OutgoingRecord], check: @escaping SendCheck
    ) throws(PlatformError) -> WrittenRecords {
        try calling { () throws(VercelAPIError) in
            if records.count > 1 {
                // Identifies the records by key and scope.
                let batch = try client.createEnvironmentVariables(
                    newVariables(records), inProject: project, isUpsert: true, check: own(check))
                return written(batch.created, batch.failed)
            }
            guard let record = records.first, let id = record.id,
                let answer = try client.changeEnvironmentVariable(
                    id, ofProject: project, change(to: record), check: own(check))
            else { return WrittenRecords() }
            return written([answer], [])
        }
    }

    /// An upsert changes the record of exactly that key and scope, and the type only to sensitive.
    package func canChangeTogether(
        _ before: VercelRecord, _ request: (key: String, attributes: VariableAttributes),
        among planned: some Sequence<VercelRecord>
    ) -> Bool {
        let scope = request.attributes.scope
        guard before.key == request.key, before.attributes.scope == scope,
            scope.customEnvironments.isEmpty,
            // An upsert cannot remove a comment.
            request.attributes.comment != nil || before.attributes.comment == nil
        else { return false }
        let (old, new) = (before.attributes.kind, request.attributes.kind)
        guard old == new || new == .sensitive && [.plain, .encrypted].contains(old) else {
            return false
        }
        return !planned.contains {
            $0.id != before.id && $0.key == request.key && $0.attributes.scope.overlaps(scope)
        }
    }

    package func delete(_ ids: [String], check: @escaping SendCheck) throws(PlatformError) {
        try calling { () throws(VercelAPIError) in
            if ids.count == 1 {
                _ = try client.deleteEnvironmentVariable(
                    ids[0], ofProject: project, check: own(check))
            } else {
                _ = try client.deleteEnvironmentVariables(
                    ids, ofProject: project, check: own(check))
            }
        }
    }

    package func values(
        of records: [VercelRecord], into arena: SecretArena,
        isExpected: @escaping (Int, SecretSlice) -> Bool
    ) throws(PlatformError) -> [Result<SecretSlice?, PlatformError>] {
        try calling { () throws(VercelAPIError) in
            try VercelValues(client, project: project)
                .read(records, into: arena, trustsEmpty: true, isExpected: isExpected)
        }.map { $0.mapError { PlatformError($0) } }
    }

    // MARK: Vercel's forms

    func newVariable(
        _ key: String, _ value: SecretSlice, _ attributes: VariableAttributes
    ) -> NewEnvironmentVariable {
        let scope = attributes.scope
        return NewEnvironmentVariable(
            key: key, value: value, type: .init(rawValue: attributes.kind.name),
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments.map { environments.id(of: $0) ?? $0 },
            comment: attributes.comment)
    }

    private func newVariables(_ records: [OutgoingRecord]) -> [NewEnvironmentVariable] {
        records.compactMap { new in new.value.map { newVariable(new.key, $0, new.attributes) } }
    }

    private func change(to record: OutgoingRecord) -> EnvironmentVariableChange {
        let scope = record.attributes.scope
        var change = EnvironmentVariableChange()
        if record.changesName { change.key = record.key }
        change.targets = scope.targets.names.map { .init(rawValue: $0) }
        change.customEnvironmentIds = scope.customEnvironments.map { environments.id(of: $0) ?? $0 }
        change.gitBranch = .some(scope.branch)
        change.comment = record.attributes.comment ?? ""
        change.value = record.value
        if record.value != nil || record.changesKind {
            change.type = .init(rawValue: record.attributes.kind.name)
        }
        return change
    }

    private func written(
        _ created: [EnvironmentVariable], _ failed: [FailedVariable]
    ) -> WrittenRecords {
        var written = WrittenRecords()
        written.records = created.map { VercelRecord($0, environments: environments) }
        written.refused = failed.map { ($0.key, $0.targets, PlatformError($0.error)) }
        return written
    }

    /// Calls Vercel's API.
    private func calling<Answer>(
        _ call: () throws(VercelAPIError) -> Answer
    ) throws(PlatformError) -> Answer {
        do throws(VercelAPIError) {
            return try call()
        } catch {
            throw PlatformError(error)
        }
    }

    /// Returns a check that throws what the client expects.
    private func own(_ check: @escaping SendCheck) -> VercelClient.SendCheck {
        { () throws(VercelAPIError) in
            do throws(PlatformError) {
                try check()
            } catch {
                throw error.cause ?? VercelAPIError(.notSent, reason: error.description)
            }
        }
    }
}
