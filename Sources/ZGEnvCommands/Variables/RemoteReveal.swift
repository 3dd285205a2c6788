internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// `reveal --remote`: values on Vercel, including those of variables that are not in the vault.
///
/// The caller asks for the passphrase first, so that an unattended terminal with an open keyring
/// reveals nothing.
enum RemoteReveal {
    static let option = OptionSpec(flag: "remote", "Read the value from Vercel, not from the vault")

    /// Reads one value for each of `names` from Vercel.
    ///
    /// - Parameter place: Where the variables apply; nil for keys with only one record.
    /// - Throws: ``ExitCode/notFound`` for a key that is not on Vercel or cannot be read.
    static func values(
        of names: [String], in place: ValueTarget?, into arena: SecretArena,
        _ workspace: Workspace
    ) throws -> (project: String, values: [RevealedValue]) {
        let bound = try LinkedProject.inVault(workspace)
        let client = bound.access.client
        let environments = CustomEnvironmentNames(
            try client.customEnvironments(ofProject: bound.platform.id))
        let listed = ListedRecords(
            try client.environmentVariables(ofProject: bound.platform.id),
            environments: environments)
        let project = bound.local?.name ?? bound.platform.name
        let chosen = try names.map { try record($0, in: place, among: listed, project) }
        let answers = try VercelValues(client, project: bound.platform.id)
            .read(chosen, into: arena)
        let values = try zip(chosen, answers).map { record, answer in
            guard let value = try answer.get() else {
                throw CommandError(
                    .notFound,
                    "Vercel does not reveal the value of \(record.key)"
                        + (record.attributes.kind == .sensitive ? ": it is sensitive." : "."))
            }
            return RevealedValue(
                name: record.key, scope: record.attributes.scope, value: value, version: nil)
        }
        return (project, values)
    }

    private static func record(
        _ name: String, in place: ValueTarget?, among records: ListedRecords,
        _ project: String
    ) throws -> VercelRecord {
        let named = records.filter { $0.key == name }
        guard !named.isEmpty else {
            throw CommandError(
                .notFound,
                records.isComplete
                    ? "\(project) has no variable \(name) on Vercel."
                    : "Vercel lists no variable \(name) in \(project), but \(records.hidingClause)."
            )
        }
        let found = place.map { place in
            named.filter { $0.attributes.scope.applies(in: place) }
        }
        // A branch variable wins, as it does in a deployment.
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
                .usage, "\(name) has several values on Vercel: \(scopes).",
                hint: "Choose a target with -t, or a branch with -b.")
        }
        throw CommandError(
            .notFound,
            records.isComplete
                ? "\(name) is set on Vercel for \(scopes), but not for this target."
                : "\(name) is set on Vercel for \(scopes); it is not known whether it is set for others, because \(records.hidingClause)."
        )
    }
}
