internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// `reveal --remote`: the values that the platform has, also of variables that the vault does not hold.
///
/// The passphrase was asked for before: whoever finds a terminal with an open keyring reads no value.
enum RemoteReveal {
    static let option = OptionSpec(flag: "remote", "Ask the platform for the value, not the vault")

    /// Reads the values of `names` on the platform, one each.
    ///
    /// - Parameter place: Where the variables apply; nil for keys that have one record there.
    /// - Throws: ``ExitCode/notFound`` for a key that is not there, and for one whose value the platform
    ///   shows to nobody.
    static func values(
        of names: [String], in place: EffectiveVariables.Place?, into arena: SecretArena,
        _ workspace: Workspace
    ) throws -> (project: String, values: [RevealedValue]) {
        let bound = try BoundProject.inVault(workspace)
        let client = bound.access.client
        let environments = CustomEnvironmentNames(
            try client.customEnvironments(ofProject: bound.platform.id))
        let listed = try client.environmentVariables(ofProject: bound.platform.id).map {
            PlatformRecord($0, environments: environments)
        }
        let project = bound.local?.name ?? bound.platform.name
        let chosen = try names.map { try record($0, in: place, among: listed, project) }
        let answers = try PlatformValues(client, project: bound.platform.id)
            .read(chosen, into: arena)
        let values = try zip(chosen, answers).map { record, answer in
            guard let value = try answer.get() else {
                throw CommandError(
                    .notFound,
                    "The platform does not show the value of \(record.key)"
                        + (record.attributes.kind == .sensitive ? ": it is sensitive." : "."))
            }
            return RevealedValue(
                name: record.key, scope: record.attributes.scope, value: value, version: nil)
        }
        return (project, values)
    }

    private static func record(
        _ name: String, in place: EffectiveVariables.Place?, among records: [PlatformRecord],
        _ project: String
    ) throws -> PlatformRecord {
        let named = records.filter { $0.key == name }
        guard !named.isEmpty else {
            throw CommandError(
                .notFound,
                "The platform has no variable \(name) in \(project)."
            )
        }
        let found = place.map { place in
            named.filter { EffectiveVariables.applies($0.attributes.scope, in: place) }
        }
        // Those of a branch win there, as they do for a deployment.
        let candidates = found ?? named
        if let branch = candidates.first(where: { $0.attributes.scope.branch != nil }),
            found != nil
        {
            return branch
        }
        if candidates.count == 1 { return candidates[0] }
        let scopes = named.map { $0.attributes.scope.description }.sorted()
            .joined(separator: "; ")
        guard candidates.isEmpty else {
            throw CommandError(
                .usage, "\(name) has several values on the platform: \(scopes).",
                hint: "Name the one you mean with -t, or with -b for a branch.")
        }
        throw CommandError(
            .notFound,
            "The platform has \(name) for \(scopes), and none for that.")
    }
}
