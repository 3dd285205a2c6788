internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// What the platform's records hold, for what depends on it: ending the old value, and leaving a value
/// there that somebody else set.
extension LiveRotationPlatform {
    func standing(_ member: Int) throws -> Result<RotationStanding, Failure> {
        let records = plan.members[member].records
        let index = try workspace.session.index(.everything)
        let variables = Dictionary(
            index.variables.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let arena = SecretArena()
        let listed: [String: PlatformRecord]
        var shown: [String: SecretSlice] = [:]
        let listedAt = workspace.context.now()
        do throws(VercelAPIError) {
            listed = try self.listed(member)
            let readable = records.compactMap { variables[$0.variable]?.remote?.id }
                .compactMap { listed[$0] }.filter { $0.attributes.kind != .sensitive }
            let read = try PlatformValues(
                client(member), project: plan.members[member].platformProject
            ).read(readable, into: arena, trustsEmpty: true)
            for (record, value) in zip(readable, read) { shown[record.id] = try value.get() }
        } catch {
            return .failure(try failure(of: error, .unavailable))
        }
        try keepSeen(Array(listed.values), listedAt, member)
        let (new, old) = (
            try values.value(.new, ofMember: member), try values.value(.old, ofMember: member)
        )
        let account = projects[member].access.account?.userID ?? ""
        let standings = records.map { record -> RotationStanding in
            guard let variable = variables[record.variable] else {
                return .unknown("the vault does not have \(plan.key) any more")
            }
            let found = variable.remote.flatMap { listed[$0.id] }
            let value = found.flatMap { shown[$0.id] }
            return RotationStanding(
                of: variable, found, shown: Self.shown(value, new: new, old: old),
                newVersion: record.newVersion, account: account)
        }
        return .success(.joined(standings))
    }

    /// Keeps what the platform was seen to have: `list` is not to call synced what was just seen to be changed.
    private func keepSeen(
        _ listed: [PlatformRecord], _ listedAt: UInt64, _ member: Int
    ) throws {
        let (project, client) = (plan.members[member].project, client(member))
        let session = workspace.session
        guard
            try session.index(.listing).learns(from: listed, listedAt: listedAt, of: project)
        else { return }
        try session.update(with: try session.keys(.index)) {
            $0.see(
                listed, listedAt: listedAt, platformTime: client.platformTime, of: project)
        }
    }

    /// The platform's records of a project, by their ids.
    private func listed(_ member: Int) throws(VercelAPIError) -> [String: PlatformRecord] {
        let (client, project) = (client(member), plan.members[member].platformProject)
        let listed = try client.environmentVariables(ofProject: project)
        let hasCustom = listed.contains { !$0.customEnvironmentIds.isEmpty }
        let names = CustomEnvironmentNames(
            hasCustom ? try client.customEnvironments(ofProject: project) : [])
        return Dictionary(
            listed.map { ($0.id, PlatformRecord($0, environments: names)) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func shown(
        _ value: SecretSlice?, new: SecretSlice?, old: SecretSlice?
    ) -> RotationStanding.Shown {
        guard let value else { return .hidden }
        if let new, value.equals(new) { return .new }
        if let old, value.equals(old) { return .old }
        return .other
    }
}
