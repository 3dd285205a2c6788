internal import CommandLineKit
internal import DesktopNotifications
internal import EnvOperations
internal import JSON
internal import Vault

/// The main loop of `notify run`: polls through a ``Poller``, shows messages and saves progress.
///
/// Messages are saved before they are shown and removed afterwards: a process that is killed in
/// between shows a message twice rather than never.
final class NotifyLoop: PollerDelegate {
    typealias Scope = NotificationChoices.Scope

    /// An account or team with at least one chosen project.
    final class WatchedAccount: PolledAccount {
        let scope: Scope
        fileprivate(set) var source = VercelWatchSource()

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
    private let desktop: DesktopNotifier?
    private let lock: NotificationFiles.RunLock
    private var files: NotificationFiles
    private var choices: NotificationChoices
    private var choicesMark: RefreshObservation.FileMark?
    private(set) var accounts: [WatchedAccount] = []
    private var progress: WatchProgress
    /// When to try the desktop again, by `CLOCK_MONOTONIC`.
    private var desktopRetry: Duration?

    private static let desktopPause = Duration.seconds(15)

    /// Opens everything that may need a passphrase, while a prompt is still possible.
    init(_ workspace: Workspace, intervals: RefreshIntervals, usesDesktop: Bool) throws {
        self.workspace = workspace
        desktop = usesDesktop ? try DesktopNotifier(workspace.context) : nil
        // Cached responses of other processes have nothing that a list does not.
        poller = Poller(workspace, intervals: intervals, watchesCache: false)
        let keys = try workspace.session.keys(.index)
        files = try NotificationFiles(workspace, keys: keys)
        lock = try NotificationFiles.RunLock(files)
        choicesMark = RefreshObserver.mark(files.choicesPath)
        choices = try files.choices()
        let kept = try files.progress()
        progress = kept.progress ?? WatchProgress()
        // Fails with --offline.
        _ = try VercelSession(workspace)
        openAccounts()
        // The values are not needed from here on.
        try workspace.session.keepIndexTierOnly()
        if kept.isUnreadable {
            workspace.note(
                "The saved progress cannot be decrypted with this vault's keys; events since the last run are not reported."
            )
        }
        if choices.choices.isEmpty { workspace.note(NotifyShow.nothing) }
        if let desktop { try checkServer(desktop) }
    }

    /// Opens an account for each scope with a chosen project.
    private func openAccounts() {
        let known = accounts
        accounts = choices.scopes.sorted {
            ($0.origin, $0.teamID ?? "", $0.accountID) < ($1.origin, $1.teamID ?? "", $1.accountID)
        }.map { scope in known.first { $0.scope == scope } ?? WatchedAccount(scope) }
        for account in accounts { account.source = VercelWatchSource(account, workspace) }
    }

    private func checkServer(_ desktop: DesktopNotifier) throws {
        do throws(DesktopNotificationError) {
            _ = try desktop.capabilities()
        } catch {
            let failure = CommandError(mapping: error)
            // A server may start later, as at login; a bus or a library does not.
            guard error.code == .noServer || error.code == .timedOut else { throw failure }
            try poller.say("desktop", failure.message)
        }
    }

    func run(while shouldContinue: () -> Bool) throws {
        defer { withExtendedLifetime(lock) {} }
        while shouldContinue() {
            reloadChoices()
            _ = try poller.turn(self)
            guard shouldContinue() else { return }
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

    // MARK: Polling

    func wants(_ project: String, of account: WatchedAccount) -> Bool {
        choices.choices(in: account.scope)[project] != nil
    }

    func ask(
        _ account: WatchedAccount, because reasons: Set<RefreshSchedule.Reason>
    ) throws -> Poller.Answer {
        let before = progress
        // After a sleep or a long outage, events may have been missed as well.
        let isLate =
            !account.hasAnswered || reasons.contains(.resumed) || account.schedule.failureCount > 2
        let now = Int64(clamping: workspace.context.now())
        let (outcome, failure) = progress.refresh(
            account.scope, choices, now: now, isLate: isLate, from: account.source)
        if progress != before { try files.keep(progress) }
        workspace.detail(
            "Polled (\(reasons.map(\.rawValue).sorted().joined(separator: ", "))): \(failure?.reason ?? "answered")."
        )
        let place = "platform \(account.relayName ?? "") \(account.scope.origin)"
        if failure == nil { try poller.end(place, "Vercel is reachable again.") }
        if let failure, Interrupts.pending == nil {
            try poller.say(place, "\(failure.reason) Retrying.")
        }
        return (outcome, failure.map { CommandError(.unavailable, $0.reason) })
    }

    // MARK: Delivery

    private func deliver() throws {
        if let desktopRetry, poller.now < desktopRetry { return }
        desktopRetry = nil
        for message in NotificationMessage.messages(of: progress) {
            if let desktop {
                do throws(DesktopNotificationError) {
                    try desktop.show(message)
                } catch {
                    // The message stays queued until the desktop is back.
                    desktopRetry = poller.now + Self.desktopPause
                    try poller.say("desktop", CommandError(mapping: error).message)
                    return
                }
                try poller.end("desktop", "Notifications are working again.")
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
            // A person who has just chosen something wants to see it work.
            for account in accounts { account.schedule.request() }
            try poller.end("choices", "The notification settings can be read again.")
        } catch {
            // The previous choices stay in force: nobody revoked them.
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
            // The logged-in accounts are unknown now, so nothing is requested.
            for account in accounts {
                (account.access, account.source) = (nil, VercelWatchSource())
            }
            try poller.say("vault", CommandError(mapping: error).message)
        }
    }
}
