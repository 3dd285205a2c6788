internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import Vault
internal import VercelAPI

/// The main loop of the full-screen program. Of four threads, one paints and handles keys, one polls
/// Vercel, one runs changes and one follows a log. They take turns: a thread gives up its turn
/// while it waits, so only one of them accesses this object at a time.
final class WatchLoop {
    /// How long a value stays on the screen.
    private static let valueLimit = Duration.seconds(30)

    private let workspace: Workspace
    private let browser: Browser
    private let screen: ScreenTerminal
    private let platform: WatchedVercel
    private var turns: GlobalLock { workspace.session.turns }
    private var style: Style
    private var model = WatchModel()
    private var size = ScreenTerminal.Size(columns: 80, rows: 24)
    private var isOver = false
    /// The error that ended the program.
    private var failure: (any Error)?

    private var value: WatchedValue?
    private var valueEnd: Duration?

    /// Work for a background thread.
    private enum Job {
        case look(String)
        case log(WatchRow, project: String)
        case change(DeploymentChange, project: String)
        case history(WatchVariable, project: String)

        var isLog: Bool {
            if case .log = self { true } else { false }
        }

        /// Whether it sends requests to Vercel.
        var needsVercel: Bool {
            if case .history = self { false } else { true }
        }
    }
    private var jobs: [Job] = []
    private var answer: Bool?
    /// Identifies the shown log, to end previous ones.
    private var logNumber = 0

    /// Opens everything that may need a passphrase, while a prompt is still possible.
    ///
    /// - Parameters:
    ///   - names: The projects to show; empty for all.
    ///   - opened: The project whose variables are shown first; nil for the list of projects.
    init(
        _ workspace: Workspace, names: [String], opened: String?, intervals: RefreshIntervals
    ) throws {
        self.workspace = workspace
        browser = Browser(workspace.context)
        style = TerminalStyle(workspace.context).style
        screen = try ScreenTerminal()
        platform = try WatchedVercel(workspace, names: names, intervals: intervals)
        // The values are not needed from here on, until one is revealed.
        try? workspace.session.keepIndexTierOnly()
        model.isOffline = workspace.options.offline
        platform.onRefreshChange = { [unowned self] isRefreshing in
            model.isRefreshing = isRefreshing
            screen.wake()
        }
        platform.poller.tell = { [unowned self] message in
            model.message = message
            screen.wake()
        }
        takeVercel()
        if let opened,
            let project = model.projects.first(where: { $0.isLocal && $0.name == opened })
        {
            model.open(project.id, .variables)
        }
        if !platform.hasVault {
            model.advice = "There is no vault yet. Create one with: zg-env init"
        }
    }

    /// Runs the screen until the user quits.
    func run() throws {
        defer { screen.leave() }
        try screen.enter()
        try paint()
        turns.run(4, limit: 4) { [self] place in
            switch place {
            case 0: show()
            case 1: keepPolling()
            default: work(onLogs: place == 3)
            }
            return true
        }
        Interrupts.clearCancellation()
        // After a signal, later failures such as a lost terminal do not matter.
        if let failure, Interrupts.pending == nil { throw failure }
    }

    private func end(_ error: (any Error)? = nil) {
        failure = failure ?? error
        guard !isOver else { return }
        isOver = true
        // Cancels waiting requests, as a signal does.
        Interrupts.requestCancellation()
        turns.notify()
        screen.wake()
    }

    private func takeVercel() {
        model.projects = platform.projects()
        model.askedAt = platform.askedAt
    }

    // MARK: The screen

    private func paint() throws {
        size = screen.size
        try screen.paint(
            WatchScreen(model: model, size: size, now: workspace.context.now(), style: style)
                .lines())
        model.questionIsShown = model.shownQuestion != nil
    }

    private func show() {
        do {
            while !isOver, Interrupts.pending == nil {
                if value == nil { try paint() }
                let news = turns.away { [turns] in
                    defer { turns.endIfStuck() }
                    return screen.wait(milliseconds: 1_000)
                }
                guard !news.isGone else { throw TerminalError.endOfInput }
                if news.wantsStop {
                    hideValue()
                    try screen.stop()
                }
                if screen.size != size {
                    hideValue()
                    try screen.forget()
                }
                try take(news.keys)
                if let valueEnd, platform.poller.now >= valueEnd { hideValue() }
                browser.reap()
            }
        } catch {
            end(error)
        }
        hideValue()
        screen.leave()
        end()
    }

    private func take(_ keys: [TerminalKey]) throws {
        for key in keys {
            if value != nil {
                hideValue()
                continue
            }
            guard let action = model.take(key, rows: size.rows, columns: size.columns) else {
                continue
            }
            try perform(action)
            if isOver { return }
        }
    }

    private func perform(_ action: WatchModel.Action) throws {
        switch action {
        case .quit: end()
        case .refresh:
            platform.request()
            turns.notify()
        case .browse(let address):
            do {
                try browser.open(address)
                model.message = "Opened \(address)"
            } catch {
                model.message = "\(CommandError(mapping: error).message) URL: \(address)"
            }
        case .look(let id):
            try? platform.readCached(id)
            takeVercel()
            add(.look(id))
        case .followLog(let row, let project): add(.log(row, project: project))
        case .endLog: logNumber += 1
        case .change(let change, let project): add(.change(change, project: project))
        case .act(.history(let variable), let project):
            add(.history(variable, project: project))
        // Needs the terminal for a passphrase, a value, an editor or questions.
        case .act(let action, let project): try runInTerminal(action, project)
        case .answer(let isYes):
            model.question = nil
            answer = isYes
            turns.notify()
        case .reveal(let id, let project): try reveal(id, project)
        }
    }

    private func add(_ job: Job) {
        guard !workspace.options.offline || !job.needsVercel else {
            if case .look = job { return }
            model.message = Self.offline
            return
        }
        jobs.append(job)
        turns.notify()
    }

    private static let offline = "This action needs Vercel, but --offline is set."

    // MARK: Operations on the terminal

    /// Runs another command on the terminal itself, where it asks as it always does, and then shows
    /// its result on the screen.
    private func runInTerminal(_ action: VariableAction, _ project: String) throws {
        guard !workspace.options.offline || !action.needsVercel else {
            model.message = Self.offline
            return
        }
        if let problem = unsafePull(action, project) {
            model.message = problem
            return
        }
        screen.leave()
        let (title, lines) = Interrupts.returningToScreen {
            command(in: project).onTerminal(action)
        }
        guard Interrupts.pending == nil else { return }
        try screen.enter()
        try reread()
        show(lines, title, project)
    }

    private func command(in project: String) -> ScreenCommand {
        ScreenCommand(
            workspace: workspace,
            project: platform.local(project)?.name ?? model.project(project)?.name)
    }

    /// Returns why a project that is not in the vault cannot be pulled from here: by its name alone
    /// another one could be found, in the vault or in another team.
    private func unsafePull(_ action: VariableAction, _ project: String) -> String? {
        guard action == .pull, platform.local(project) == nil else { return nil }
        let name = model.project(project)?.name ?? ""
        let isTaken = model.projects.contains { $0.isLocal && $0.name == name }
        guard platform.accounts.count > 1 || isTaken else { return nil }
        return
            "Several projects match. Link this one first: zg-env link \(word: name) --as LOCAL --team TEAM"
    }

    /// Shows the result of an operation: one line as a message, more on a page of their own.
    ///
    /// - Parameter variable: The variable whose history it is.
    private func show(
        _ lines: [String], _ title: String, _ project: String,
        historyOf variable: WatchVariable? = nil
    ) {
        let safe = lines.map { DisplayText.safe($0) }
        guard safe.count > 1 || safe.contains(where: { DisplayText.width($0) > 3 * size.columns })
        else {
            model.message = safe.first ?? "Done."
            return
        }
        // A log that is followed must not write into this page.
        logNumber += 1
        model.show(safe, title: title, project: project, historyOf: variable)
    }

    private func reread() throws {
        do {
            try platform.reread()
        } catch {
            model.trouble = CommandError(mapping: error).message
        }
        takeVercel()
    }

    // MARK: Values

    private func reveal(_ id: Identifier, _ project: String) throws {
        guard let local = platform.local(project) else {
            model.message = "This project is no longer in the vault."
            return
        }
        // The passphrase prompt works as in any other command, outside of the screen.
        screen.leave()
        let name = model.project(project)?.variables.first { $0.id == id }?.name
        do {
            value = try workspace.session.asking(for: name.map { "show \($0)" }) {
                try Interrupts.returningToScreen {
                    try WatchedValue(id, in: local, workspace)
                }
            }
        } catch {
            model.message = CommandError(mapping: error).message
        }
        guard Interrupts.pending == nil else {
            value = nil
            return
        }
        try screen.enter()
        guard let value else { return }
        valueEnd = platform.poller.now + Self.valueLimit
        model.shownValue = value.name
        size = screen.size
        let view = WatchScreen(
            model: model, size: size, now: workspace.context.now(), style: style)
        let painted = try value.painted(rows: view.valueRows, columns: size.columns)
        try screen.paint(view.valueLines(isWhole: painted.isWhole))
        try painted.bytes.withBytes { try screen.write(secret: $0) }
    }

    /// Removes the value from the screen and from memory.
    private func hideValue() {
        guard value != nil else { return }
        (value, valueEnd, model.shownValue) = (nil, nil, nil)
        do { try screen.forget() } catch { end(error) }
    }

    // MARK: Polling

    private func keepPolling() {
        while !isOver {
            do {
                if try platform.poller.turn(platform) { takeFailure() }
            } catch {
                model.trouble = CommandError(mapping: error).message
            }
            guard !isOver else { break }
            takeVercel()
            screen.wake()
            platform.poller.wait(for: platform) { turns.pause(atMost: $0) }
        }
        // Closed while waiting for a relay still fails at once.
        platform.poller.close()
    }

    private func takeFailure() {
        guard !isOver, Interrupts.pending == nil else { return }
        let failure = platform.failure
        model.trouble = failure.map {
            $0.code == .unavailable
                ? "\($0.message) Showing the last known state; retrying." : $0.message
        }
        if platform.hasVault { model.advice = failure?.hint }
        if let failure, [.notFound, .conflict, .usage].contains(failure.code) { end(failure) }
    }

    // MARK: Jobs

    private func work(onLogs: Bool) {
        while !isOver {
            guard let place = jobs.firstIndex(where: { $0.isLog == onLogs }) else {
                turns.pause(atMost: .seconds(60))
                continue
            }
            let job = jobs.remove(at: place)
            do {
                try perform(job)
            } catch {
                let error = CommandError(mapping: error)
                // The header already shows that the refresh failed.
                if case .look = job, error.code == .unavailable { continue }
                model.message = [error.message, error.hint].compactMap { $0 }.joined(separator: " ")
                if job.isLog {
                    model.log.append(
                        .init(
                            text: "(\(DisplayText.safe(sentence: error.message)))", role: .warning))
                }
            }
            if !onLogs { (model.work, model.question) = (nil, nil) }
            takeVercel()
            screen.wake()
        }
    }

    private func perform(_ job: Job) throws {
        switch job {
        case .look(let id): try platform.look(id)
        case .log(let row, let project): try follow(row, project)
        case .change(let change, let project): try perform(change, project)
        case .history(let variable, let project):
            // Asks nothing.
            let lines = try command(in: project).onScreen(ShowHistory(of: variable.name)) { _, _ in
                false
            }
            show(lines, "history of \(variable.name)", project, historyOf: variable)
        }
    }

    /// Runs another command, with its plan and question on this screen.
    private func perform(_ change: DeploymentChange, _ project: String) throws {
        let command = change.command
        let verb = type(of: command).spec.path.last ?? ""
        model.work = "Preparing to \(verb)…"
        screen.wake()
        defer { platform.request() }
        let lines = try self.command(in: project).onScreen(command) { plan, question in
            guard self.ask(plan, question) else { return false }
            self.model.work = "Running \(verb)…"
            self.screen.wake()
            return true
        }
        let done = workspace.options.dryRun ? [] : ["Done: \(verb)."]
        model.message = (done + lines).joined(separator: " ")
    }

    private func ask(_ plan: [String], _ question: String) -> Bool {
        answer = nil
        model.work = nil
        model.question = .init(plan: plan, question: question)
        screen.wake()
        while !isOver {
            if let answer { return answer }
            turns.pause(atMost: .seconds(60))
        }
        return false
    }

    private func follow(_ row: WatchRow, _ project: String) throws {
        logNumber += 1
        let number = logNumber
        (model.log, model.hasLogEnded, model.logScroll) = ([], false, 0)
        let context = workspace.context.beside(turns)
        guard let client = try platform.client(of: project, over: try context.transport()) else {
            return
        }
        let inner = workspace.beside(
            workspace.command, workspace.options, context, ScreenInteraction { _, _ in false })
        let output = WatchLog { [self] entries in
            guard number == logNumber, !isOver else { throw WatchLog.Left() }
            guard !entries.isEmpty else { return }
            model.log += entries
            let surplus = model.log.count - WatchModel.logLimit
            if surplus > 0 { model.log.removeFirst(surplus) }
            screen.wake()
        }
        do {
            let deployment = try client.deployment(row.id)
            _ = try LogFollower(client: client, output: output, workspace: inner)
                .show(deployment, follows: true)
            model.hasLogEnded = true
        } catch is WatchLog.Left {}
    }
}
