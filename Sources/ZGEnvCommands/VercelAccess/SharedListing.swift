internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// Shared variables of a team that a project uses: listed beside its own, never changed. The vault
/// does not store them; they come from the response cache.
struct SharedListing {
    private let variables: [SharedVariable]
    /// When they were requested, in milliseconds since 1970; nil if never.
    private let askedAt: UInt64?

    /// Reads the cached list of a project. Sends nothing; a failure leaves the list empty.
    init(of project: VaultProject, _ answers: VercelResponses?) {
        let kept: VercelResponses.Timed<[SharedVariable]>? = project.binding.flatMap {
            guard $0.teamID != nil else { return nil }
            return try? answers?.kept(.sharedVariables(project: $0.projectID), $0)
        }
        variables = (kept?.answer ?? []).sorted { ($0.key, $0.id) < ($1.key, $1.id) }
        askedAt = kept?.askedAt
    }

    init(_ variables: [SharedVariable], askedAt: UInt64?) {
        self.variables = variables
        self.askedAt = askedAt
    }

    /// Requests the shared variables of a team's project and caches them, for commands that contact
    /// Vercel anyway. A failure is only a warning.
    ///
    /// - Returns: The variables that the project uses; empty after a failure.
    @discardableResult
    static func keep(of bound: LinkedProject, _ workspace: Workspace) throws -> [SharedVariable] {
        guard let owner = bound.platform.teamID else { return [] }
        // By id, the key of the cached list, whatever the command used.
        let client = bound.access.client.scoped(to: .team(id: owner))
        let askedAt = bound.reading?.askedAt ?? workspace.context.now()
        do throws(VercelAPIError) {
            let found =
                if let read = bound.reading?.lists.sharedVariables {
                    try read.get()
                } else {
                    try client.sharedVariables(usedByProject: bound.platform.id)
                }
            keep(
                [(bound.platform.id, found)], client, bound.access.account, askedAt, workspace)
            return found.sorted { ($0.key, $0.id) < ($1.key, $1.id) }
        } catch {
            // A token of one project can never read them.
            if error.isDenial, bound.access.account?.onlyProjectID != nil { return [] }
            warn(error, workspace)
            return []
        }
    }

    /// Caches the shared variables of several projects with one request per team. Personal projects
    /// have none.
    static func keep(
        of projects: [VaultProject], _ access: VercelSession.Access, _ workspace: Workspace
    ) throws {
        let bindings = projects.compactMap(\.binding)
        for (team, bindings) in Dictionary(grouping: bindings, by: \.teamID) {
            guard let team else { continue }
            let client = access.client.scoped(to: .team(id: team))
            let ids = bindings.map(\.projectID)
            let askedAt = workspace.context.now()
            do throws(VercelAPIError) {
                let found = try client.sharedVariables(
                    usedByProject: ids.count == 1 ? ids.first : nil)
                let byProject = ids.map { id in
                    (id, ids.count == 1 ? found : found.filter { $0.projectIds.contains(id) })
                }
                keep(byProject, client, access.account, askedAt, workspace)
            } catch {
                if error.isDenial, access.account?.onlyProjectID != nil { continue }
                warn(error, workspace)
            }
        }
    }

    private static func keep(
        _ found: [(project: String, [SharedVariable])], _ client: VercelClient,
        _ account: Account?, _ askedAt: UInt64, _ workspace: Workspace
    ) {
        guard let keys = try? workspace.session.keys(.index) else { return }
        let answers = found.map { (ResponseKey.Subject.sharedVariables(project: $0), $1) }
        try? VercelResponses(workspace, keys: keys).keep(
            Dictionary(answers, uniquingKeysWith: { first, _ in first }),
            from: .init(client: client, account: account), askedAt: askedAt)
    }

    private static func warn(_ error: VercelAPIError, _ workspace: Workspace) {
        workspace.context.warn(
            "shared-not-refreshed",
            "Shared variables were not refreshed. \(CommandError(mapping: error).message)")
    }

    /// Returns the names of those that apply to an environment.
    func names(in place: ValueTarget) -> Set<String> {
        Set(
            variables.filter { variable in
                switch place.environment {
                case .target(let target):
                    !Set(variable.targets.map(\.rawValue)).isDisjoint(with: target.names)
                case .custom: variable.appliesToAllCustomEnvironments
                }
            }.map(\.key))
    }

    func filtered(_ isWanted: (SharedVariable) -> Bool) -> SharedListing {
        SharedListing(variables.filter(isWanted), askedAt: askedAt)
    }

    var isEmpty: Bool { variables.isEmpty }

    /// When they were requested, or null.
    var asOf: JSONValue { .time(orNull: askedAt.map { Int64(clamping: $0) }) }

    /// The variables in the form of `list --json`.
    var json: [JSONValue] {
        variables.map { variable in
            [
                "key": .string(variable.key), "type": .string(variable.type.rawValue),
                "targets": .strings(variable.targets.map(\.rawValue)), "customEnvironments": [],
                "branch": .null, "comment": .string(orNull: variable.comment), "version": .null,
                "createdAt": .time(orNull: variable.createdAt?.milliseconds),
                "updatedAt": .time(orNull: variable.updatedAt?.milliseconds), "sync": .null,
                "live": .null, "removed": false, "shared": true,
            ]
        }
    }

    /// Adds a row for each variable to a table.
    func append(to table: inout Table, now: UInt64) {
        for variable in variables {
            table.append([
                .init(variable.key),
                .init(variable.targets.map(\.rawValue).joined(separator: ", ")),
                .init(variable.type.rawValue),
                .init(
                    variable.updatedAt.map {
                        TimeText.age(of: $0.milliseconds, at: Int64(clamping: now))
                    } ?? "", as: .dim),
                "-", .init("shared", as: .dim),
            ])
        }
    }
}
