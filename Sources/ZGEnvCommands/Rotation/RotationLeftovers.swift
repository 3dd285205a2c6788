internal import CommandLineKit
internal import Sealing
internal import Vault

/// Finds what still has the old value after a rotation has revoked it. A rotation redeploys one target
/// per project, but a record can apply to more, and other records can have the same value.
enum RotationLeftovers {
    /// Stands for the preview deployments that are not redeployed.
    private static let otherPreviews = "other previews"

    /// Returns the targets and custom environments of scopes, without the redeployed one, and
    /// `other previews` if not all of them are redeployed.
    static func targets(of scopes: [Scope], deployed: String?) -> [String] {
        let all =
            scopes.flatMap { $0.targets.subtracting(.development).names }
            + scopes.flatMap(\.customEnvironments)
        var left = all.filter { $0 != deployed }.unique(by: \.self)
        let branches = Set(
            scopes.filter { $0.targets.contains(.preview) }.map { $0.branch ?? "" })
        if deployed == "preview", branches.contains("") || branches.count > 1 {
            left.append(otherPreviews)
        }
        return left
    }

    /// Returns a sentence with the commands that redeploy what is left.
    static func remedy(_ left: [String], project: String) -> String {
        let single = left.filter { $0 != "preview" && $0 != otherPreviews }
        var ways = single.map { "zg-env redeploy -p \(word: project) -t \(word: $0) --yes" }
        if single.count < left.count {
            ways.append(
                "zg-env deployment list -p \(word: project) -t preview, then zg-env redeploy ID for each"
            )
        }
        return
            "Redeploy the deployments that are still in use with: \(ways.joined(separator: "; "))"
    }

    /// Returns the live records with a value that are not rotated, whatever their names, as
    /// `KEY in PROJECT for SCOPE`.
    static func copies(
        of value: SecretSlice, besides rotated: Set<Identifier>, in index: VaultIndex,
        _ reader: ValueReader
    ) throws -> [String] {
        let arena = SecretArena()
        let projects = index.projects.keyed(by: \.id)
        return try index.variables.filter { $0.isLive && !rotated.contains($0.id) }
            .filter { try reader.currentValue(of: $0, in: arena)?.equals(value) ?? false }
            .map { name($0.name, projects[$0.project]?.name ?? "", $0.attributes.scope) }
            .sorted()
    }

    /// Returns the description of a record.
    static func name(_ key: String, _ project: String, _ scope: Scope) -> String {
        "\(key) in \(project) for \(scope.description)"
    }

    /// Returns up to ten names as part of a sentence.
    static func list(_ names: [String]) -> String {
        names.prefix(10).joined(separator: "; ")
            + (names.count > 10 ? "; and \(names.count - 10) more" : "")
    }
}
