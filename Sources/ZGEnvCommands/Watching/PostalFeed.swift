internal import EnvOperations
internal import Glibc
internal import HTTPClient
internal import PostalDevice
internal import PostalProtocol
internal import Vault
internal import VercelAPI

/// Relay events for a long-running command: reads the streams beside the command's own work, drops
/// outdated cached responses, and records changes of variables in the vault. What to show is up to
/// the command.
///
/// One process per vault reads the streams, since a relay has one stream per device. The others
/// notice the changes of the vault and of the response cache.
final class PostalFeed {
    /// The result of a turn.
    struct News {
        /// Projects that changed, or whose deployments did.
        var projects: Set<PostalInbox.Project> = []
        /// Accounts that may have changed anywhere, because events were lost.
        var accounts: Set<String> = []
        /// Whether a look at variables showed news.
        var hasSightings = false
        /// The state of each relay and of reading variables.
        var reports: [Report] = []
    }

    /// The subject, its current problem, if any, and the message for the problem's end.
    typealias Report = (place: String, trouble: String?, relief: String)

    private struct Relay {
        let registration: RelayRegistration
        let opener: EventOpener
        let stream: RelayStream

        var name: String { registration.id.hexadecimal }
    }

    private let workspace: Workspace
    private let files: NotificationFiles
    private let registrations: [RelayRegistration]
    private var lock: NotificationFiles.RunLock?
    private var relays: [Relay] = []
    private var inboxes: [String: PostalInbox] = [:]
    /// When to try the lock and to refresh a project again, by `CLOCK_MONOTONIC`.
    private var (lockAt, lookAt) = (Duration.zero, Duration.zero)
    private var refreshFailures = 0

    private static let lockPause = Duration.seconds(5)

    /// Starts nothing; ``turn(at:)`` does.
    init(
        _ workspace: Workspace, _ files: NotificationFiles, _ registrations: [RelayRegistration]
    ) {
        (self.workspace, self.files) = (workspace, files)
        self.registrations = registrations
    }

    /// Returns whether the vault still has the same registrations.
    func isFor(_ others: [RelayRegistration]) -> Bool {
        registrations.map(\.id) == others.map(\.id)
    }

    /// Whether another process reads the streams and drops outdated cached responses.
    var isElsewhere: Bool { lock == nil }

    /// Returns whether events of an account arrive at once.
    func isUp(_ account: String) -> Bool {
        relays.contains {
            $0.stream.status == .up && $0.registration.accounts.contains(account)
        }
    }

    /// Whether events wait for a turn.
    var hasNews: Bool { relays.contains { $0.stream.hasMessages } }

    /// Does what is due. May wait for Vercel to refresh a project, but never for a relay.
    func turn(at now: Duration) throws -> News {
        var news = News()
        try begin(at: now)
        var isChanged = false
        for relay in relays {
            let messages = relay.stream.take()
            news.reports.append(report(relay))
            guard !messages.isEmpty else { continue }
            isChanged = true
            var inbox = inboxes[relay.name] ?? PostalInbox()
            for message in messages {
                switch inbox.take(
                    message, accounts: relay.registration.accounts, with: relay.opener)
                {
                case .event(let event): note(event, &news)
                case .missed: news.accounts.formUnion(relay.registration.accounts)
                case .removed, .passedOver: break
                }
            }
            inboxes[relay.name] = inbox
        }
        if isChanged {
            // A process killed in between repeats the drop.
            try dropResponses(news)
            try files.keep(inboxes)
            for relay in relays { relay.stream.keep(inboxes[relay.name]?.number ?? 0) }
        }
        try look(at: now, &news)
        return news
    }

    private func report(_ relay: Relay) -> Report {
        let address = relay.registration.relay
        let trouble: String? =
            switch relay.stream.status {
            case .connecting, .up: nil
            case .down(let reason):
                "\(address): \(reason). Polling Vercel until the relay is back."
            case .refused:
                "\(address) no longer lists this device. Leave the relay with: zg-env postal leave, then join again."
            }
        return ("relay \(address)", trouble, "\(address) is connected again.")
    }

    private static func report(_ project: PostalInbox.Project, _ trouble: String?) -> Report {
        (
            "variables \(project.account)", trouble,
            "Reading changed variables from Vercel works again."
        )
    }

    /// Opens the streams once no other process reads them.
    private func begin(at now: Duration) throws {
        guard lock == nil, now >= lockAt, !workspace.options.offline else { return }
        lockAt = now + Self.lockPause
        do {
            lock = try files.relayLock()
        } catch let error as CommandError where error.code == .conflict { return }
        inboxes = try files.inboxes().filter { name, _ in
            registrations.contains { $0.id.hexadecimal == name }
        }
        for registration in registrations {
            let stream = RelayStream(
                try RelayAccess.client(of: registration, workspace),
                acknowledger: try RelayAccess.client(of: registration, workspace),
                room: workspace.context.waitingRoom,
                after: inboxes[registration.id.hexadecimal]?.number ?? 0)
            let relay = Relay(
                registration: registration, opener: try EventOpener(seed: registration.seed),
                stream: stream)
            guard stream.start() else {
                throw CommandError(.failed, "Cannot start a thread to read the relay's events.")
            }
            relays.append(relay)
        }
    }

    // MARK: Cached responses

    private func note(_ event: PostalEvent, _ news: inout News) {
        switch event.type {
        case .variableCreated, .variableUpdated, .variableDeleted: return
        default:
            guard let project = event.project?.id else {
                news.accounts.insert(event.account)
                return
            }
            news.projects.insert(.init(account: event.account, id: project))
        }
    }

    /// Drops cached responses that the events outdate.
    private func dropResponses(_ news: News) throws {
        guard !news.projects.isEmpty || !news.accounts.isEmpty else { return }
        let index = try workspace.session.index(.listing)
        let keys = try workspace.session.keys(.index)
        let answers = try VercelResponses(workspace, keys: keys)
        let accounts = news.accounts.union(news.projects.map(\.account))
        let bound = index.projects.compactMap { project -> (PostalInbox.Project, String)? in
            project.binding.map { ($0.postalProject, $0.origin) }
        }
        answers.drop { answer in
            if case .projects = answer.address.subject {
                // A new project is in no cached list; a team slug may be of any team.
                return accounts.contains { answer.address.scope == "id \($0)" }
                    || !answer.address.scope.hasPrefix("id ")
            }
            return bound.contains { project, origin in
                guard news.projects.contains(project) || news.accounts.contains(project.account),
                    let origin = try? APIOrigin(origin)
                else { return false }
                return answer.isAbout(deploymentsOf: project.id, at: origin)
            }
        }
    }

    // MARK: Variables

    /// Notes the changed variables of one project, with one request.
    private func look(at now: Duration, _ news: inout News) throws {
        guard now >= lookAt else { return }
        for name in inboxes.keys where inboxes[name]?.anyMayHaveChanged == true {
            let accounts = registrations.first { $0.id.hexadecimal == name }?.accounts ?? []
            let bound = try workspace.session.index(.listing).projects
                .compactMap { $0.binding?.postalProject }
            inboxes[name]?.scheduleRefresh(at: bound.filter { accounts.contains($0.account) })
            try files.keep(inboxes)
        }
        guard
            let (name, project) = inboxes.lazy.compactMap({ name, inbox in
                inbox.changed.first.map { (name, $0) }
            }).first
        else { return }
        do {
            // The event may be about what another process has just agreed on.
            workspace.session.closeVault()
            for local in try workspace.session.index(.listing).projects
            where local.binding?.postalProject == project {
                if try VercelRefresh.look(at: local, workspace).isNews { news.hasSightings = true }
            }
            refreshFailures = 0
            inboxes[name]?.markRefreshed(at: project)
            try files.keep(inboxes)
            news.reports.append(Self.report(project, nil))
        } catch {
            let failure = CommandError(mapping: error)
            inboxes[name]?.postpone(project)
            refreshFailures = min(refreshFailures + 1, 10)
            // Other failures are not transient: wait long.
            let isFinal = failure.code != .unavailable && failure.code != .conflict
            let pause = isFinal ? RefreshIntervals.longestPause : .seconds(5 << refreshFailures)
            lookAt = now + min(pause, RefreshIntervals.longestPause)
            news.reports.append(
                Self.report(
                    project,
                    "Variables changed on Vercel, but could not be read. \(failure.message) Retrying."
                ))
        }
    }
}

extension VaultProject.Binding {
    /// The project's identity in relay events.
    var postalProject: PostalInbox.Project {
        PostalInbox.Project(account: teamID ?? accountID, id: projectID)
    }
}
