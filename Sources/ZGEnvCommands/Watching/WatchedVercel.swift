internal import EnvOperations
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// What `watch` knows of Vercel and the vault: from cached responses first, then from Vercel.
/// Requests one list of deployments per account or team, and occasionally one of projects.
final class WatchedVercel: PollerDelegate {
    /// The known state of an account or team.
    final class Place: PolledAccount {
        fileprivate let scope: String
        fileprivate var platform: [Project] = []
        fileprivate var deployments: [Deployment] = []
        fileprivate var askedAt: UInt64?
        fileprivate var projectsAskedAt: UInt64?
        /// Whether the next request includes the list of projects.
        fileprivate var wantsProjects = true
        /// The projects with deployments at the last list of projects: a project still missing from
        /// that list is no reason to request it again.
        fileprivate var unownedRecords: Set<String> = []

        fileprivate init(
            _ binding: VaultProject.Binding?, _ scope: String, relayName: String?
        ) {
            self.scope = scope
            super.init(binding, relayName: relayName)
        }
    }

    /// The maximum number of deployments in a list, for one request.
    static let listLimit = 100
    /// How often to request the list of projects without another reason.
    private static let projectsMilliseconds: UInt64 = 600_000
    private static let listFilter = "watch"
    /// The page of `deployment list`, so that both show the same.
    private static let pageFilter = "20  "

    private let workspace: Workspace
    private let names: [String]
    private var index: VaultIndex?
    private var answers: VercelResponses
    private(set) var accounts: [Place] = []
    let poller: Poller
    /// Receives whether a request is running.
    var onRefreshChange: (Bool) -> Void = { _ in }
    /// The deployments of projects whose page was opened.
    private var pages: [String: [Deployment]] = [:]
    /// The transport of ``look(_:)``: transports are not thread-safe.
    private var pageTransport: (any HTTPTransport)?

    /// Opens the cached state. Sends nothing.
    ///
    /// - Parameter names: The projects to show; empty for all.
    init(_ workspace: Workspace, names: [String], intervals: RefreshIntervals) throws {
        (self.workspace, self.names) = (workspace, names)
        poller = Poller(workspace, intervals: intervals, watchesCache: true)
        answers = try VercelResponses(workspace)
        try readIndex()
        try open()
        try readCached()
    }

    /// Reads the vault's variables as they were last seen.
    private func readIndex() throws {
        index = answers.index == nil ? nil : try workspace.session.indexAsSeen(.listing)
    }

    // MARK: Accounts

    private func open() throws {
        let old = accounts
        accounts = []
        let local = (index?.projects ?? []).filter { names.isEmpty || names.contains($0.name) }
        let isUnknown = names.contains { name in
            local.first { $0.name == name }?.binding == nil
        }
        if names.isEmpty || isUnknown { try add(nil, old) }
        for binding in local.compactMap(\.binding) {
            do {
                try add(binding, old)
            } catch {
                // Without names, projects that contradict the options are left out.
                guard names.isEmpty else { throw error }
            }
        }
    }

    private func add(_ binding: VaultProject.Binding?, _ old: [Place]) throws {
        var (scope, relayName): (String, String?) = ("", binding.map { $0.teamID ?? $0.accountID })
        if let index {
            guard let identity = try RequestIdentity(workspace, index, binding) else {
                guard binding == nil else { return }
                return accounts.append(Place(nil, scope, relayName: nil))
            }
            let address = identity.address(of: .projects, token: "")
            scope = "\(address.origin) \(address.account) \(address.scope)"
            switch identity.scope {
            case .personal: relayName = relayName ?? identity.account?.knownUserID
            case .team(let id): relayName = id
            case .teamSlug: relayName = nil
            }
        }
        guard !accounts.contains(where: { $0.scope == scope }) else { return }
        accounts.append(
            old.first { $0.scope == scope } ?? Place(binding, scope, relayName: relayName))
    }

    private func readCached() throws {
        for place in accounts where place.askedAt == nil {
            let binding = place.binding
            let list: VercelResponses.Timed<DeploymentsResponse>? = try answers.kept(
                .deployments(project: "", filter: Self.listFilter), binding)
            let projects: VercelResponses.Timed<[Project]>? = try answers.kept(
                .projects, binding)
            place.deployments = list?.answer.deployments ?? []
            place.platform = projects?.answer ?? []
            place.projectsAskedAt = projects?.askedAt
            place.askedAt = list?.askedAt ?? projects?.askedAt
        }
    }

    func take(vault: Result<Bool, any Error>) throws {
        _ = try vault.get()
        answers = try VercelResponses(workspace)
        try readIndex()
        try open()
        try readCached()
    }

    // MARK: Polling

    /// Requests a refresh of all accounts as soon as possible.
    func request() {
        for place in accounts { place.schedule.request() }
    }

    func wants(_ project: String, of place: Place) -> Bool {
        names.isEmpty || projects().contains { $0.id == project }
    }

    /// Requests the newest deployments, and the projects if they may have changed.
    func ask(_ place: Place, because reasons: Set<RefreshSchedule.Reason>) -> Poller.Answer {
        if !reasons.isSubset(of: [.timer, .networkBack]) { place.wantsProjects = true }
        onRefreshChange(true)
        defer { onRefreshChange(false) }
        do {
            return (.answered(isBuilding: try ask(place)), nil)
        } catch {
            let failure = CommandError(mapping: error)
            if failure.code == .unauthorized { forget(place) }
            let outcome =
                (error as? VercelAPIError).map { VercelWatchSource.failure($0).outcome }
            return (outcome ?? .refused, failure)
        }
    }

    /// Why the data is outdated or missing; nil if all accounts have answered.
    var failure: CommandError? {
        if let failure = accounts.lazy.compactMap(\.failure).first { return failure }
        let known = Set(projects().map(\.name))
        guard accounts.allSatisfy(\.hasAnswered),
            let missing = names.first(where: { !known.contains($0) })
        else { return nil }
        return CommandError(
            .notFound,
            "Neither the vault nor this account has a project \(missing).",
            hint: "List projects with: zg-env project list")
    }

    /// - Returns: Whether a deployment is building.
    private func ask(_ place: Place) throws -> Bool {
        let access = try place.open(workspace)
        let before = Set(place.deployments.filter(\.isLiveCandidate).map(\.id))
        let askedAt = workspace.context.now()
        place.deployments = try access.client.deployments(DeploymentFilter(limit: Self.listLimit))
        place.askedAt = askedAt
        let list = DeploymentsResponse(current: nil, deployments: place.deployments)
        try answers.keep(
            [.deployments(project: "", filter: Self.listFilter): list], from: access,
            askedAt: askedAt)
        // Only the list of projects shows which deployment is live.
        let known = Set(place.platform.map(\.id)).union(place.unownedRecords)
        let isNew = place.deployments.contains { deployment in
            deployment.projectId.map { !known.contains($0) } ?? false
                || (deployment.isLiveCandidate && !before.contains(deployment.id))
        }
        let age = place.projectsAskedAt.map { askedAt >= $0 ? askedAt - $0 : .max } ?? .max
        if place.wantsProjects || isNew || age > Self.projectsMilliseconds {
            place.platform = try access.client.projects()
            place.projectsAskedAt = askedAt
            place.unownedRecords = Set(place.deployments.compactMap(\.projectId))
            try answers.keep([.projects: place.platform], from: access, askedAt: askedAt)
            place.wantsProjects = false
            try noteLive(place.platform, askedAt)
        }
        try readIndex()
        let now = Int64(clamping: askedAt)
        return place.deployments.contains { deployment in
            let age = now.subtractingReportingOverflow(deployment.createdAt?.milliseconds ?? 0)
            return !deployment.state.isFinal && !age.overflow
                && age.partialValue < DeploymentWatcher.longestListedMilliseconds
        }
    }

    /// Notes which deployments are live, for `status` and `list`.
    private func noteLive(_ platform: [Project], _ askedAt: UInt64) throws {
        let known = platform.keyed(by: \.id)
        for local in index?.projects ?? [] {
            guard let project = known[local.binding?.projectID ?? ""],
                project.liveDeployment != local.live
            else { continue }
            try workspace.session.note(live: project.liveDeployment, at: askedAt, of: local.id)
        }
    }

    /// Drops what a rejected token was allowed to see, in memory and in the cache.
    private func forget(_ place: Place) {
        (place.platform, place.deployments) = ([], [])
        (place.askedAt, place.projectsAskedAt) = (nil, nil)
        pages = [:]
        workspace.dropResponsesAfterRejection()
    }

    /// Requests the newest deployments of one project. May run while ``ask(_:because:)`` waits on
    /// another thread.
    func look(_ id: String) throws {
        guard let place = place(of: id) else { return }
        let access = try place.open(workspace)
        let context = workspace.context.beside(workspace.session.turns)
        let transport = try pageTransport ?? context.transport()
        pageTransport = transport
        let client = access.client.connected(through: transport)
        let askedAt = workspace.context.now()
        let found = try client.deployments(DeploymentFilter(project: id))
        pages[id] = found
        guard let project = place.platform.first(where: { $0.id == id }) else { return }
        let page = DeploymentsResponse(current: project.production?.id, deployments: found)
        try answers.keep(
            [.deployments(project: id, filter: Self.pageFilter): page], from: access,
            askedAt: askedAt)
    }

    /// Reads the cached deployments of one project.
    func readCached(_ id: String) throws {
        guard let place = place(of: id), pages[id] == nil else { return }
        let kept: VercelResponses.Timed<DeploymentsResponse>? = try answers.kept(
            .deployments(project: id, filter: Self.pageFilter), place.binding)
        pages[id] = kept?.answer.deployments
    }

    /// Returns a client for a project, independent of that of ``ask(_:because:)``.
    func client(of id: String, over transport: any HTTPTransport) throws -> VercelClient? {
        guard let place = place(of: id) else { return nil }
        return try place.open(workspace).client.connected(through: transport)
    }

    private func place(of id: String) -> Place? {
        accounts.first { place in
            place.platform.contains { $0.id == id }
                || place.deployments.contains { $0.projectId == id }
                || place.binding?.projectID == id
        } ?? accounts.first
    }

    // MARK: Display

    /// When the oldest shown data was requested; nil if some never was.
    var askedAt: UInt64? {
        let times = accounts.compactMap(\.askedAt)
        return times.count == accounts.count ? times.min() : nil
    }

    /// Whether there is a vault.
    var hasVault: Bool { index != nil }

    /// Reads the vault again after this process changed it.
    func reread() throws {
        workspace.session.closeVault()
        try take(vault: .success(true))
    }

    /// Returns the vault project of a shown project.
    func local(_ id: String) -> VaultProject? {
        // A project that is not linked yet matches the Vercel project of its name.
        let name = accounts.lazy.flatMap(\.platform).first { $0.id == id }?.name
        return index?.projects.first { project in
            Self.key(of: project) == id || (project.binding == nil && project.name == name)
        }
    }

    private static func key(of project: VaultProject) -> String {
        project.binding?.projectID ?? "local \(project.name)"
    }

    /// Returns all projects to show.
    func projects() -> [WatchProject] {
        var found: [WatchProject] = []
        var seen: Set<String> = []
        let listed = Dictionary(
            grouping: accounts.flatMap(\.deployments), by: { $0.projectId ?? "" })
        let platform = accounts.flatMap(\.platform)
        let seenAt = accounts.compactMap(\.projectsAskedAt).min() ?? 0
        func add(_ id: String, _ name: String, _ local: VaultProject?) {
            guard names.isEmpty || names.contains(name), seen.insert(id).inserted else { return }
            var project = WatchProject(id: id, name: name)
            let known = platform.first { $0.id == id }
            project.current = known?.production?.id
            let all =
                (listed[id] ?? []) + (pages[id] ?? []) + (known?.latestDeployments ?? [])
                + [known?.production].compactMap { $0 }
            project.rows = Array(
                all.filter { $0.state != .deleted }.unique(by: \.id).map { WatchRow($0) }
                    .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }.prefix(30))
            if let local, let index {
                project.isLocal = true
                // The vault may have older data about the live deployment.
                var local = local
                if let live = known?.liveDeployment, seenAt >= local.seenAt {
                    (local.live, local.seenAt) = (live, seenAt)
                }
                project.variables = index.variables(of: local.id).map { variable in
                    WatchVariable(
                        id: variable.id, name: variable.name,
                        scope: variable.attributes.scope, kind: variable.attributes.kind,
                        sync: SyncState(of: variable), live: SyncState.isLive(variable, in: local))
                }.sorted {
                    ($0.name, $0.scope.description) < ($1.name, $1.scope.description)
                }
            }
            found.append(project)
        }
        for project in index?.projects ?? [] {
            // A project that is not linked yet matches the one of its name.
            let match =
                project.binding == nil ? platform.first { $0.name == project.name } : nil
            add(match?.id ?? Self.key(of: project), project.name, project)
        }
        for project in platform { add(project.id, project.name, nil) }
        return found
    }

    /// The deployments of all lists, for detecting changes.
    var watched: [WatchedDeployment] {
        accounts.flatMap(\.deployments).compactMap { WatchedDeployment($0) }
    }

    /// The live deployments, by project id.
    var current: [String: Deployment] {
        accounts.flatMap(\.platform).filter { $0.production != nil }.keyed(by: \.id)
            .compactMapValues(\.production)
    }
}

extension Deployment {
    /// Whether it may have become the live deployment.
    fileprivate var isLiveCandidate: Bool { state == .ready && target == "production" }
}
