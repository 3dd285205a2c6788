internal import SyncPlan
internal import Vault

/// The targets of a project by the planner's numbers, the heaviest first.
struct TargetTable {
    private let targets: [ValueTarget]
    private let positions: [ValueTarget: Int]

    /// - Parameter scopes: All scopes of the project, on both sides.
    init(_ scopes: some Sequence<Scope>) {
        let fixed = Scope(targets: .all).valueTargets
        positions = Dictionary(
            uniqueKeysWithValues: Set(scopes.flatMap(\.valueTargets)).union(fixed)
                .sorted { Self.weight($0) < Self.weight($1) }.enumerated().map { ($1, $0) })
        targets = positions.sorted { $0.value < $1.value }.map(\.key)
    }

    var count: Int { targets.count }

    /// The rules of Vercel for records of these targets.
    var rules: VercelRules {
        VercelRules(
            production: target(ValueTarget(.target(.production))),
            development: target(ValueTarget(.target(.development))),
            branches: TargetSet(
                targets.indices.filter { targets[$0].branch != nil }.map(Target.init)))
    }

    /// All targets.
    var all: TargetSet { TargetSet(targets.indices.map(Target.init)) }

    /// What Vercel may hide: a token may lack access to production only.
    var production: TargetSet {
        TargetSet(
            targets.indices.filter { targets[$0].environment == .target(.production) }
                .map(Target.init))
    }

    private func target(_ value: ValueTarget) -> Target { Target(positions[value] ?? 0) }

    /// Returns those of a scope that the table has.
    func set(_ scope: Scope) -> TargetSet {
        TargetSet(scope.valueTargets.compactMap { positions[$0] }.map(Target.init))
    }

    /// Returns those in any of the environments of a scope, whatever their branch.
    func within(_ scope: Scope) -> TargetSet {
        let environments = Set(scope.valueTargets.map(\.environment))
        return TargetSet(
            targets.indices.filter { environments.contains(targets[$0].environment) }
                .map(Target.init))
    }

    /// Returns the scope of targets that one record can have: at most one branch.
    func scope(_ set: TargetSet) -> Scope {
        var scope = Scope(targets: [], branch: set.heaviest.flatMap { targets[$0.position].branch })
        for target in set { scope.formUnion(Scope(targets[target.position])) }
        return scope
    }

    /// Production comes first, then custom environments, preview and development.
    private static func weight(_ target: ValueTarget) -> (Int, String, String) {
        let rank =
            switch target.environment {
            case .target(.production): 0
            case .custom: 1
            case .target(.preview): 2
            case .target: 3
            }
        return (rank, target.name, target.branch ?? "")
    }
}
