internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// Reads what the records on Vercel contain, before the old value is revoked, and before a revert that
/// must not replace somebody else's value.
extension LiveRotationRemote {
    func standing(_ member: Int) throws -> Result<RotationRemoteValue, Failure> {
        let records = plan.members[member].records
        let index = try workspace.session.index(.everything)
        let variables = index.variables.keyed(by: \.id)
        let arena = SecretArena()
        let list: ListedRecords
        let listed: [String: VercelRecord]
        var shown: [String: SecretSlice] = [:]
        let listedAt = workspace.context.now()
        do throws(VercelAPIError) {
            list = try self.listed(member)
            listed = list.keyed(by: \.id)
            let readable = records.compactMap { variables[$0.variable]?.remote?.id }
                .compactMap { listed[$0] }.filter { $0.attributes.kind != .sensitive }
            let read = try VercelValues(
                client(member), project: plan.members[member].vercelProject
            ).read(readable, into: arena, trustsEmpty: true)
            for (record, value) in zip(readable, read) { shown[record.id] = try value.get() }
        } catch {
            return .failure(try failure(of: error, .unavailable))
        }
        // So that `list` does not show a changed variable as synced.
        try workspace.session.note(
            list, listedAt: listedAt, vercelTime: client(member).vercelTime,
            of: plan.members[member].project)
        let (new, old) = (
            try values.value(.new, ofMember: member), try values.value(.old, ofMember: member)
        )
        let account = projects[member].access.account?.knownUserID ?? ""
        let standings = records.map { record -> RotationRemoteValue in
            guard let variable = variables[record.variable] else {
                return .unknown("the vault no longer has \(plan.key)")
            }
            let found = variable.remote.flatMap { listed[$0.id] }
            if found == nil, !list.isComplete { return .unknown(list.hidingClause) }
            let value = found.flatMap { shown[$0.id] }
            return RotationRemoteValue(
                of: variable, found, shown: Self.shown(value, new: new, old: old),
                newVersion: record.newVersion, account: account)
        }
        return .success(.joined(standings))
    }

    /// Returns a project's records on Vercel.
    private func listed(_ member: Int) throws(VercelAPIError) -> ListedRecords {
        let (client, project) = (client(member), plan.members[member].vercelProject)
        let listed = try client.environmentVariables(ofProject: project)
        return try VercelRefresh.records(listed, of: project, client)
    }

    private static func shown(
        _ value: SecretSlice?, new: SecretSlice?, old: SecretSlice?
    ) -> RotationRemoteValue.Shown {
        guard let value else { return .hidden }
        if let new, value.equals(new) { return .new }
        if let old, value.equals(old) { return .old }
        return .other
    }
}
