internal import Vault

/// What a rotation does not deploy: one deployment a project is built anew, and a record may be for more.
enum RotationLeftovers {
    /// The targets and custom environments of records that have deployments of their own, without the
    /// one that is built anew.
    static func targets(of records: [Variable], deployed: String?) -> [String] {
        let scopes = records.map(\.attributes.scope)
        let all =
            scopes.flatMap { $0.targets.subtracting(.development).names }
            + scopes.flatMap(\.customEnvironments)
        var seen: Set<String> = []
        return all.filter { $0 != deployed && seen.insert($0).inserted }
    }
}
