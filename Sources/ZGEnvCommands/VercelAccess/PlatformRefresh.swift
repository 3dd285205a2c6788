internal import EnvOperations
internal import Vault
internal import VercelAPI

/// `--refresh` of commands that only look: sees the platform first, so that what they say of it is
/// of now. Nothing is sent but reads, and no value is read.
enum PlatformRefresh {
    /// Brings the vault's view of the platform up to date where `--refresh` asks for it.
    ///
    /// A project that is on no platform has nothing to refresh, which is said.
    static func runIfAsked(_ workspace: Workspace) throws {
        guard workspace.options.refresh else { return }
        let bound: BoundProject
        do {
            bound = try BoundProject.inVault(workspace)
        } catch let error as CommandError
            where error.code == .notFound && (try? isBound(workspace)) != true
        {
            workspace.context.warn("not-refreshed", "Nothing was refreshed. \(error.message)")
            return
        }
        guard let project = bound.local else { return }
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try client.customEnvironments(ofProject: bound.platform.id))
        let listedAt = workspace.context.now()
        let platform = try client.environmentVariables(ofProject: bound.platform.id).map {
            PlatformRecord($0, environments: names)
        }
        let (live, time) = (bound.platform.liveDeployment, workspace.context.now())
        let platformTime = client.platformTime
        try workspace.session.update(with: try workspace.session.keys(.index)) { transaction in
            transaction.see(
                platform, listedAt: listedAt, platformTime: platformTime, of: project.id)
            transaction.see(live: live, of: project.id, time: time)
        }
        try SharedListing.keep(of: bound, workspace)
    }
}

extension PlatformRefresh {
    private static func isBound(_ workspace: Workspace) throws -> Bool {
        let index = try workspace.session.index(.listing)
        return try ProjectResolver(workspace).existing(in: index).binding != nil
    }

    /// Brings the view of every bound project up to date.
    ///
    /// One request lists up to a hundred projects of an account or team, and one request a project
    /// its variables; those are sent in parallel, within the platform's limits. Names of custom
    /// environments are asked for only where a variable has some. The shared variables of a team are
    /// one list.
    static func runForAllIfAsked(_ workspace: Workspace) throws {
        guard workspace.options.refresh else { return }
        let index = try workspace.session.index(.listing)
        let session = try PlatformSession(workspace)
        var groups: [(access: PlatformSession.Access, projects: [VaultProject])] = []
        for project in index.projects {
            guard let binding = project.binding else { continue }
            let access = try session.access(binding)
            let position = groups.firstIndex { $0.access.isSame(as: access) }
            if let position {
                groups[position].projects.append(project)
            } else {
                groups.append((access, [project]))
            }
        }
        var seen: [Sight] = []
        for group in groups {
            let found = try look(at: group.projects, group.access.client, workspace)
            seen += found
            let there = Set(found.map(\.project))
            try SharedListing.keep(
                of: group.projects.filter { there.contains($0.id) }, group.access, workspace)
        }
        if seen.isEmpty { return }
        let time = workspace.context.now()
        try workspace.session.update(with: try workspace.session.keys(.index)) { transaction in
            for sight in seen {
                transaction.see(
                    sight.records, listedAt: sight.listedAt, platformTime: sight.platformTime,
                    of: sight.project)
                transaction.see(live: sight.live, of: sight.project, time: time)
            }
        }
    }

    /// Records which variables of one project have changed on the platform, and writes the vault only if
    /// any have. One request, sent once; a second one for the names of custom environments where a variable
    /// is in one.
    ///
    /// - Returns: Whether the vault was written, and which names production has on the platform.
    /// - Throws: ``ExitCode/locked`` where the account's token takes the values' keys.
    static func look(
        at project: VaultProject, _ workspace: Workspace
    ) throws -> (wroteVault: Bool, inProduction: Set<String>) {
        guard let binding = project.binding else { return (false, []) }
        let index = try workspace.session.index(.listing)
        let account = PlatformSession.account(workspace.options.account, binding, in: index)
        if account?.protection == .values, workspace.context.variable("VERCEL_TOKEN") == nil {
            throw CommandError(
                .locked, "The token of \(account?.name ?? "") opens with the passphrase alone.",
                hint: "See what changed with: zg-env list --refresh")
        }
        let client = try PlatformSession(workspace).access(binding).client.unrepeated()
        let listedAt = workspace.context.now()
        let listed = try client.environmentVariables(ofProject: binding.projectID)
        let platformTime = client.platformTime
        // By their ids alone they would not be the places that the vault has.
        let environments = CustomEnvironmentNames(
            listed.contains { !$0.customEnvironmentIds.isEmpty }
                ? try client.customEnvironments(ofProject: binding.projectID) : [])
        let platform = listed.map { PlatformRecord($0, environments: environments) }
        let names = Set(
            platform.filter { $0.attributes.scope.targets.contains(.production) }.map(\.key))
        guard
            try workspace.session.index(.listing).learns(
                from: platform, listedAt: listedAt, of: project.id)
        else { return (false, names) }
        try workspace.session.update(with: try workspace.session.keys(.index)) { transaction in
            transaction.see(
                platform, listedAt: listedAt, platformTime: platformTime, of: project.id)
        }
        return (true, names)
    }

    /// What the platform showed of one project.
    private struct Sight {
        let project: Identifier
        let records: [PlatformRecord]
        let live: VaultProject.LiveDeployment?
        let listedAt: UInt64
        let platformTime: UInt64
    }

    private static func look(
        at projects: [VaultProject], _ client: VercelClient, _ workspace: Workspace
    ) throws -> [Sight] {
        // The list of all may have pages; a single project is one request.
        let known =
            projects.count == 1
            ? try projects.compactMap { try shown($0, client) } : try client.projects()
        let platform = Dictionary(
            known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let there = projects.filter { project in
            if project.binding.map({ platform[$0.projectID] != nil }) ?? false { return true }
            workspace.context.warn(
                "not-refreshed",
                "\(project.name) was not refreshed: the platform does not show it any more.")
            return false
        }
        let listedAt = workspace.context.now()
        let ids = there.compactMap { $0.binding?.projectID }
        let lists = try client.environmentVariables(ofProjects: ids)
        let platformTime = client.platformTime
        return try zip(zip(there, ids), lists).map { entry, list in
            let (project, id) = entry
            let variables = try list.get()
            let hasCustom = variables.contains { !$0.customEnvironmentIds.isEmpty }
            let names = CustomEnvironmentNames(
                hasCustom ? try client.customEnvironments(ofProject: id) : [])
            return Sight(
                project: project.id,
                records: variables.map { PlatformRecord($0, environments: names) },
                live: platform[id]?.liveDeployment, listedAt: listedAt,
                platformTime: platformTime)
        }
    }

    private static func shown(
        _ project: VaultProject, _ client: VercelClient
    ) throws(VercelAPIError) -> Project? {
        guard let id = project.binding?.projectID else { return nil }
        do throws(VercelAPIError) {
            return try client.project(id)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}

extension Project {
    /// What serves production, in the vault's terms.
    var liveDeployment: VaultProject.LiveDeployment? {
        production.flatMap { deployment in
            deployment.createdAt.map {
                .init(id: deployment.id, createdAt: UInt64(clamping: $0.milliseconds))
            }
        }
    }
}
