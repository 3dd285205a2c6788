internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// Shared (team) variables that a project uses: listed beside its own, never changed here. The vault
/// holds none of them; what is shown is what the platform last said.
struct SharedListing {
    private let variables: [SharedVariable]
    /// When the platform said so, in milliseconds since 1970; nil where it never did.
    private let askedAt: UInt64?

    /// What is kept of a project. Nothing is asked, and nothing stops a listing of the project's own.
    init(of project: VaultProject, _ answers: PlatformAnswers?) {
        let kept: PlatformAnswers.Timed<[SharedVariable]>? = project.binding.flatMap {
            guard $0.teamID != nil else { return nil }
            return try? answers?.kept(.sharedVariables(project: $0.projectID), $0)
        }
        variables = (kept?.answer ?? []).sorted { ($0.key, $0.id) < ($1.key, $1.id) }
        askedAt = kept?.askedAt
    }

    private init(_ variables: [SharedVariable], askedAt: UInt64?) {
        self.variables = variables
        self.askedAt = askedAt
    }

    /// Asks for the shared variables of a team's project and keeps the answer: for commands that see
    /// the platform anyway. That they cannot be had is told, and stops nothing.
    ///
    /// - Returns: Those that the project uses; none where they cannot be had.
    @discardableResult
    static func keep(of bound: BoundProject, _ workspace: Workspace) throws -> [SharedVariable] {
        guard let owner = bound.platform.accountId, owner.hasPrefix("team_") else { return [] }
        // By its id, as the listing looks for it, whatever it was called by just now.
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
            warn(error, workspace)
            return []
        }
    }

    /// The same for several projects of one team through one account: one list has the variables of
    /// all. Projects of no team have none.
    static func keep(
        of projects: [VaultProject], _ access: PlatformSession.Access, _ workspace: Workspace
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
                warn(error, workspace)
            }
        }
    }

    private static func keep(
        _ found: [(project: String, [SharedVariable])], _ client: VercelClient,
        _ account: Account?, _ askedAt: UInt64, _ workspace: Workspace
    ) {
        guard let keys = try? workspace.session.keys(.index) else { return }
        let answers = found.map { (AnswerAddress.Subject.sharedVariables(project: $0), $1) }
        try? PlatformAnswers(workspace, keys: keys).keep(
            Dictionary(answers, uniquingKeysWith: { first, _ in first }),
            from: .init(client: client, account: account), askedAt: askedAt)
    }

    private static func warn(_ error: VercelAPIError, _ workspace: Workspace) {
        workspace.context.warn(
            "shared-not-refreshed",
            "The shared variables were not refreshed. \(CommandError(mapping: error).message)")
    }

    /// The names of those that a program sees in one place.
    func names(in place: EffectiveVariables.Place) -> Set<String> {
        Set(
            variables.filter { variable in
                switch place.environment {
                case .target(let target):
                    !Set(variable.targets.map(\.rawValue)).isDisjoint(with: target.names)
                case .custom: variable.appliesToAllCustomEnvironments
                }
            }.map(\.key))
    }

    /// Those that a listing wants.
    func filtered(_ isWanted: (SharedVariable) -> Bool) -> SharedListing {
        SharedListing(variables.filter(isWanted), askedAt: askedAt)
    }

    /// Whether there are none.
    var isEmpty: Bool { variables.isEmpty }

    /// When the platform said so, or null.
    var asOf: JSONValue { .time(orNull: askedAt.map { Int64(clamping: $0) }) }

    /// Each in the form of the contract.
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

    /// Adds a row each to a table of variables.
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
