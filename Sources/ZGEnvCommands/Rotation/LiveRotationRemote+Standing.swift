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
        let variables = Dictionary(
            index.variables.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let arena = SecretArena()
        let listed: [String: VercelRecord]
        var shown: [String: SecretSlice] = [:]
        let listedAt = workspace.context.now()
        do throws(VercelAPIError) {
            listed = try self.listed(member)
            let readable = records.compactMap { variables[$0.variable]?.remote?.id }
                .compactMap { listed[$0] }.filter { $0.attributes.kind != .sensitive }
            let read = try VercelValues(
                client(member), project: plan.members[member].vercelProject
            ).read(readable, into: arena, trustsEmpty: true)
            for (record, value) in zip(readable, read) { shown[record.id] = try value.get() }
        } catch {
            return .failure(try failure(of: error, .unavailable))
        }
        try recordSeen(Array(listed.values), listedAt, member)
        let (new, old) = (
            try values.value(.new, ofMember: member), try values.value(.old, ofMember: member)
        )
        let account = projects[member].access.account?.userID ?? ""
        let standings = records.map { record -> RotationRemoteValue in
            guard let variable = variables[record.variable] else {
                return .unknown("the vault no longer has \(plan.key)")
            }
            let found = variable.remote.flatMap { listed[$0.id] }
            let value = found.flatMap { shown[$0.id] }
            return RotationRemoteValue(
                of: variable, found, shown: Self.shown(value, new: new, old: old),
                newVersion: record.newVersion, account: account)
        }
        return .success(.joined(standings))
    }

    /// Records what Vercel has, so that `list` does not show a changed variable as synced.
    private func recordSeen(
        _ listed: [VercelRecord], _ listedAt: UInt64, _ member: Int
    ) throws {
        let (project, client) = (plan.members[member].project, client(member))
        let session = workspace.session
        guard
            try session.index(.listing).learns(from: listed, listedAt: listedAt, of: project)
        else { return }
        try session.update(with: try session.keys(.index)) {
            $0.see(
                listed, listedAt: listedAt, vercelTime: client.vercelTime, of: project)
        }
    }

    /// Returns a project's records on Vercel, by id.
    private func listed(_ member: Int) throws(VercelAPIError) -> [String: VercelRecord] {
        let (client, project) = (client(member), plan.members[member].vercelProject)
        let listed = try client.environmentVariables(ofProject: project)
        let hasCustom = listed.contains { !$0.customEnvironmentIds.isEmpty }
        let names = CustomEnvironmentNames(
            hasCustom ? try client.customEnvironments(ofProject: project) : [])
        return Dictionary(
            listed.map { ($0.id, VercelRecord($0, environments: names)) },
            uniquingKeysWith: { first, _ in first })
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
