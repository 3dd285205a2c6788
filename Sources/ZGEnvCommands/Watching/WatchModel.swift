internal import CommandLineKit
internal import Vault

/// What is on the screen of `watch`, and what a key makes of it. Pure.
struct WatchModel {
    /// What fills the screen.
    enum Page: Equatable {
        case projects
        case project(String)
        case log(WatchRow, project: String)
    }

    /// What can be selected.
    enum Item: Equatable {
        case project(WatchProject)
        case deployment(WatchRow)
        case variable(WatchVariable)

        /// What it is known by when everything around it has changed.
        var key: String {
            switch self {
            case .project(let project): project.id
            case .deployment(let row): row.id
            case .variable(let variable): variable.id.hexadecimal
            }
        }
    }

    /// What is to be done outside of the screen.
    enum Action: Equatable {
        case quit
        case refresh
        case browse(String)
        /// A project's page was opened.
        case look(String)
        case followLog(WatchRow, project: String)
        case endLog
        /// A command's words, for a project.
        case change(DeploymentChange, project: String)
        case answer(Bool)
        case reveal(Identifier, project: String)
    }

    /// What is asked before something is done.
    struct Question: Equatable {
        let plan: [String]
        let question: String
    }

    /// A line of a log.
    struct LogEntry: Equatable {
        let text: String
        let role: Style.Role
    }

    /// Most lines of a log that are kept.
    static let logLimit = 2_000
    /// Most characters of a filter.
    static let filterLimit = 60

    var projects: [WatchProject] = []
    /// When what is shown was asked for; nil where nothing was.
    var askedAt: UInt64?
    /// Whether a question to the platform is under way.
    var isAsking = false
    var isOffline = false
    /// Why there is nothing newer.
    var trouble: String?
    /// What was done last, until the next key.
    var message: String?
    /// What is being done.
    var work: String?
    var question: Question? {
        didSet { if question != oldValue { questionIsSeen = false } }
    }
    /// Whether the question has been on the screen: a key that was typed before is no answer to it.
    var questionIsSeen = false
    var log: [LogEntry] = []
    var isLogOver = false
    /// Display rows from the end of the log; 0 goes with it.
    var logScroll = 0
    /// The variable whose value is shown.
    var shownValue: String?

    private(set) var pages: [Page] = [.projects]
    private(set) var filter = ""
    private(set) var isFiltering = false
    private(set) var failedFirst = false
    private(set) var showsHelp = false
    /// The selected item of each page.
    private var selected: [String?] = [nil]
    private var wantsToLeave = false

    var page: Page { pages.last ?? .projects }

    /// The projects that the filter lets through, in the order of the screen.
    var visible: [WatchProject] {
        let wanted = filter.lowercased()
        return projects.filter { wanted.isEmpty || $0.name.lowercased().contains(wanted) }
            .sorted { left, right in
                if failedFirst, left.failedAt != right.failedAt {
                    return left.failedAt > right.failedAt
                }
                return left.newestAt == right.newestAt
                    ? left.name < right.name : left.newestAt > right.newestAt
            }
    }

    func project(_ id: String) -> WatchProject? { projects.first { $0.id == id } }

    /// What can be selected on the page.
    var items: [Item] {
        switch page {
        case .projects: return visible.map { .project($0) }
        case .project(let id):
            guard let project = project(id) else { return [] }
            let wanted = filter.lowercased()
            return project.rows.map { .deployment($0) }
                + project.variables.filter {
                    wanted.isEmpty || $0.name.lowercased().contains(wanted)
                }.map { .variable($0) }
        case .log: return []
        }
    }

    /// The place of the selected item; where it is gone, the first one.
    func selection(in items: [Item]) -> Int {
        let key = selected.last ?? nil
        return key.flatMap { key in items.firstIndex { $0.key == key } } ?? 0
    }

    // MARK: Keys

    /// Takes a key.
    ///
    /// - Parameters:
    ///   - rows: Rows of the screen, for a page up or down.
    ///   - columns: Columns of it, for how long a log is, and what of a question is seen.
    mutating func take(_ key: TerminalKey, rows: Int, columns: Int = 80) -> Action? {
        let wanted = wantsToLeave
        (message, wantsToLeave) = (nil, false)
        if question != nil { return answer(key, rows, columns) }
        if showsHelp {
            showsHelp = false
            return nil
        }
        if isFiltering { return takeFilter(key) }
        if let step = Self.step(key, rows: rows) {
            if case .log = page { scroll(step, rows, columns) } else { move(step) }
            return nil
        }
        switch key {
        case .enter, .right: return open()
        case .escape, .left, .backspace: return back()
        case .character("q"): return quit(wanted)
        case .character("?"): showsHelp = true
        case .character("/"):
            if case .log = page { return nil }
            isFiltering = true
        case .character("f"): failedFirst.toggle()
        case .character("R"): return .refresh
        case .character(let letter): return act(letter)
        default: break
        }
        return nil
    }

    private mutating func quit(_ wanted: Bool) -> Action? {
        guard let work, !wanted else { return .quit }
        (wantsToLeave, message) = (true, "\(work) Press q again to leave before it has ended.")
        return nil
    }

    private mutating func answer(_ key: TerminalKey, _ rows: Int, _ columns: Int) -> Action? {
        switch key {
        case .character("y"), .character("Y"):
            let screen = WatchScreen(
                model: self, size: .init(columns: columns, rows: rows), now: 0, style: .plain)
            guard questionIsSeen else { return nil }
            // Nobody agrees to what cannot be read.
            guard screen.showsWholeQuestion else {
                message = WatchScreen.tooLarge
                return nil
            }
            return .answer(true)
        case .character("n"), .character("N"), .character("q"), .escape: return .answer(false)
        default: return nil
        }
    }

    private mutating func takeFilter(_ key: TerminalKey) -> Action? {
        switch key {
        case .enter: isFiltering = false
        case .escape: (filter, isFiltering) = ("", false)
        case .backspace:
            if filter.isEmpty { isFiltering = false } else { filter.removeLast() }
        case .character(let letter) where filter.count < Self.filterLimit: filter.append(letter)
        case .up, .down: move(key == .up ? -1 : 1)
        default: break
        }
        return nil
    }

    /// How far a key moves; nil for one that does not.
    private static func step(_ key: TerminalKey, rows: Int) -> Int? {
        switch key {
        case .up, .character("k"): -1
        case .down, .character("j"): 1
        case .pageUp: -max(rows - 4, 1)
        case .pageDown: max(rows - 4, 1)
        case .home, .character("g"): -1_000_000
        case .end, .character("G"): 1_000_000
        default: nil
        }
    }

    private mutating func scroll(_ step: Int, _ rows: Int, _ columns: Int) {
        let count = log.reduce(isLogOver ? 1 : 0) {
            $0 + WatchScreen.pieces($1.text, columns).count
        }
        logScroll = min(max(logScroll - step, 0), max(count - max(rows - 2, 1), 0))
    }

    private mutating func move(_ step: Int) {
        let items = items
        guard !items.isEmpty else { return }
        let place = min(max(selection(in: items) + step, 0), items.count - 1)
        selected[selected.count - 1] = items[place].key
    }

    private mutating func open() -> Action? {
        let items = items
        guard !items.isEmpty else { return nil }
        switch items[selection(in: items)] {
        case .project(let project):
            push(.project(project.id))
            return .look(project.id)
        case .deployment: return act("l")
        case .variable: return act("v")
        }
    }

    private mutating func push(_ page: Page) {
        // What is selected stays so, whatever the order becomes meanwhile.
        let items = items
        if !items.isEmpty { selected[selected.count - 1] = items[selection(in: items)].key }
        pages.append(page)
        selected.append(nil)
        (filter, isFiltering) = ("", false)
    }

    private mutating func back() -> Action? {
        if !filter.isEmpty {
            filter = ""
            return nil
        }
        guard pages.count > 1 else { return nil }
        let left = pages.removeLast()
        selected.removeLast()
        guard case .log = left else { return nil }
        (log, logScroll, isLogOver) = ([], 0, false)
        return .endLog
    }

    // MARK: Doing

    /// The deployment that the selection is about, and its project.
    private var subject: (row: WatchRow?, project: WatchProject)? {
        if case .log(let row, let id) = page {
            guard let project = project(id) else { return nil }
            return (project.rows.first { $0.id == row.id } ?? row, project)
        }
        let items = items
        guard !items.isEmpty else { return nil }
        switch (items[selection(in: items)], page) {
        case (.project(let project), _): return (project.rows.first, project)
        case (.deployment(let row), .project(let id)): return project(id).map { (row, $0) }
        case (.variable, .project(let id)): return project(id).map { (nil, $0) }
        default: return nil
        }
    }

    private mutating func act(_ letter: Character) -> Action? {
        guard "lrpbov".contains(letter) else { return nil }
        if letter == "v" { return reveal() }
        guard let (row, project) = subject else { return nil }
        // Production goes back to where it was, from a list to no deployment in particular.
        if letter == "b", case .projects = page {
            return change(.rollback(nil), project)
        }
        guard let row else {
            message = "Select a deployment first."
            return nil
        }
        switch letter {
        case "l":
            if case .log = page { return nil }
            push(.log(row, project: project.id))
            return .followLog(row, project: project.id)
        case "o":
            guard let address = row.address else {
                message = "\(row.id) has no address that a browser may be given."
                return nil
            }
            return .browse(address)
        case "r": return change(.redeploy(row.id), project)
        case "p": return change(.promote(row.id), project)
        default: return change(.rollback(row.id), project)
        }
    }

    private mutating func change(_ change: DeploymentChange, _ project: WatchProject) -> Action? {
        if let work {
            message = "\(work) Wait for its end."
            return nil
        }
        return .change(change, project: project.id)
    }

    private mutating func reveal() -> Action? {
        let items = items
        guard case .project(let id) = page, !items.isEmpty,
            case .variable(let variable) = items[selection(in: items)]
        else {
            message = "Select a variable on a project's page first."
            return nil
        }
        return .reveal(variable.id, project: id)
    }
}
