internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import JSON
internal import Vault

/// The work of `notify run`: has a ``Poller`` ask, tells, and keeps.
///
/// What is to be told is kept before it is told, and taken off when it was: what ends in between by
/// force is told once more rather than not at all.
final class NotifyWork: PollingWork {
    typealias Scope = NotificationChoices.Scope

    /// An account or team of which something is chosen.
    final class ChosenAccount: PolledAccount {
        let scope: Scope
        fileprivate(set) var source = PlatformWatchSource()

        fileprivate init(_ scope: Scope) {
            self.scope = scope
            super.init(
                VaultProject.Binding(
                    origin: scope.origin, accountID: scope.accountID, teamID: scope.teamID,
                    teamSlug: nil, projectID: "", projectName: ""),
                relayName: scope.teamID ?? scope.accountID)
        }
    }

    private let workspace: Workspace
    private let poller: Poller
    private let desktop: DesktopSink?
    private let lock: NotificationFiles.RunLock
    private var files: NotificationFiles
    private var choices: NotificationChoices
    private var choicesMark: RefreshObservation.FileMark?
    private(set) var accounts: [ChosenAccount] = []
    private var progress: WatchProgress
    /// When the desktop is tried again, by `CLOCK_MONOTONIC`.
    private var desktopRetry: Duration?

    private static let desktopPause = Duration.seconds(15)

    /// Opens everything that must be open, while somebody may still be asked for a passphrase.
    init(_ workspace: Workspace, intervals: RefreshIntervals, usesDesktop: Bool) throws {
        self.workspace = workspace
        desktop = usesDesktop ? try DesktopSink(workspace.context) : nil
        // Kept answers of other processes tell nothing that a list would not.
        poller = Poller(workspace, intervals: intervals, heedsAnswers: false)
        let keys = try workspace.session.keys(.index)
        files = try NotificationFiles(workspace, keys: keys)
        lock = try NotificationFiles.RunLock(files)
        choicesMark = RefreshObserver.mark(files.choicesPath)
        choices = try files.choices()
        let kept = try files.progress()
        progress = kept.progress ?? WatchProgress()
        // With --offline this is refused.
        _ = try PlatformSession(workspace)
        openAccounts()
        // From here on nothing needs the values.
        try workspace.session.keepIndexTierOnly()
        if kept.isUnreadable {
            workspace.note(
                "What was seen before does not open with this vault's keys: what happened meanwhile is not told."
            )
        }
        if choices.choices.isEmpty {
            workspace.note(
                "Nothing is chosen yet. Choose with: zg-env notify set PROJECT --on ready,failed")
        }
        if let desktop { try checkServer(desktop) }
    }

    /// Has an account for each scope of which something is chosen.
    private func openAccounts() {
        let known = accounts
        accounts = choices.scopes.sorted {
            ($0.origin, $0.teamID ?? "", $0.accountID) < ($1.origin, $1.teamID ?? "", $1.accountID)
        }.map { scope in known.first { $0.scope == scope } ?? ChosenAccount(scope) }
        for account in accounts { account.source = PlatformWatchSource(account, workspace) }
    }

    private func checkServer(_ desktop: DesktopSink) throws {
        do throws(DesktopNotificationError) {
            _ = try desktop.capabilities()
        } catch {
            let failure = CommandError(mapping: error)
            // A server may start later, as at a login; a bus or a library does not.
            guard error.code == .noServer || error.code == .timedOut else { throw failure }
            try poller.say("desktop", failure.message)
        }
    }

    /// Works as long as `goesOn`.
    func run(while goesOn: () -> Bool) throws {
        defer { withExtendedLifetime(lock) {} }
        while goesOn() {
            reloadChoices()
            _ = try poller.turn(self)
            guard goesOn() else { return }
            try deliver()
            try poller.wait(for: self) { step in
                if let desktop, desktop.isConnected {
                    try desktop.wait(step)
                } else {
                    Poller.sleep(step)
                }
            }
        }
    }

    // MARK: Asking

    func wants(_ project: String, of account: ChosenAccount) -> Bool {
        choices.choices(in: account.scope)[project] != nil
    }

    func ask(
        _ account: ChosenAccount, because reasons: Set<RefreshSchedule.Reason>
    ) throws -> Poller.Answer {
        let before = progress
        // After a sleep or a long outage nobody watched either.
        let isLate =
            !account.hasAnswered || reasons.contains(.resumed) || account.schedule.failureCount > 2
        let now = Int64(clamping: workspace.context.now())
        let (outcome, failure) = progress.refresh(
            account.scope, choices, now: now, isLate: isLate, from: account.source)
        if progress != before { try files.keep(progress) }
        workspace.detail(
            "Asked (\(reasons.map(\.rawValue).sorted().joined(separator: ", "))): \(failure?.reason ?? "answered")."
        )
        let place = "platform \(account.relayName ?? "") \(account.scope.origin)"
        if failure == nil { try poller.end(place, "The platform answers again.") }
        if let failure, Interrupts.pending == nil {
            try poller.say(place, "\(failure.reason) It is tried again.")
        }
        return (outcome, failure.map { CommandError(.unavailable, $0.reason) })
    }

    // MARK: Telling

    private func deliver() throws {
        if let desktopRetry, poller.now < desktopRetry { return }
        desktopRetry = nil
        for message in NotificationMessage.messages(of: progress) {
            if let desktop {
                do throws(DesktopNotificationError) {
                    try desktop.show(message)
                } catch {
                    // Kept, and shown when that is possible again.
                    desktopRetry = poller.now + Self.desktopPause
                    try poller.say("desktop", CommandError(mapping: error).message)
                    return
                }
                try poller.end("desktop", "Notifications are shown again.")
            }
            try print(message)
            progress.noteTold(message)
            try files.keep(progress)
        }
    }

    private func print(_ message: NotificationMessage) throws {
        let output = workspace.context.output
        if workspace.options.json {
            for line in lines(of: message) { try output.write(line: line) }
        } else {
            let time = TimeText.utc(Int64(clamping: workspace.context.now()))
            let body = message.body.split(separator: "\n").joined(separator: "; ")
            let text = body.isEmpty ? message.title : "\(message.title): \(body)"
            try output.write("\(time) \(DisplayText.safe(sentence: text))\n")
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
            return WatchRow(deployment).event(
                entry.change.kind.rawValue, project: entry.project, id: deployment.projectID,
                isLate: entry.isLate, isCurrent: nil)
        }
    }

    // MARK: Changes by others

    private func reloadChoices() {
        let mark = RefreshObserver.mark(files.choicesPath)
        guard mark != choicesMark else { return }
        choicesMark = mark
        do {
            choices = try files.choices()
            openAccounts()
            // Whoever chooses something now wants to see it work.
            for account in accounts { account.schedule.request() }
            try poller.end("choices", "The choices can be read again.")
        } catch {
            // The ones from before go on: nobody took them back.
            try? poller.say("choices", CommandError(mapping: error).message)
        }
    }

    func take(vault: Result<Bool, any Error>) throws {
        do {
            if try vault.get() {
                files = try NotificationFiles(
                    workspace, keys: try workspace.session.keys(.index))
                choicesMark = nil
                reloadChoices()
            }
            openAccounts()
            try poller.end("vault", "The vault can be read again.")
        } catch {
            // Who is logged in is not known any more, so nothing is asked.
            for account in accounts {
                (account.access, account.source) = (nil, PlatformWatchSource())
            }
            try poller.say("vault", CommandError(mapping: error).message)
        }
    }
}
