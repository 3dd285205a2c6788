internal import CommandLineKit
internal import Vault

/// What a rotation does not deploy: one deployment a project is built anew, and a record may be for more.
enum RotationLeftovers {
    /// The previews beside the one that is built anew.
    private static let otherPreviews = "other previews"

    /// What records have deployments for, without the one that is built anew: targets and custom
    /// environments, and the previews beside one.
    static func targets(of records: [Variable], deployed: String?) -> [String] {
        let scopes = records.map(\.attributes.scope)
        let all =
            scopes.flatMap { $0.targets.subtracting(.development).names }
            + scopes.flatMap(\.customEnvironments)
        var seen: Set<String> = []
        var left = all.filter { $0 != deployed && seen.insert($0).inserted }
        let branches = Set(
            scopes.filter { $0.targets.contains(.preview) }.map { $0.branch ?? "" })
        if deployed == "preview", branches.contains("") || branches.count > 1 {
            left.append(otherPreviews)
        }
        return left
    }

    /// How what is left is built anew.
    static func remedy(_ left: [String], project: String) -> String {
        let name = DisplayText.safe(project)
        let single = left.filter { $0 != "preview" && $0 != otherPreviews }
        var ways = single.map { "zg-env redeploy -p \(name) -t \(DisplayText.safe($0)) --yes" }
        if single.count < left.count {
            ways.append(
                "zg-env deployment list -p \(name) -t preview, then zg-env redeploy ID for each")
        }
        return "Build anew what is still used: \(ways.joined(separator: "; "))"
    }
}
