internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What `watch` knows of the platform and the vault: from kept answers at first, then from the
/// platform. One list of deployments for each account or team in use, and seldom one of projects.
final class WatchedPlatform: PollingWork {
    /// What is known of an account or team.
    final class Place: PolledAccount {
        fileprivate let scope: String
        fileprivate var platform: [Project] = []
        fileprivate var deployments: [Deployment] = []
        fileprivate var askedAt: UInt64?
        fileprivate var projectsAskedAt: UInt64?
        /// Whether the next question is for the list of projects too.
        fileprivate var wantsProjects = true
        /// Projects of deployments when the projects were last asked for: one that is not among them
        /// then is no reason to ask again.
        fileprivate var strangers: Set<String> = []

        fileprivate init(
            _ binding: VaultProject.Binding?, _ scope: String, relayName: String?
        ) {
            self.scope = scope
            super.init(binding, relayName: relayName)
        }
    }

    /// Deployments of one list: one request.
    static let listLimit = 100
    /// The list of projects is asked for so often where nothing else asks for it.
    private static let projectsMilliseconds: UInt64 = 600_000
    private static let listFilter = "watch"
    /// What `deployment list` asks for, so that both show the same.
    private static let pageFilter = "20  "

    private let workspace: Workspace
    private let names: [String]
    private var index: VaultIndex?
    private var answers: PlatformAnswers
    private(set) var accounts: [Place] = []
    /// Asks all of this, turn by turn.
    let poller: Poller
    /// Gets whether a question is under way.
    var noteAsking: (Bool) -> Void = { _ in }
    /// Deployments of projects whose page was opened.
    private var pages: [String: [Deployment]] = [:]
    /// That of ``look(_:)`` alone: a transport is for one thread.
    private var lookTransport: (any HTTPTransport)?

    /// Opens what is kept. Nothing is sent.
    ///
    /// - Parameter names: The projects to show; none for all.
    init(_ workspace: Workspace, names: [String], intervals: RefreshIntervals) throws {
        (self.workspace, self.names) = (workspace, names)
        poller = Poller(workspace, intervals: intervals, heedsAnswers: true)
        answers = try PlatformAnswers(workspace)
        index = answers.index
        try open()
        try readKept()
    }

    // MARK: Places

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
                // Of all projects, those that the options speak against are none.
                guard names.isEmpty else { throw error }
            }
        }
    }

    private func add(_ binding: VaultProject.Binding?, _ old: [Place]) throws {
        var (scope, relayName): (String, String?) = ("", binding.map { $0.teamID ?? $0.accountID })
        if let index {
            guard let identity = try PlatformIdentity(workspace, index, binding) else {
                guard binding == nil else { return }
                return accounts.append(Place(nil, scope, relayName: nil))
            }
            let address = identity.address(of: .projects, token: "")
            scope = "\(address.origin) \(address.account) \(address.scope)"
            switch identity.scope {
            case .personal: relayName = relayName ?? identity.account?.userID
            case .team(let id): relayName = id
            case .teamSlug: relayName = nil
            }
        }
        guard !accounts.contains(where: { $0.scope == scope }) else { return }
        accounts.append(
            old.first { $0.scope == scope } ?? Place(binding, scope, relayName: relayName))
    }

    private func readKept() throws {
        for place in accounts where place.askedAt == nil {
            let binding = place.binding
            let list: PlatformAnswers.Timed<DeploymentsAnswer>? = try answers.kept(
                .deployments(project: "", filter: Self.listFilter), binding)
            let projects: PlatformAnswers.Timed<[Project]>? = try answers.kept(
                .projects, binding)
            place.deployments = list?.answer.deployments ?? []
            place.platform = projects?.answer ?? []
            place.projectsAskedAt = projects?.askedAt
            place.askedAt = list?.askedAt ?? projects?.askedAt
        }
    }

    func take(vault: Result<Bool, any Error>) throws {
        _ = try vault.get()
        answers = try PlatformAnswers(workspace)
        index = answers.index
        try open()
        try readKept()
    }

    // MARK: Asking

    /// Has everything asked for as soon as may be.
    func request() {
        for place in accounts { place.schedule.request() }
    }

    func wants(_ project: String, of place: Place) -> Bool {
        names.isEmpty || projects().contains { $0.id == project }
    }

    /// Asks for the newest deployments, and for the projects where those may have changed.
    func ask(_ place: Place, because reasons: Set<RefreshSchedule.Reason>) -> Poller.Answer {
        if !reasons.isSubset(of: [.timer, .networkBack]) { place.wantsProjects = true }
        noteAsking(true)
        defer { noteAsking(false) }
        do {
            return (.answered(isBuilding: try ask(place)), nil)
        } catch {
            let failure = CommandError(mapping: error)
            if failure.code == .unauthorized { forget(place) }
            let outcome =
                (error as? VercelAPIError).map { PlatformWatchSource.failure($0).outcome }
            return (outcome ?? .refused, failure)
        }
    }

    /// Why there is nothing newer, or nothing to show; nil where all have answered.
    var failure: CommandError? {
        if let failure = accounts.lazy.compactMap(\.failure).first { return failure }
        let known = Set(projects().map(\.name))
        guard accounts.allSatisfy(\.hasAnswered),
            let missing = names.first(where: { !known.contains($0) })
        else { return nil }
        return CommandError(
            .notFound,
            "Neither the vault nor this account has a project \(missing).",
            hint: "See what is there with: zg-env project list")
    }

    /// - Returns: Whether something builds there.
    private func ask(_ place: Place) throws -> Bool {
        let access = try place.open(workspace)
        let before = Set(place.deployments.filter(\.isLiveCandidate).map(\.id))
        var filter = DeploymentFilter()
        filter.limit = Self.listLimit
        let askedAt = workspace.context.now()
        place.deployments = try access.client.deployments(filter)
        place.askedAt = askedAt
        let list = DeploymentsAnswer(current: nil, deployments: place.deployments)
        try answers.keep(
            [.deployments(project: "", filter: Self.listFilter): list], from: access,
            askedAt: askedAt)
        // What serves production, only the list of projects says.
        let known = Set(place.platform.map(\.id)).union(place.strangers)
        let isNew = place.deployments.contains { deployment in
            deployment.projectId.map { !known.contains($0) } ?? false
                || (deployment.isLiveCandidate && !before.contains(deployment.id))
        }
        let age = place.projectsAskedAt.map { askedAt >= $0 ? askedAt - $0 : .max } ?? .max
        if place.wantsProjects || isNew || age > Self.projectsMilliseconds {
            place.platform = try access.client.projects()
            place.projectsAskedAt = askedAt
            place.strangers = Set(place.deployments.compactMap(\.projectId))
            try answers.keep([.projects: place.platform], from: access, askedAt: askedAt)
            place.wantsProjects = false
        }
        let now = Int64(clamping: askedAt)
        return place.deployments.contains { deployment in
            let age = now.subtractingReportingOverflow(deployment.createdAt?.milliseconds ?? 0)
            return !deployment.state.isFinal && !age.overflow
                && age.partialValue < DeploymentWatcher.longestListedMilliseconds
        }
    }

    /// Forgets what a token was shown that is refused now, here and on the disk.
    private func forget(_ place: Place) {
        (place.platform, place.deployments) = ([], [])
        (place.askedAt, place.projectsAskedAt) = (nil, nil)
        pages = [:]
        workspace.dropAnswersAfterRefusal()
    }

    /// Asks for the newest deployments of one project, also while ``ask(_:because:)`` is under way on another
    /// thread.
    func look(_ id: String) throws {
        guard let place = place(of: id) else { return }
        let access = try place.open(workspace)
        let context = workspace.context.beside(workspace.session.turns)
        let transport = try lookTransport ?? context.transport()
        lookTransport = transport
        let client = access.client.connected(through: transport)
        var filter = DeploymentFilter()
        filter.projectId = id
        let askedAt = workspace.context.now()
        let found = try client.deployments(filter)
        pages[id] = found
        guard let project = place.platform.first(where: { $0.id == id }) else { return }
        let page = DeploymentsAnswer(current: project.production?.id, deployments: found)
        try answers.keep(
            [.deployments(project: id, filter: Self.pageFilter): page], from: access,
            askedAt: askedAt)
    }

    /// Takes what is kept of one project.
    func readKept(_ id: String) throws {
        guard let place = place(of: id), pages[id] == nil else { return }
        let kept: PlatformAnswers.Timed<DeploymentsAnswer>? = try answers.kept(
            .deployments(project: id, filter: Self.pageFilter), place.binding)
        pages[id] = kept?.answer.deployments
    }

    /// A way to the platform for a project, apart from that of ``ask(_:because:)``.
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

    // MARK: Showing

    /// When the oldest part of what is shown was asked for; nil where something never was.
    var askedAt: UInt64? {
        let times = accounts.compactMap(\.askedAt)
        return times.count == accounts.count ? times.min() : nil
    }

    /// The vault's project of one that is shown.
    func local(_ id: String) -> VaultProject? {
        // One that is not bound yet is the platform's of its name.
        let name = accounts.lazy.flatMap(\.platform).first { $0.id == id }?.name
        return index?.projects.first { project in
            Self.key(of: project) == id || (project.binding == nil && project.name == name)
        }
    }

    private static func key(of project: VaultProject) -> String {
        project.binding?.projectID ?? "local \(project.name)"
    }

    /// All that is shown.
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
            var rows: Set<String> = []
            project.rows = Array(
                all.filter { $0.state != .deleted && rows.insert($0.id).inserted }
                    .map { WatchRow($0) }
                    .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }.prefix(30))
            if let local, let index {
                project.isLocal = true
                // The vault may have seen production longer ago.
                var local = local
                if let live = known?.liveDeployment, seenAt >= local.seenAt {
                    (local.live, local.seenAt) = (live, seenAt)
                }
                project.variables = index.variables(of: local.id).map { variable in
                    WatchVariable(
                        id: variable.id, name: variable.name,
                        scope: variable.attributes.scope.description,
                        sync: SyncState(of: variable), live: SyncState.isLive(variable, in: local))
                }.sorted { ($0.name, $0.scope) < ($1.name, $1.scope) }
            }
            found.append(project)
        }
        for project in index?.projects ?? [] {
            // A project that is not bound yet is the one of its name.
            let match =
                project.binding == nil ? platform.first { $0.name == project.name } : nil
            add(match?.id ?? Self.key(of: project), project.name, project)
        }
        for project in platform { add(project.id, project.name, nil) }
        return found
    }

    /// All deployments of the lists, for whoever tells what happened.
    var watched: [WatchedDeployment] {
        accounts.flatMap(\.deployments).compactMap { WatchedDeployment($0) }
    }

    /// What serves production, by the id of the project.
    var current: [String: Deployment] {
        Dictionary(
            accounts.flatMap(\.platform).compactMap { project in
                project.production.map { (project.id, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension Deployment {
    /// Whether it may have become what serves production.
    fileprivate var isLiveCandidate: Bool { state == .ready && target == "production" }
}
