internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import Vault
internal import VercelAPI

/// The work of `watch` on a terminal. Four threads take turns: one shows and takes keys, one asks the
/// platform when it is time, one does what keys ask for, and one follows a log. Whoever waits, for a key, the network or a
/// clock, has given up the turn, so that all of this is one thread's at any time.
final class WatchWork {
    /// A value stays on the screen no longer than this.
    private static let valueLimit = Duration.seconds(30)

    private let workspace: Workspace
    private let browser: Browser
    private let screen: ScreenTerminal
    private let platform: WatchedPlatform
    private var turns: TurnTaking { workspace.session.turns }
    private var style: Style
    private var model = WatchModel()
    private var size = ScreenTerminal.Size(columns: 80, rows: 24)
    private var isOver = false
    /// What ended it by itself.
    private var failure: (any Error)?

    private var value: WatchedValue?
    private var valueEnd: Duration?

    /// What is to be done for the user.
    private enum Job {
        case look(String)
        case log(WatchRow, project: String)
        case change(DeploymentChange, project: String)

        var isLog: Bool {
            if case .log = self { true } else { false }
        }
    }
    private var jobs: [Job] = []
    private var answer: Bool?
    /// Tells the log that is wanted from those that are not any more.
    private var logNumber = 0

    /// Opens everything that must be open, while somebody may still be asked for a passphrase.
    init(_ workspace: Workspace, names: [String], intervals: RefreshIntervals) throws {
        self.workspace = workspace
        browser = Browser(workspace.context)
        style = OutputLook(workspace.context).style
        screen = try ScreenTerminal()
        platform = try WatchedPlatform(workspace, names: names, intervals: intervals)
        // From here on nothing needs the values, but when somebody asks for one.
        try? workspace.session.keepIndexTierOnly()
        model.isOffline = workspace.options.offline
        platform.noteAsking = { [unowned self] isAsking in
            model.isAsking = isAsking
            screen.wake()
        }
        platform.poller.tell = { [unowned self] message in
            model.message = message
            screen.wake()
        }
        takePlatform()
    }

    /// Shows it until somebody leaves.
    func run() throws {
        defer { screen.leave() }
        try screen.enter()
        try paint()
        turns.run(4, limit: 4) { [self] place in
            switch place {
            case 0: show()
            case 1: keepAsking()
            default: work(onLogs: place == 3)
            }
            return true
        }
        Interrupts.forgetEnd()
        // A signal says why it ended; what failed after that, such as a terminal that is gone, does not.
        if let failure, Interrupts.pending == nil { throw failure }
    }

    private func end(_ error: (any Error)? = nil) {
        failure = failure ?? error
        guard !isOver else { return }
        isOver = true
        // What waits for the network gives up, as for a signal.
        Interrupts.noteEnd()
        turns.notify()
        screen.wake()
    }

    private func takePlatform() {
        model.projects = platform.projects()
        model.askedAt = platform.askedAt
    }

    // MARK: The screen

    private func paint() throws {
        size = screen.size
        try screen.paint(
            WatchScreen(model: model, size: size, now: workspace.context.now(), style: style)
                .lines())
        model.questionIsSeen = model.question != nil
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
                model.message = "\(CommandError(mapping: error).message) The address: \(address)"
            }
        case .look(let id):
            try? platform.readKept(id)
            takePlatform()
            add(.look(id))
        case .followLog(let row, let project): add(.log(row, project: project))
        case .endLog: logNumber += 1
        case .change(let change, let project): add(.change(change, project: project))
        case .answer(let isYes):
            model.question = nil
            answer = isYes
            turns.notify()
        case .reveal(let id, let project): try reveal(id, project)
        }
    }

    private func add(_ job: Job) {
        guard !workspace.options.offline else {
            if case .look = job { return }
            model.message = "This needs the platform, and --offline forbids it."
            return
        }
        jobs.append(job)
        turns.notify()
    }

    // MARK: Values

    private func reveal(_ id: Identifier, _ project: String) throws {
        guard let local = platform.local(project) else {
            model.message = "The vault does not have this project any more."
            return
        }
        // The passphrase is asked for as everywhere: by whatever the options and the desktop offer.
        screen.leave()
        do {
            value = try WatchedValue(id, in: local, workspace)
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

    /// Takes a value off the screen and out of the memory.
    private func hideValue() {
        guard value != nil else { return }
        (value, valueEnd, model.shownValue) = (nil, nil, nil)
        do { try screen.forget() } catch { end(error) }
    }

    // MARK: Asking

    private func keepAsking() {
        while !isOver {
            do {
                if try platform.poller.turn(platform) { takeFailure() }
            } catch {
                model.trouble = CommandError(mapping: error).message
            }
            guard !isOver else { break }
            takePlatform()
            screen.wake()
            platform.poller.wait(for: platform) { turns.pause(atMost: $0) }
        }
        // While what waits for a relay still gives up at once.
        platform.poller.close()
    }

    private func takeFailure() {
        guard !isOver, Interrupts.pending == nil else { return }
        let failure = platform.failure
        model.trouble = failure.map {
            $0.code == .unavailable
                ? "\($0.message) What was seen last is shown; it is tried again." : $0.message
        }
        if let failure, [.notFound, .conflict, .usage].contains(failure.code) { end(failure) }
    }

    // MARK: Doing

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
                // That there is nothing newer is said above already.
                if case .look = job, error.code == .unavailable { continue }
                let text = [error.message, error.hint].compactMap { $0 }.joined(separator: " ")
                model.message = text
                if job.isLog {
                    model.log.append(
                        .init(
                            text: "(\(DisplayText.safe(sentence: error.message)))", role: .warning))
                }
            }
            if !onLogs { (model.work, model.question) = (nil, nil) }
            takePlatform()
            screen.wake()
        }
    }

    private func perform(_ job: Job) throws {
        switch job {
        case .look(let id): try platform.look(id)
        case .log(let row, let project): try follow(row, project)
        case .change(let change, let project): try perform(change, project)
        }
    }

    /// Does what another command does, with its plan and its question on this screen.
    private func perform(_ change: DeploymentChange, _ project: String) throws {
        let command = change.command
        let spec = type(of: command).spec
        let verb = spec.path.last ?? ""
        model.work = "Preparing to \(verb)."
        screen.wake()
        let context = workspace.context.beside(turns)
        let interaction = ScreenInteraction { plan, question in
            guard self.ask(plan, question) else { return false }
            self.model.work = "Doing it: \(verb)."
            self.screen.wake()
            return true
        }
        let options = workspace.options.forAnother(project: model.project(project)?.name)
        let result = try command.run(
            in: workspace.beside(spec.name, options, context, interaction))
        platform.request()
        if let failure = result.failure { throw failure }
        let notes = interaction.notes + context.warnings.map(\.message)
        let text = try result.text().split(separator: "\n").map { String($0) }
        model.message = ((options.dryRun ? [] : ["Done: \(verb)."]) + notes + text).joined(
            separator: " ")
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
        (model.log, model.isLogOver, model.logScroll) = ([], false, 0)
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
            _ = try LogFollowing(client: client, output: output, workspace: inner)
                .show(deployment, follows: true)
            model.isLogOver = true
        } catch is WatchLog.Left {}
    }
}
