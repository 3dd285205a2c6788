internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Vault
internal import VercelAPI

/// The work of `notify run`: looks, asks, tells, keeps, waits.
///
/// What is to be told is kept before it is told, and taken off when it was: what ends in between by
/// force is told once more rather than not at all.
final class NotifyWork {
    typealias Scope = NotificationChoices.Scope

    private let invocation: Invocation
    private let observer: RefreshObserver
    private let intervals: RefreshIntervals
    private let desktop: DesktopSink?
    private let lock: NotificationFiles.RunLock
    private var files: NotificationFiles
    private var choices: NotificationChoices
    private var choicesMark: RefreshObservation.FileMark?
    private var source: PlatformWatchSource
    private var progress: WatchProgress
    private var relay: RelayedEvents
    private var schedules: [Scope: RefreshSchedule] = [:]
    /// Scopes that this process has had an answer for: what they tell next is no news from before.
    private var current: Set<Scope> = []
    private var vaultMark: RefreshObservation.FileMark?
    /// What is wrong at present, so that each thing is said once.
    private var troubles: [String: String] = [:]
    /// When the desktop is tried again, by `CLOCK_MONOTONIC`.
    private var desktopRetry: Duration?

    /// How long one look at the surroundings lasts at most.
    private static let tick = Duration.seconds(2)
    private static let desktopPause = Duration.seconds(15)

    /// Opens everything that must be open, while somebody may still be asked for a passphrase.
    init(_ invocation: Invocation, intervals: RefreshIntervals, usesDesktop: Bool) throws {
        self.invocation = invocation
        self.intervals = intervals
        desktop = usesDesktop ? try DesktopSink(invocation.context) : nil
        observer = RefreshObserver(invocation)
        let mark = observer.observation().vault
        let keys = try invocation.session.indexKeys()
        files = try NotificationFiles(invocation, keys: keys)
        lock = try NotificationFiles.RunLock(files)
        choicesMark = RefreshObserver.mark(files.choicesPath)
        choices = try files.choices()
        let kept = try files.progress()
        progress = kept.progress ?? WatchProgress()
        source = try PlatformWatchSource(choices.scopes, invocation)
        relay = RelayedEvents(intervals)
        try relay.open(invocation, files)
        // From here on nothing needs the values.
        try invocation.session.keepIndexTierOnly()
        vaultMark = mark
        if kept.isUnreadable {
            try invocation.note(
                "What was seen before does not open with this vault's keys: what happened meanwhile is not told."
            )
        }
        if choices.choices.isEmpty {
            try invocation.note(
                "Nothing is chosen yet. Choose with: zg-env notify set PROJECT --on ready,failed")
        }
        if let desktop { try checkServer(desktop) }
    }

    private func checkServer(_ desktop: DesktopSink) throws {
        do throws(DesktopNotificationError) {
            _ = try desktop.capabilities()
        } catch {
            let failure = CommandError(mapping: error)
            // A server may start later, as at a login; a bus or a library does not.
            guard error.code == .noServer || error.code == .timedOut else { throw failure }
            try say("desktop", failure.message)
        }
    }

    /// Works as long as `goesOn`.
    func run(while goesOn: () -> Bool) throws {
        defer { withExtendedLifetime(lock) {} }
        while goesOn() {
            try followRelays()
            var observation = observer.observation()
            reloadChoices()
            if observation.vault != vaultMark {
                vaultMark = observation.vault
                try reloadVault()
            }
            // Kept answers of other processes tell nothing that a list would not.
            observation.answers = nil
            for scope in choices.scopes.sorted(by: Self.order) {
                try refresh(scope, observation)
                guard goesOn() else { return }
            }
            try deliver(at: observation.monotonic)
            let pauses = schedules.values.map { $0.wait(at: observation.monotonic) }
            let pause = max(min(pauses.min() ?? Self.tick, Self.tick), .milliseconds(50))
            try wait(pause)
        }
    }

    /// Waits, and not beyond the moment in which a relay tells something.
    private func wait(_ pause: Duration) throws {
        var left = pause
        while left > .zero, !relay.hasNews, Interrupts.pending == nil {
            let step = relay.isOpen ? min(left, RelayedEvents.glance) : left
            left -= step
            if let desktop, desktop.isConnected {
                try desktop.wait(step)
            } else {
                let (seconds, attoseconds) = step.components
                usleep(UInt32(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
            }
        }
    }

    /// Takes what relays told: it is a reason to ask at once, and to ask less often by the timer. What
    /// is told of it comes from the platform's answer alone, and so is told once.
    private func followRelays() throws {
        let now = observer.observation().monotonic
        do {
            for report in try relay.turn(at: now) {
                if let trouble = report.trouble {
                    try say(report.place, trouble)
                } else {
                    try end(report.place, report.relief)
                }
            }
            try end("relays", "The relays' events can be kept again.")
        } catch {
            try say("relays", CommandError(mapping: error).message)
        }
        let mark = relay.takeWrite() ? observer.observation().vault : nil
        for scope in choices.scopes {
            var schedule = schedules[scope] ?? RefreshSchedule(intervals: intervals)
            schedule.use(relay.intervals(for: scope.account, at: now))
            let chosen = choices.choices(in: scope)
            if relay.tellsNews(of: scope.account, at: now, where: { chosen[$0] != nil }) {
                schedule.request(.event)
            }
            if let mark { schedule.acknowledge(vault: mark) }
            schedules[scope] = schedule
        }
        relay.forgetNews()
    }

    private static func order(_ left: Scope, _ right: Scope) -> Bool {
        (left.origin, left.teamID ?? "", left.accountID)
            < (right.origin, right.teamID ?? "", right.accountID)
    }

    // MARK: Asking

    private func refresh(_ scope: Scope, _ observation: RefreshObservation) throws {
        var schedule = schedules[scope] ?? RefreshSchedule(intervals: intervals)
        defer { schedules[scope] = schedule }
        schedule.observe(observation)
        guard let reasons = schedule.begin(at: observation.monotonic) else { return }
        let before = progress
        // After a sleep or a long outage nobody watched either.
        let isLate =
            !current.contains(scope) || reasons.contains(.resumed) || schedule.failureCount > 2
        let now = Int64(clamping: invocation.context.now())
        let (outcome, failure) = progress.refresh(
            scope, choices, now: now, isLate: isLate, from: source)
        schedule.finish(
            outcome, at: observer.observation().monotonic, random: VercelClient.randomFraction())
        if progress != before { try files.keep(progress) }
        try invocation.detail(
            "Asked (\(reasons.map(\.rawValue).sorted().joined(separator: ", "))): \(failure?.reason ?? "answered")."
        )
        let place = "platform \(scope.teamID ?? scope.accountID) \(scope.origin)"
        if let failure {
            guard Interrupts.pending == nil else { return }
            try say(place, "\(failure.reason) It is tried again.")
        } else {
            current.insert(scope)
            try end(place, "The platform answers again.")
        }
    }

    // MARK: Telling

    private func deliver(at now: Duration) throws {
        if let desktopRetry, now < desktopRetry { return }
        desktopRetry = nil
        for message in NotificationMessage.messages(of: progress) {
            if let desktop {
                do throws(DesktopNotificationError) {
                    try desktop.show(message)
                } catch {
                    // Kept, and shown when that is possible again.
                    desktopRetry = now + Self.desktopPause
                    try say("desktop", CommandError(mapping: error).message)
                    return
                }
                try end("desktop", "Notifications are shown again.")
            }
            try print(message)
            progress.noteTold(message)
            try files.keep(progress)
        }
    }

    private func print(_ message: NotificationMessage) throws {
        let output = invocation.context.output
        if invocation.options.json {
            for line in lines(of: message) {
                try line.encoded.withBytes { try output.write($0) }
                try output.write("\n")
            }
        } else {
            let time = TimeText.utc(Int64(clamping: invocation.context.now()))
            let body = message.body.split(separator: "\n").joined(separator: "; ")
            let text = body.isEmpty ? message.title : "\(message.title): \(body)"
            try output.write("\(time) \(DisplayText.safe(text))\n")
        }
        try output.flush()
    }

    private func lines(of message: NotificationMessage) -> [JSONValue] {
        if message.coversCounts {
            return [
                [
                    "event": "lost", "untold": .integer(Int64(progress.untold)),
                    "cutLists": .integer(Int64(progress.unseen)),
                ]
            ]
        }
        return message.covers.map { entry in
            let deployment = entry.change.deployment
            return [
                "event": .string(entry.change.kind.rawValue), "project": .string(entry.project),
                "projectId": .string(deployment.projectID), "late": .bool(entry.isLate),
                "deployment": [
                    "id": .string(deployment.id),
                    "url": .string(
                        orNull: deployment.url.map { $0.contains("://") ? $0 : "https://\($0)" }),
                    "state": .string(deployment.state), "target": .string(deployment.target),
                    "branch": .string(orNull: deployment.branch),
                    "createdAt": .time(orNull: deployment.createdAt), "current": .null,
                ],
            ]
        }
    }

    // MARK: Changes by others

    private func reloadChoices() {
        let mark = RefreshObserver.mark(files.choicesPath)
        guard mark != choicesMark else { return }
        choicesMark = mark
        do {
            choices = try files.choices()
            source = try PlatformWatchSource(choices.scopes, invocation)
            // Whoever chooses something now wants to see it work.
            for scope in schedules.keys { schedules[scope]?.request() }
            schedules = schedules.filter { choices.scopes.contains($0.key) }
            current.formIntersection(choices.scopes)
            try end("choices", "The choices can be read again.")
        } catch {
            // The ones from before go on: nobody took them back.
            try? say("choices", CommandError(mapping: error).message)
        }
    }

    /// Takes the vault as it is now: another token, another account, other keys.
    private func reloadVault() throws {
        let session = invocation.session
        do {
            session.forgetVault()
            do {
                _ = try session.index(.listing)
            } catch {
                // New keys; the keyring or another source that asks nobody may have them.
                session.forgetKeys()
                guard let keys = try session.indexKeysWithoutAsking() else {
                    throw CommandError(
                        .locked, "The vault got other keys, and nothing here opens it.",
                        hint: "Run zg-env notify run again.")
                }
                files = try NotificationFiles(invocation, keys: keys)
                try session.keepIndexTierOnly()
                choicesMark = nil
                reloadChoices()
                relay.close()
            }
            source = try PlatformWatchSource(choices.scopes, invocation)
            try relay.open(invocation, files)
            try end("vault", "The vault can be read again.")
        } catch {
            // Who is logged in is not known any more, so nothing is asked.
            source = try PlatformWatchSource([], invocation)
            try say("vault", CommandError(mapping: error).message)
        }
    }

    // MARK: Words

    private func say(_ place: String, _ message: String) throws {
        guard troubles[place] != message else { return }
        troubles[place] = message
        try invocation.note(message)
    }

    private func end(_ place: String, _ message: String) throws {
        guard troubles.removeValue(forKey: place) != nil else { return }
        try invocation.note(message)
    }
}
