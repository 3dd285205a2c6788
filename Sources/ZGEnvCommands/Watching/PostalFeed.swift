internal import EnvOperations
internal import Glibc
internal import PostalDevice
internal import PostalProtocol
internal import Vault
internal import VercelAPI

/// What relays tell, for a command that runs for long: reads their streams beside the command's own
/// work, drops the kept answers that an event makes old, and has the vault see what was changed on the
/// platform. What is to be shown or told of it is the command's own matter.
///
/// One process of a vault reads at a time, since a relay has one stream for each device. The others find
/// the vault and the kept answers changed.
final class PostalFeed {
    /// What a turn brought.
    struct News {
        /// Projects of which deployments, or the project itself, changed.
        var projects: Set<PostalInbox.Project> = []
        /// Accounts of which anything may have changed, because events are lost.
        var accounts: Set<String> = []
        /// Whether the vault was written.
        var wroteVault = false
        /// How it stands with each relay, and with what it told.
        var reports: [Report] = []
    }

    /// What something is, what is wrong with it, if anything is, and what is said once that is over.
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
    /// When the lock is tried again, and when a project is looked at again, by `CLOCK_MONOTONIC`.
    private var (lockAt, lookAt) = (Duration.zero, Duration.zero)
    private var lookFailures = 0

    private static let lockPause = Duration.seconds(5)

    /// Begins nothing yet; ``turn(at:)`` does.
    init(
        _ workspace: Workspace, _ files: NotificationFiles, _ registrations: [RelayRegistration]
    ) {
        (self.workspace, self.files) = (workspace, files)
        self.registrations = registrations
    }

    /// Whether the vault is a device of the same relays still.
    func isFor(_ others: [RelayRegistration]) -> Bool {
        registrations.map(\.id) == others.map(\.id)
    }

    /// Whether another process reads the streams, and drops the kept answers that events make old.
    var isElsewhere: Bool { lock == nil }

    /// Whether events of an account come at once.
    func isUp(_ account: String) -> Bool {
        relays.contains {
            $0.stream.status == .up && $0.registration.accounts.contains(account)
        }
    }

    /// Whether a turn would bring something.
    var hasNews: Bool { relays.contains { $0.stream.hasMessages } }

    /// Does what is due. Waits for the platform where a project is to be looked at, and never for a relay.
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
            // What is killed in between drops once more what was dropped.
            try dropAnswers(news)
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
                "\(address): \(reason). The platform is asked from time to time meanwhile."
            case .refused:
                "\(address) does not know this device any more. Leave with: zg-env postal leave, and join anew."
            }
        return ("relay \(address)", trouble, "\(address) is heard again.")
    }

    private static func report(_ project: PostalInbox.Project, _ trouble: String?) -> Report {
        (
            "variables \(project.account)", trouble,
            "What was changed on the platform is looked up again."
        )
    }

    /// Opens the streams once no other process has them.
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
                throw CommandError(.failed, "No thread can be had to read the relay's events.")
            }
            relays.append(relay)
        }
    }

    // MARK: Kept answers

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

    /// Drops what deployments of these projects, or the projects themselves, have made old.
    private func dropAnswers(_ news: News) throws {
        guard !news.projects.isEmpty || !news.accounts.isEmpty else { return }
        let index = try workspace.session.index(.listing)
        let keys = try workspace.session.keys(.index)
        let answers = try PlatformAnswers(workspace, keys: keys)
        let accounts = news.accounts.union(news.projects.map(\.account))
        let bound = index.projects.compactMap { project -> (PostalInbox.Project, String)? in
            project.binding.map { ($0.postalProject, $0.origin) }
        }
        answers.drop { answer in
            if case .projects = answer.address.subject {
                // A new project is in no list; a slug may be anybody's.
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

    /// Has the vault see the variables of one project that have changed on the platform: one request.
    private func look(at now: Duration, _ news: inout News) throws {
        guard now >= lookAt else { return }
        for name in inboxes.keys where inboxes[name]?.anyMayHaveChanged == true {
            let accounts = registrations.first { $0.id.hexadecimal == name }?.accounts ?? []
            let bound = try workspace.session.index(.listing).projects
                .compactMap { $0.binding?.postalProject }
            inboxes[name]?.expectLook(at: bound.filter { accounts.contains($0.account) })
            try files.keep(inboxes)
        }
        guard
            let (name, project) = inboxes.lazy.compactMap({ name, inbox in
                inbox.changed.first.map { (name, $0) }
            }).first
        else { return }
        do {
            for local in try workspace.session.index(.listing).projects
            where local.binding?.postalProject == project {
                if try PlatformRefresh.look(at: local, workspace).wroteVault {
                    news.wroteVault = true
                }
            }
            lookFailures = 0
            inboxes[name]?.noteLook(at: project)
            try files.keep(inboxes)
            news.reports.append(Self.report(project, nil))
        } catch {
            let failure = CommandError(mapping: error)
            inboxes[name]?.postpone(project)
            lookFailures = min(lookFailures + 1, 10)
            // A refusal does not get better by asking again soon.
            let isFinal = failure.code != .unavailable && failure.code != .conflict
            let pause = isFinal ? RefreshIntervals.longestPause : .seconds(5 << lookFailures)
            lookAt = now + min(pause, RefreshIntervals.longestPause)
            news.reports.append(
                Self.report(
                    project,
                    "Variables were changed on the platform, and which could not be looked up. \(failure.message) It is tried again."
                ))
        }
    }
}

extension VaultProject.Binding {
    /// The project as events name it.
    var postalProject: PostalInbox.Project {
        PostalInbox.Project(account: teamID ?? accountID, id: projectID)
    }
}
