internal import DotEnv
internal import Sealing
internal import Vault

/// What still has the old value when a rotation has ended it: one deployment a project is built anew, and
/// a record may be for more; and other records may hold the same value.
enum RotationLeftovers {
    /// The previews beside the one that is built anew.
    private static let otherPreviews = "other previews"

    /// What scopes have deployments for, without the one that is built anew: targets and custom
    /// environments, and the previews beside one.
    static func targets(of scopes: [Scope], deployed: String?) -> [String] {
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
        let single = left.filter { $0 != "preview" && $0 != otherPreviews }
        var ways = single.map { "zg-env redeploy -p \(word: project) -t \(word: $0) --yes" }
        if single.count < left.count {
            ways.append(
                "zg-env deployment list -p \(word: project) -t preview, then zg-env redeploy ID for each"
            )
        }
        return "Build anew what is still used: \(ways.joined(separator: "; "))"
    }

    /// The records in use that hold a value and are not rotated, whatever their names: `KEY of PROJECT for
    /// PLACES`.
    static func copies(
        of value: SecretSlice, besides rotated: Set<Identifier>, in index: VaultIndex,
        _ reader: ValueReader
    ) throws -> [String] {
        let arena = SecretArena()
        let names = Dictionary(
            index.projects.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        return try index.variables.filter { $0.isLive && !rotated.contains($0.id) }
            .filter { try reader.currentValue(of: $0, in: arena)?.equals(value) ?? false }
            .map { name($0.name, names[$0.project] ?? "", $0.attributes.scope) }
            .sorted()
    }

    /// A record, for people.
    static func name(_ key: String, _ project: String, _ scope: Scope) -> String {
        "\(key) of \(project) for \(scope.description)"
    }

    /// The first of many, as the part of a sentence.
    static func list(_ names: [String]) -> String {
        names.prefix(10).joined(separator: "; ")
            + (names.count > 10 ? "; and \(names.count - 10) more" : "")
    }
}
