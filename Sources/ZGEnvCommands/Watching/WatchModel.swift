internal import CommandLineKit
internal import Vault

/// The state of the `watch` screen, and how keys change it. Performs no I/O.
struct WatchModel {
    /// The page on the screen.
    enum Page: Equatable {
        case projects
        case project(String)
        case log(WatchRow, project: String)
        /// The result of an operation, such as the history of a variable.
        case text(String, project: String, historyOf: WatchVariable? = nil)
    }

    /// One of the two lists of a project.
    enum Pane: Equatable {
        case variables, deployments
    }

    /// A selectable row.
    enum Item: Equatable {
        case project(WatchProject)
        case deployment(WatchRow)
        case variable(WatchVariable)

        /// A stable identity across refreshes.
        var key: String {
            switch self {
            case .project(let project): project.id
            case .deployment(let row): row.id
            case .variable(let variable): variable.id.hexadecimal
            }
        }
    }

    /// What a key asks the program to do.
    enum Action: Equatable {
        case quit
        case refresh
        case browse(String)
        /// The page of a project was opened.
        case look(String)
        case followLog(WatchRow, project: String)
        case endLog
        case change(DeploymentChange, project: String)
        case act(VariableAction, project: String)
        case answer(Bool)
        case reveal(Identifier, project: String)
    }

    /// A plan to confirm.
    struct Question: Equatable {
        let plan: [String]
        let question: String
    }

    /// A line that is being typed.
    struct Entry: Equatable {
        var text = ""
        /// The variable of which it is a version; nil for the name of a new variable.
        var variable: WatchVariable?

        var prompt: String { variable == nil ? "New variable: " : "Restore version: " }
    }

    struct LogEntry: Equatable {
        let text: String
        let role: Style.Role
    }

    /// The maximum number of stored log lines.
    static let logLimit = 2_000
    /// The maximum length of a filter, in characters.
    static let filterLimit = 60
    /// The maximum length of a typed name, in characters.
    static let nameLimit = 256

    var projects: [WatchProject] = []
    /// When the shown data was requested; nil if never.
    var askedAt: UInt64?
    /// Whether a request to Vercel is running.
    var isRefreshing = false
    var isOffline = false
    /// Why the last refresh failed.
    var trouble: String?
    /// What to do if there is nothing to show.
    var advice: String?
    /// The last message, until the next key.
    var message: String?
    /// The operation in progress.
    var work: String?
    var question: Question? {
        didSet { if question != oldValue { questionIsShown = false } }
    }
    /// Whether the question was painted: keys typed before must not answer it.
    var questionIsShown = false
    var log: [LogEntry] = []
    var hasLogEnded = false
    /// Display rows from the end of the log; 0 follows it.
    var logScroll = 0
    /// The variable whose value is shown.
    var shownValue: String?

    private(set) var pages: [Page] = [.projects]
    private(set) var filter = ""
    private(set) var isFiltering = false
    private(set) var entry: Entry?
    /// The list that a project's page shows.
    private(set) var pane = Pane.deployments
    private(set) var failedFirst = false
    private(set) var showsHelp = false
    /// The selected item of each page.
    private var selected: [String?] = [nil]
    private var wantsToQuit = false

    var page: Page { pages.last ?? .projects }

    /// The projects that match the filter, in display order.
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

    /// The selectable rows of the page.
    var items: [Item] {
        switch page {
        case .projects: return visible.map { .project($0) }
        case .project(let id):
            guard let project = project(id) else { return [] }
            guard pane == .variables else { return project.rows.map { .deployment($0) } }
            let wanted = filter.lowercased()
            return project.variables.filter {
                wanted.isEmpty || $0.name.lowercased().contains(wanted)
            }.map { .variable($0) }
        case .log, .text: return []
        }
    }

    /// Returns the index of the selected item; 0 if it is gone.
    func selection(in items: [Item]) -> Int {
        let key = selected.last ?? nil
        return key.flatMap { key in items.firstIndex { $0.key == key } } ?? 0
    }

    /// The selected row; nil without rows.
    private var selectedItem: Item? {
        let items = items
        return items.isEmpty ? nil : items[selection(in: items)]
    }

    // MARK: Keys

    /// Handles a key.
    ///
    /// - Parameters:
    ///   - rows: The rows of the screen.
    ///   - columns: The columns of the screen, for wrapping.
    mutating func take(_ key: TerminalKey, rows: Int, columns: Int = 80) -> Action? {
        let wanted = wantsToQuit
        (message, wantsToQuit) = (nil, false)
        // What is being typed is finished first: none of it may answer a question that arrives.
        if isFiltering { return takeFilter(key) }
        if entry != nil { return takeEntry(key) }
        if question != nil { return answer(key, rows, columns) }
        if showsHelp {
            showsHelp = false
            return nil
        }
        if let step = Self.step(key, rows: rows) {
            if isScrolling { scroll(step, rows, columns) } else { move(step) }
            return nil
        }
        switch key {
        case .tab: return switchPane()
        case .enter, .right: return open()
        case .escape, .left, .backspace: return back()
        case .character("q"): return quit(wanted)
        case .character("?"): showsHelp = true
        case .character("/"):
            if isScrolling || isOnDeployments { return unused("/") }
            isFiltering = true
        case .character("f"):
            guard case .projects = page else { return unused("f") }
            failedFirst.toggle()
        case .character("R"): return .refresh
        case .character(let letter):
            let action = act(letter)
            if action == nil, message == nil, entry == nil { return unused("\(letter)") }
            return action
        default: break
        }
        return nil
    }

    /// Says that a key has no effect on this page.
    private mutating func unused(_ key: String) -> Action? {
        message = "\(key) does nothing in this view. Press ? for the keys."
        return nil
    }

    /// The question to show: none while something is being typed.
    var shownQuestion: Question? { isFiltering || entry != nil ? nil : question }

    /// Whether the page is a text rather than a list.
    private var isScrolling: Bool {
        switch page {
        case .log, .text: true
        case .projects, .project: false
        }
    }

    /// Whether the page is a project's list of deployments.
    private var isOnDeployments: Bool {
        if case .project = page { pane == .deployments } else { false }
    }

    private mutating func switchPane() -> Action? {
        guard case .project(let id) = page else { return unused("Tab") }
        pane = pane == .variables ? .deployments : .variables
        selected[selected.count - 1] = nil
        filter = ""
        return pane == .deployments ? .look(id) : nil
    }

    /// Opens the page of a project with one of its lists.
    mutating func open(_ project: String, _ pane: Pane) {
        self.pane = pane
        push(.project(project))
    }

    /// Opens a page with the result of an operation.
    ///
    /// - Parameter variable: The variable whose history it is.
    mutating func show(
        _ lines: [String], title: String, project: String, historyOf variable: WatchVariable? = nil
    ) {
        switch page {
        case .log, .text: _ = back()
        case .projects, .project: break
        }
        push(.text(title, project: project, historyOf: variable))
        log = lines.map { LogEntry(text: $0, role: .plain) }
        // The beginning first, unlike a log.
        (logScroll, hasLogEnded) = (Self.logLimit, false)
    }

    private mutating func quit(_ wanted: Bool) -> Action? {
        guard let work, !wanted else { return .quit }
        (wantsToQuit, message) = (true, "\(work) Press q again to quit without waiting.")
        return nil
    }

    private mutating func answer(_ key: TerminalKey, _ rows: Int, _ columns: Int) -> Action? {
        switch key {
        case .character("y"), .character("Y"):
            let screen = WatchScreen(
                model: self, size: .init(columns: columns, rows: rows), now: 0, style: .plain)
            guard questionIsShown else { return nil }
            // A plan can only be accepted if all of it is visible.
            guard screen.showsFullQuestion else {
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
        case .backspace where filter.isEmpty: isFiltering = false
        case .backspace, .deleteLine, .deleteWord: filter.delete(by: key)
        case .character(let letter) where filter.count < Self.filterLimit: filter.append(letter)
        case .up, .down: move(key == .up ? -1 : 1)
        default: break
        }
        return nil
    }

    private mutating func takeEntry(_ key: TerminalKey) -> Action? {
        guard let entry else { return nil }
        switch key {
        case .enter:
            self.entry = nil
            return entry.text.isEmpty ? nil : finish(entry)
        case .escape: self.entry = nil
        case .backspace where entry.text.isEmpty: self.entry = nil
        case .backspace, .deleteLine, .deleteWord: self.entry?.text.delete(by: key)
        case .character(let letter) where entry.text.count < Self.nameLimit:
            self.entry?.text.append(letter)
        default: break
        }
        return nil
    }

    private mutating func finish(_ entry: Entry) -> Action? {
        switch page {
        case .project(let id): return act(.set(entry.text, nil), id)
        case .text(_, let id, let variable?):
            guard let number = UInt64(entry.text), number > 0 else {
                message = "Type a number from the column VERSION."
                return nil
            }
            _ = back()
            return act(.restore(variable, number), id)
        default: return nil
        }
    }

    /// Returns how far a key moves the selection; nil for other keys.
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
        let count = log.reduce(hasLogEnded ? 1 : 0) {
            $0 + WatchScreen.pieces($1.text, columns).count
        }
        let most = max(count - max(rows - 2, 1), 0)
        logScroll = min(max(min(logScroll, most) - step, 0), most)
    }

    private mutating func move(_ step: Int) {
        let items = items
        guard !items.isEmpty else { return }
        let place = min(max(selection(in: items) + step, 0), items.count - 1)
        selected[selected.count - 1] = items[place].key
    }

    private mutating func open() -> Action? {
        switch selectedItem {
        case .project(let project)?:
            push(.project(project.id))
            return .look(project.id)
        case .deployment?: return actOnDeployment("l")
        case .variable?: return act("h")
        case nil: return unused("Enter")
        }
    }

    private mutating func push(_ page: Page) {
        // Fixes the selection by identity, since the order may change.
        if let selectedItem { selected[selected.count - 1] = selectedItem.key }
        pages.append(page)
        selected.append(nil)
        (filter, isFiltering, entry) = ("", false, nil)
    }

    private mutating func back() -> Action? {
        if !filter.isEmpty {
            filter = ""
            return nil
        }
        guard pages.count > 1 else {
            message = "Press q to quit."
            return nil
        }
        let left = pages.removeLast()
        selected.removeLast()
        switch left {
        case .log, .text: (log, logScroll, hasLogEnded) = ([], 0, false)
        case .projects, .project: return nil
        }
        guard case .log = left else { return nil }
        return .endLog
    }

    // MARK: Actions

    /// The selected deployment and its project.
    private var subject: (row: WatchRow?, project: WatchProject)? {
        if case .log(let row, let id) = page {
            guard let project = project(id) else { return nil }
            return (project.rows.first { $0.id == row.id } ?? row, project)
        }
        switch (selectedItem, page) {
        case (nil, .project(let id)): return project(id).map { (nil, $0) }
        case (.project(let project)?, _): return (project.rows.first, project)
        case (.deployment(let row)?, .project(let id)): return project(id).map { (row, $0) }
        default: return nil
        }
    }

    private mutating func act(_ letter: Character) -> Action? {
        switch page {
        case .project(let id) where pane == .variables: return actOnVariable(letter, id)
        case .text(_, _, let variable):
            if letter == "r", let variable { entry = Entry(variable: variable) }
            return nil
        default: return actOnDeployment(letter)
        }
    }

    private mutating func actOnVariable(_ letter: Character, _ id: String) -> Action? {
        switch letter {
        case "n":
            entry = Entry()
            return nil
        case "d": return act(.difference, id)
        case "P": return act(.push, id)
        case "p": return act(.pull, id)
        case "v", "c", "s", "e", "x", "h": break
        default: return nil
        }
        guard case .variable(let variable)? = selectedItem else {
            message = "This project has no variables yet. Press n to add one."
            return nil
        }
        switch letter {
        case "v": return .reveal(variable.id, project: id)
        case "c": return act(.copy(variable), id)
        case "s": return act(.set(variable.name, variable.scope), id)
        case "e": return act(.edit(variable), id)
        case "x": return act(.remove(variable), id)
        default: return act(.history(variable), id)
        }
    }

    private mutating func act(_ action: VariableAction, _ id: String) -> Action? {
        if let work {
            message = "\(work) Wait until it is done."
            return nil
        }
        guard project(id)?.isLocal == true || action == .pull else {
            message = "This project is not in the vault. Press p to pull it from Vercel."
            return nil
        }
        return .act(action, project: id)
    }

    private mutating func actOnDeployment(_ letter: Character) -> Action? {
        guard "lrpbo".contains(letter) else { return nil }
        guard let (row, project) = subject else { return nil }
        // From the list of projects, rolls back to the previous production deployment.
        if letter == "b", case .projects = page {
            return change(.rollback(nil), project)
        }
        guard let row else {
            message = "This project has no deployments yet."
            return nil
        }
        switch letter {
        case "l":
            if case .log = page { return nil }
            push(.log(row, project: project.id))
            return .followLog(row, project: project.id)
        case "o":
            guard let address = row.address else {
                message = "\(row.id) has no URL that is safe to open in a browser."
                return nil
            }
            return .browse(address)
        case "r": return change(.redeploy(row.id), project)
        case "p": return change(.promote(row.id), project)
        default:
            // The live deployment itself cannot be rolled back to.
            return change(.rollback(row.id == project.current ? nil : row.id), project)
        }
    }

    private mutating func change(_ change: DeploymentChange, _ project: WatchProject) -> Action? {
        if let work {
            message = "\(work) Wait until it is done."
            return nil
        }
        return .change(change, project: project.id)
    }
}
