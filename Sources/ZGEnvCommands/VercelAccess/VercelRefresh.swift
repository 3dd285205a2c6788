internal import EnvOperations
internal import Vault
internal import VercelAPI

/// `--refresh` of read-only commands: updates the vault's view of Vercel first. Sends only read
/// requests, and reads no values.
enum VercelRefresh {
    /// Updates the vault's view of the project with `--refresh`.
    ///
    /// Warns if the project is not linked to Vercel.
    ///
    /// - Returns: How many production variables Vercel hides; nil if it was not asked.
    @discardableResult
    static func runIfRequested(_ workspace: Workspace) throws -> Int? {
        guard workspace.options.refresh else { return nil }
        let bound: LinkedProject
        do {
            bound = try LinkedProject.inVault(workspace)
        } catch let error as CommandError
            where error.code == .notFound && (try? isBound(workspace)) != true
        {
            workspace.context.warn("not-refreshed", "Not refreshed: \(error.message)")
            return nil
        }
        guard let project = bound.local else { return nil }
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try client.customEnvironments(ofProject: bound.platform.id))
        let listedAt = workspace.context.now()
        let platform = ListedRecords(
            try client.environmentVariables(ofProject: bound.platform.id), environments: names)
        let seen = ProjectSnapshot(
            project: project.id, records: platform, live: bound.platform.liveDeployment,
            isDeployed: bound.platform.production != nil, listedAt: listedAt,
            vercelTime: client.vercelTime)
        try keep([seen], of: [project], workspace)
        try SharedListing.keep(of: bound, workspace)
        bound.keepLabels(platform, askedAt: listedAt, workspace)
        return platform.hiddenProduction
    }
}

extension VercelRefresh {
    private static func isBound(_ workspace: Workspace) throws -> Bool {
        let table = try workspace.session.table()
        return try ProjectResolver(workspace).existing(in: table).binding != nil
    }

    /// Updates the view of all linked projects with `--refresh`.
    ///
    /// One request lists up to a hundred projects of an account or team; one request per project
    /// lists its variables, sent in parallel within Vercel's rate limits. The names of custom
    /// environments are requested only if a variable uses one, and the shared variables of a team
    /// once.
    ///
    /// - Returns: How many production variables Vercel hides, by project that was asked for.
    static func runForAllIfRequested(_ workspace: Workspace) throws -> [Identifier: Int] {
        guard workspace.options.refresh else { return [:] }
        let seen = try run(for: try workspace.session.table().projects, workspace)
        return Dictionary(
            seen.map { ($0.project, $0.records.hiddenProduction) }, uniquingKeysWith: { $1 })
    }

    /// Updates the view of the linked ones among these projects.
    ///
    /// - Returns: What Vercel has of each that it showed.
    @discardableResult
    static func run(
        for projects: [VaultProject], _ workspace: Workspace
    ) throws -> [ProjectSnapshot] {
        let session = try VercelSession(workspace)
        var groups: [(access: VercelSession.Access, projects: [VaultProject])] = []
        for project in projects {
            guard let binding = project.binding else { continue }
            let access = try session.access(binding)
            let position = groups.firstIndex { $0.access.isSame(as: access) }
            if let position {
                groups[position].projects.append(project)
            } else {
                groups.append((access, [project]))
            }
        }
        var seen: [ProjectSnapshot] = []
        for group in groups {
            let found = try look(at: group.projects, group.access.client, workspace)
            seen += found
            for sight in found {
                let binding = group.projects.first { $0.id == sight.project }?.binding
                guard let binding else { continue }
                IntegrationLabels.keep(
                    sight.records, of: binding.projectID, group.access, teamID: binding.teamID,
                    askedAt: sight.listedAt, workspace)
            }
            let there = Set(found.map(\.project))
            try SharedListing.keep(
                of: group.projects.filter { there.contains($0.id) }, group.access, workspace)
        }
        if !seen.isEmpty { try keep(seen, of: projects, workspace) }
        return seen
    }

    /// Does the same, and also reads the names of the variables that each live deployment was built
    /// with.
    ///
    /// - Returns: What Vercel showed, by project.
    static func sights(
        of projects: [VaultProject], _ workspace: Workspace
    ) throws -> [Identifier: VercelComparison.Sight] {
        let session = try VercelSession(workspace)
        var sights: [Identifier: VercelComparison.Sight] = [:]
        for seen in try run(for: projects, workspace) {
            var names: Set<String>? = seen.isDeployed ? [] : nil
            if let live = seen.live,
                let binding = projects.first(where: { $0.id == seen.project })?.binding
            {
                let client = try session.access(binding).client
                names = Set(try client.deployment(live.id).variableNames)
            }
            sights[seen.project] = VercelComparison.Sight(seen, liveNames: names)
        }
        return sights
    }

    /// Notes Vercel's state of some of these projects.
    private static func keep(
        _ seen: [ProjectSnapshot], of projects: [VaultProject], _ workspace: Workspace
    ) throws {
        let time = workspace.context.now()
        for sight in seen {
            let name = projects.first { $0.id == sight.project }?.name
            HiddenProduction.warn(sight.records, of: name ?? "", workspace.context)
        }
        let session = workspace.session
        for sight in seen {
            try session.note(
                sight.records, listedAt: sight.listedAt, vercelTime: sight.vercelTime,
                of: sight.project)
            try session.note(live: sight.live, at: time, of: sight.project)
            guard let project = projects.first(where: { $0.id == sight.project }) else { continue }
            let claimed = try ClaimedRecords(of: project, sight.records, workspace)
            if !claimed.isEmpty {
                try session.sightings().show(pushed: { claimed.apply(to: &$0) })
            }
        }
    }

    /// Notes which variables of one project have changed on Vercel. Takes one request without
    /// retries, and a second one for the names of custom environments if a variable uses one.
    ///
    /// - Returns: Whether anything differs from what was seen before, and the listing.
    /// - Throws: ``ExitCode/locked`` if the account's token needs the values' keys.
    static func look(
        at project: VaultProject, _ workspace: Workspace
    ) throws -> (isNews: Bool, records: ListedRecords?) {
        guard let binding = project.binding else { return (false, nil) }
        let table = try workspace.session.table()
        let account = VercelSession.account(workspace.options.account, binding, in: table)
        if account?.protection == .values, workspace.context.variable("VERCEL_TOKEN") == nil {
            throw CommandError(
                .locked, "Using the token for \(account?.name ?? "") requires the passphrase.",
                hint: "See what changed with: zg-env list --refresh")
        }
        let client = try VercelSession(workspace).access(binding).client.withoutRetries()
        let listedAt = workspace.context.now()
        let listed = try client.environmentVariables(ofProject: binding.projectID)
        let vercelTime = client.vercelTime
        let platform = try records(listed, of: binding.projectID, client)
        let isNews = try workspace.session.note(
            platform, listedAt: listedAt, vercelTime: vercelTime, of: project.id)
        return (isNews, platform)
    }

    private static func look(
        at projects: [VaultProject], _ client: VercelClient, _ workspace: Workspace
    ) throws -> [ProjectSnapshot] {
        // The list of all projects may be paged; a single project is one request.
        let known =
            projects.count == 1
            ? try projects.compactMap { try shown($0, client) } : try client.projects()
        let platform = Dictionary(
            known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let there = projects.filter { project in
            if project.binding.map({ platform[$0.projectID] != nil }) ?? false { return true }
            workspace.context.warn(
                "not-refreshed",
                "\(project.name) was not refreshed: Vercel no longer has it, or this account has no access to it."
            )
            return false
        }
        let listedAt = workspace.context.now()
        let ids = there.compactMap { $0.binding?.projectID }
        let lists = try client.environmentVariables(ofProjects: ids)
        let vercelTime = client.vercelTime
        return try zip(zip(there, ids), lists).map { entry, list in
            let (project, id) = entry
            return ProjectSnapshot(
                project: project.id, records: try records(try list.get(), of: id, client),
                live: platform[id]?.liveDeployment,
                isDeployed: platform[id]?.production != nil, listedAt: listedAt,
                vercelTime: vercelTime)
        }
    }

    /// Returns the records of listed variables. Asks for the names of custom environments only if a
    /// variable uses one: ids alone would not match the environments in the vault.
    static func records(
        _ listed: VariableList<EnvironmentVariable>, of project: String, _ client: VercelClient
    ) throws(VercelAPIError) -> ListedRecords {
        let hasCustom = listed.variables.contains { !$0.customEnvironmentIds.isEmpty }
        let names = CustomEnvironmentNames(
            hasCustom ? try client.customEnvironments(ofProject: project) : [])
        return ListedRecords(listed, environments: names)
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
    /// The live deployment in the vault's form.
    var liveDeployment: VaultProject.LiveDeployment? {
        production.flatMap { deployment in
            deployment.createdAt.map {
                .init(id: deployment.id, createdAt: UInt64(clamping: $0.milliseconds))
            }
        }
    }
}
