internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What `watch` knows of the platform and the vault: from kept answers at first, then from the
/// platform. One list of deployments for each account or team in use, and seldom one of projects.
final class WatchedPlatform {
    /// An account or team, as one token sees it.
    private final class Place {
        let binding: VaultProject.Binding?
        let scope: String
        var access: PlatformSession.Access?
        var platform: [Project] = []
        var deployments: [Deployment] = []
        var askedAt: UInt64?
        var projectsAskedAt: UInt64?
        /// Projects of deployments when the projects were last asked for: one that is not among them
        /// then is no reason to ask again.
        var strangers: Set<String> = []

        init(_ binding: VaultProject.Binding?, _ scope: String) {
            (self.binding, self.scope) = (binding, scope)
        }
    }

    /// Deployments of one list: one request.
    static let listLimit = 100
    /// The list of projects is asked for so often where nothing else asks for it.
    private static let projectsMilliseconds: UInt64 = 600_000
    private static let listFilter = "watch"
    /// What `deployment list` asks for, so that both show the same.
    private static let pageFilter = "20  "

    private let invocation: Invocation
    private let names: [String]
    private var index: VaultIndex?
    private var answers: PlatformAnswers
    private var places: [Place] = []
    /// Deployments of projects whose page was opened.
    private var pages: [String: [Deployment]] = [:]
    private var wantsProjects = true
    /// That of ``look(_:)`` alone: a transport is for one thread.
    private var lookTransport: (any HTTPTransport)?

    /// Opens what is kept. Nothing is sent.
    ///
    /// - Parameter names: The projects to show; none for all.
    init(_ invocation: Invocation, names: [String]) throws {
        (self.invocation, self.names) = (invocation, names)
        answers = try PlatformAnswers(invocation)
        index = answers.index
        try open()
        try readKept()
    }

    // MARK: Places

    private func open() throws {
        let old = places
        places = []
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
        var scope = ""
        if let index {
            guard let identity = try PlatformIdentity(invocation, index, binding) else {
                guard binding == nil else { return }
                return places.append(Place(nil, scope))
            }
            let address = identity.address(of: .projects, token: "")
            scope = "\(address.origin) \(address.account) \(address.scope)"
        }
        guard !places.contains(where: { $0.scope == scope }) else { return }
        places.append(old.first { $0.scope == scope } ?? Place(binding, scope))
    }

    private func readKept() throws {
        for place in places where place.askedAt == nil {
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

    /// Takes the vault as it is now: another account, another token, other projects.
    func reload() throws {
        let session = invocation.session
        session.forgetVault()
        do {
            _ = try session.index(.listing)
        } catch {
            session.forgetKeys()
            guard try session.indexKeysWithoutAsking() != nil else {
                throw CommandError(
                    .locked, "The vault got other keys, and nothing here opens it.",
                    hint: "Run zg-env watch again.")
            }
            try session.keepIndexTierOnly()
        }
        answers = try PlatformAnswers(invocation)
        index = answers.index
        try open()
        try readKept()
        for place in places { place.access = nil }
        wantsProjects = true
    }

    // MARK: Asking

    /// Has the next ``refresh()`` ask for the list of projects too.
    func wantProjects() { wantsProjects = true }

    /// Asks for the newest deployments, and for the projects where those may have changed. An account or
    /// team that does not answer keeps no other from being asked.
    ///
    /// - Returns: What the schedule goes on with, and why there is no answer where there is none.
    func refresh() -> (outcome: RefreshSchedule.Outcome, failure: CommandError?) {
        var isBuilding = false
        var first: (outcome: RefreshSchedule.Outcome, failure: CommandError)?
        for place in places {
            do {
                if try ask(place) { isBuilding = true }
            } catch {
                let failure = CommandError(mapping: error)
                let outcome =
                    (error as? VercelAPIError).map { PlatformWatchSource.failure($0).outcome }
                first = first ?? (outcome ?? .refused, failure)
                if failure.code == .unauthorized { forget(place) }
                // Somebody ends it: nobody else is asked.
                if Interrupts.pending != nil { break }
            }
        }
        if let first { return first }
        wantsProjects = false
        do {
            try checkNames()
            return (.answered(isBuilding: isBuilding), nil)
        } catch {
            return (.refused, CommandError(mapping: error))
        }
    }

    /// - Returns: Whether something builds there.
    private func ask(_ place: Place) throws -> Bool {
        let access = try access(place)
        let before = Set(place.deployments.filter(\.isLiveCandidate).map(\.id))
        var filter = DeploymentFilter()
        filter.limit = Self.listLimit
        let askedAt = invocation.context.now()
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
        if wantsProjects || isNew || age > Self.projectsMilliseconds {
            place.platform = try access.client.projects()
            place.projectsAskedAt = askedAt
            place.strangers = Set(place.deployments.compactMap(\.projectId))
            try answers.keep([.projects: place.platform], from: access, askedAt: askedAt)
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
        invocation.dropAnswersAfterRefusal()
    }

    /// Asks for the newest deployments of one project, also while ``refresh()`` is under way on another
    /// thread.
    func look(_ id: String) throws {
        guard let place = place(of: id) else { return }
        let access = try access(place)
        let context = invocation.context.beside(invocation.session.turns)
        let transport = try lookTransport ?? context.transport()
        lookTransport = transport
        let client = access.client.connected(through: transport)
        var filter = DeploymentFilter()
        filter.projectId = id
        let askedAt = invocation.context.now()
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

    /// A way to the platform for a project, apart from that of ``refresh()``.
    func client(of id: String, over transport: any HTTPTransport) throws -> VercelClient? {
        guard let place = place(of: id) else { return nil }
        return try access(place).client.connected(through: transport)
    }

    private func access(_ place: Place) throws -> PlatformSession.Access {
        if let access = place.access { return access }
        let new = try PlatformSession(invocation).access(place.binding)
        let access = PlatformSession.Access(
            client: new.client.unrepeated(), account: new.account)
        place.access = access
        return access
    }

    private func place(of id: String) -> Place? {
        places.first { place in
            place.platform.contains { $0.id == id }
                || place.deployments.contains { $0.projectId == id }
                || place.binding?.projectID == id
        } ?? places.first
    }

    private func checkNames() throws {
        let known = Set(projects().map(\.name))
        guard let missing = names.first(where: { !known.contains($0) }) else { return }
        throw CommandError(
            .notFound,
            "Neither the vault nor this account has a project \(DisplayText.safe(missing)).",
            hint: "See what is there with: zg-env project list")
    }

    // MARK: Showing

    /// When the oldest part of what is shown was asked for; nil where something never was.
    var askedAt: UInt64? {
        let times = places.compactMap(\.askedAt)
        return times.count == places.count ? times.min() : nil
    }

    /// The vault's project of one that is shown.
    func local(_ id: String) -> VaultProject? {
        // One that is not bound yet is the platform's of its name.
        let name = places.lazy.flatMap(\.platform).first { $0.id == id }?.name
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
            grouping: places.flatMap(\.deployments), by: { $0.projectId ?? "" })
        let platform = places.flatMap(\.platform)
        let seenAt = places.compactMap(\.projectsAskedAt).min() ?? 0
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
        places.flatMap(\.deployments).compactMap { WatchedDeployment($0) }
    }

    /// What serves production, by the id of the project.
    var current: [String: Deployment] {
        Dictionary(
            places.flatMap(\.platform).compactMap { project in
                project.production.map { (project.id, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension Deployment {
    /// Whether it may have become what serves production.
    fileprivate var isLiveCandidate: Bool { state == .ready && target == "production" }
}
