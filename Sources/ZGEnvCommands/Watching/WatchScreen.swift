internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// Renders a ``WatchModel`` as lines that fit the terminal and contain no control sequences of
/// untrusted texts. Performs no I/O.
struct WatchScreen {
    /// A part of a line with one style.
    struct Span: Equatable {
        let text: String
        var role: Style.Role = .plain

        init(_ text: String, _ role: Style.Role = .plain) {
            (self.text, self.role) = (DisplayText.safe(text), role)
        }
    }

    let model: WatchModel
    let size: ScreenTerminal.Size
    /// In milliseconds since 1970.
    let now: UInt64
    let style: Style

    /// Returns the lines of the screen from the top.
    func lines() -> [String] {
        let (head, room, foot) = parts
        var body = Array(self.body(rows: room).prefix(room))
        while body.count < room { body.append([]) }
        return (head + body + foot).prefix(size.rows).map { text($0) }
    }

    /// Whether the question and its plan are completely visible.
    var showsFullQuestion: Bool {
        guard let question = model.shownQuestion else { return true }
        return self.question(question).count <= parts.room
    }

    /// The lines above and below the body, and the number of rows between them.
    private var parts: (head: [[Span]], room: Int, foot: [[Span]]) {
        var head = [header]
        if case .project = model.page { head.append(panes) }
        if let trouble = model.trouble { head += wrapped(trouble, .warning) }
        var foot = footer(takesAnswer: true)
        // On a small screen, first the error, then the foot gives way to the body.
        if size.rows < head.count + foot.count + 3 { head = [header] }
        if size.rows < head.count + foot.count + 1 { foot = [] }
        let room = max(size.rows - head.count - foot.count, 0)
        if let question = model.shownQuestion, self.question(question).count > room, !foot.isEmpty {
            foot = footer(takesAnswer: false)
        }
        return (head, room, foot)
    }

    /// Wraps a sentence to as many lines as the screen has room for; the last one is cut.
    private func wrapped(_ text: String, _ role: Style.Role) -> [[Span]] {
        let limit = size.rows >= 16 ? 3 : 1
        let text = DisplayText.safe(sentence: text)
        let lines = Self.lines(of: text, size.columns)
        guard lines.count > 1, limit > 1 else { return [[Span(text, role)]] }
        return lines.prefix(limit - 1).map { [Span($0, role)] }
            + [[Span(lines.dropFirst(limit - 1).joined(separator: " "), role)]]
    }

    var valueRows: Range<Int> { 2..<max(size.rows - 1, 2) }

    /// Returns the lines around a value.
    ///
    /// - Parameter isWhole: Whether all of the value is visible.
    func valueLines(isWhole: Bool) -> [String] {
        var lines = [[Span("zg-env: \(model.shownValue ?? "")", .heading)], []]
        while lines.count < valueRows.upperBound { lines.append([]) }
        let hint = "Press any key to hide it (auto-hides after 30 s)."
        lines.append([
            Span(
                isWhole ? hint : "\(hint) The value is cut off; zg-env reveal prints all of it.",
                .dim)
        ])
        return lines.prefix(size.rows).map { text($0) }
    }

    // MARK: Header and footer

    private var header: [Span] {
        let title: String
        switch model.page {
        case .projects:
            let (all, seen) = (model.projects.count, model.visible.count)
            title =
                seen < all
                ? "\(seen) of \(all) projects" : all == 1 ? "1 project" : "\(all) projects"
        case .project(let id): title = model.project(id)?.name ?? "a project"
        case .log(let row, let id):
            title = "\(model.project(id)?.name ?? "") \(row.id)"
        case .text(let name, let id, _): title = "\(model.project(id)?.name ?? ""): \(name)"
        }
        let name = "zg-env: \(DisplayText.safe(title))"
        let right = status
        let gap = size.columns - DisplayText.width(name) - DisplayText.width(right)
        guard gap < 2 else {
            return [
                Span(name, .heading), Span(String(repeating: " ", count: gap)), Span(right, .dim),
            ]
        }
        // The age matters more than the end of a name.
        let room = max(size.columns - DisplayText.width(right) - 2, 12)
        return [
            Span(DisplayText.truncated(name, to: room), .heading), Span("  "), Span(right, .dim),
        ]
    }

    private var status: String {
        let age =
            model.askedAt.map {
                "as of \(TimeText.age(of: Int64(clamping: $0), at: Int64(clamping: now)))"
            } ?? "no data yet"
        let more =
            model.isOffline
            ? ", offline"
            : model.isRefreshing ? ", refreshing" : model.trouble != nil ? ", refresh failed" : ""
        return age + more
    }

    /// The names of a project's two lists.
    private var panes: [Span] {
        func name(_ pane: WatchModel.Pane, _ text: String) -> Span {
            model.pane == pane ? Span("[\(text)]", .heading) : Span(" \(text) ", .dim)
        }
        return [
            Span(" "), name(.variables, "Variables"), Span(" "),
            name(.deployments, "Deployments"),
            Span(size.columns >= 48 ? "   Tab switches" : "", .dim),
        ]
    }

    private func footer(takesAnswer: Bool) -> [[Span]] {
        if model.isFiltering { return [[Span("/\(model.filter)_", .heading)]] }
        if let entry = model.entry { return [[Span("\(entry.prompt)\(entry.text)_", .heading)]] }
        var lines: [[Span]] = []
        if let word = model.message ?? model.work { lines += wrapped(word, .heading) }
        let keys: [String]
        if model.shownQuestion != nil {
            keys = takesAnswer ? ["y yes", "n cancel"] : ["n cancel"]
        } else if model.showsHelp {
            keys = ["press any key to go back"]
        } else {
            switch model.page {
            case .projects:
                keys =
                    [
                        "? help", "q quit", "Enter open", "/ filter", "f failed first", "l logs",
                        "r redeploy", "p promote", "b rollback",
                    ]
            case .project:
                keys =
                    model.pane == .deployments
                    ? [
                        "? help", "q quit", "Esc back", "l logs", "r redeploy", "p promote",
                        "b rollback", "o browser",
                    ]
                    : [
                        "? help", "q quit", "Esc back", "v value", "c copy", "s set", "n new",
                        "e edit", "P push", "p pull",
                    ]
            case .log: keys = ["? help", "q quit", "Esc back", "k up", "j down", "o browser"]
            case .text(_, _, let variable):
                keys =
                    ["? help", "q quit", "Esc back"] + (variable == nil ? [] : ["r restore"])
                    + ["k up", "j down"]
            }
        }
        let filter = model.filter.isEmpty ? "" : "/\(model.filter)  "
        let room = size.columns - DisplayText.width(filter)
        return lines + [[Span(filter, .heading), Span(Self.fitting(keys, room), .dim)]]
    }

    /// Joins as many of the keys as fit; help has all of them.
    private static func fitting(_ keys: [String], _ width: Int) -> String {
        var text = ""
        for key in keys {
            let longer = text.isEmpty ? key : "\(text)  \(key)"
            guard text.isEmpty || DisplayText.width(longer) <= width else { break }
            text = longer
        }
        return text
    }

    // MARK: The body

    private func body(rows: Int) -> [[Span]] {
        if let question = model.shownQuestion {
            let lines = self.question(question)
            guard lines.count > rows else { return lines }
            return lines.prefix(max(rows - 1, 0))
                + [[Span("  \(Self.tooLarge)", .warning)]]
        }
        if model.showsHelp { return help(rows) }
        switch model.page {
        case .projects: return projects(rows)
        case .project(let id): return project(id, rows)
        case .log, .text: return log(rows)
        }
    }

    private func question(_ question: WatchModel.Question) -> [[Span]] {
        let width = max(size.columns - 4, 1)
        let plan = question.plan.flatMap { Self.lines(of: DisplayText.safe(sentence: $0), width) }
        let ending = Self.lines(of: DisplayText.safe(sentence: question.question), width)
        return [[]] + plan.map { [Span("  \($0)")] } + [[]]
            + ending.map { [Span("  \($0)", .heading)] }
    }

    /// The message if a small screen cuts a plan.
    static let tooLarge = "Enlarge the window to see the whole plan."

    private func projects(_ rows: Int) -> [[Span]] {
        let items = model.items
        guard !items.isEmpty else {
            return [
                [],
                [
                    Span(
                        model.projects.isEmpty
                            ? "  No projects yet." : "  No project matches the filter.",
                        .dim)
                ],
            ] + (model.projects.isEmpty ? indented(model.advice, .plain) : [])
        }
        let selected = model.selection(in: items)
        let shown = Self.window(of: items.count, around: selected, rows: max(rows - 1, 1))
        var table = WatchTable(["PROJECT", "STATE", "TARGET", "AGE", "BRANCH", "COMMIT"])
        for place in shown {
            guard case .project(let project) = items[place] else { continue }
            let row = project.rows.first
            table.append(
                [
                    Span(project.name + (project.waitingCount > 0 ? " *" : "")),
                    row.map { state($0, project) } ?? Span("none", .dim), Span(row?.target ?? ""),
                    Span(age(row), .dim), Span(row?.branch ?? ""), Span(row?.message ?? ""),
                ], isSelected: place == selected)
        }
        return table.lines(width: size.columns)
    }

    private func project(_ id: String, _ rows: Int) -> [[Span]] {
        guard let project = model.project(id) else {
            return [[], [Span("  This project is no longer available.", .dim)]]
        }
        let items = model.items
        let selected = model.selection(in: items)
        let isOnVariables = model.pane == .variables
        var table = WatchTable(
            isOnVariables
                ? ["VARIABLE", "STATE", "LIVE", "TARGETS", "TYPE"]
                : ["DEPLOYMENT", "STATE", "TARGET", "AGE", "BUILD", "COMMIT"])
        let shown = Self.window(of: items.count, around: selected, rows: max(rows - 1, 1))
        for place in shown {
            let cells: [Span]
            switch items[place] {
            case .deployment(let row):
                cells = [
                    Span(row.id), state(row, project), Span(row.target), Span(age(row), .dim),
                    Span(build(row), .dim), Span(row.message.isEmpty ? row.cause : row.message),
                ]
            case .variable(let variable):
                cells = [
                    Span(variable.name),
                    Span(variable.sync.rawValue, variable.sync == .synced ? .good : .warning),
                    Span(
                        variable.live.map { $0 ? "live" : "not yet" } ?? "",
                        variable.live == false ? .warning : .plain),
                    Span(variable.scope.description), Span(variable.kind.name, .dim),
                ]
            case .project: continue
            }
            table.append(cells, isSelected: place == selected)
        }
        guard table.isEmpty else { return table.lines(width: size.columns) }
        if !isOnVariables { return [[], [Span("  No deployments yet.", .dim)]] }
        if !model.filter.isEmpty { return [[], [Span("  No variable matches the filter.", .dim)]] }
        let advice =
            project.isLocal
            ? "No variables yet. Press n to add one, or p to pull them from Vercel."
            : "This project is not in the vault. Press p to pull its variables from Vercel."
        return [[]] + indented(advice, .dim)
    }

    /// Returns a sentence wrapped to the screen's width.
    private func indented(_ text: String?, _ role: Style.Role) -> [[Span]] {
        guard let text else { return [] }
        return Self.lines(of: DisplayText.safe(sentence: text), max(size.columns - 4, 1)).map {
            [Span("  \($0)", role)]
        }
    }

    private func state(_ row: WatchRow, _ project: WatchProject) -> Span {
        if row.id == project.current { return Span("\(row.state), live", .good) }
        if row.isFailed { return Span(row.state, .bad) }
        if row.id == project.passedOver?.id { return Span("\(row.state), not live", .warning) }
        return Span(
            row.state + (row.isStaged ? ", staged" : ""), row.isFinal ? .plain : .warning)
    }

    private func age(_ row: WatchRow?) -> String {
        guard let row, row.createdAt > 0 else { return "" }
        return TimeText.age(of: row.createdAt, at: Int64(clamping: now))
    }

    private func build(_ row: WatchRow) -> String {
        if let span = row.buildMilliseconds { return DeploymentListing.span(milliseconds: span) }
        guard !row.isFinal, let begin = row.buildingAt, begin <= Int64(clamping: now) else {
            return ""
        }
        return DeploymentListing.span(milliseconds: Int64(clamping: now) - begin) + "…"
    }

    private func log(_ rows: Int) -> [[Span]] {
        guard rows > 0 else { return [] }
        var lines: [[Span]] = []
        if model.hasLogEnded { lines.append([Span("(end of log)", .dim)]) }
        // From the end, so that a long log costs no more than its visible part.
        let needed = min(rows + model.logScroll, 100 * WatchModel.logLimit)
        for entry in model.log.reversed() {
            for piece in Self.pieces(entry.text, size.columns).reversed() {
                lines.append([Span(piece, entry.role)])
            }
            if lines.count >= needed { break }
        }
        if model.log.isEmpty, !model.hasLogEnded {
            return [[], [Span("  Waiting for the log…", .dim)]]
        }
        let skipped = min(model.logScroll, max(lines.count - rows, 0))
        return Array(lines.dropFirst(skipped).prefix(rows).reversed())
    }

    // MARK: Parts

    /// A key, what it does, and the same in one word for a narrow screen.
    private typealias Key = (key: String, text: String, word: String)
    private static let moving: [Key] = [
        ("j k", "move (also Up Down PgUp PgDn)", "move"), ("g G", "top, end", "top, end"),
        ("Enter", "open", "open"), ("Esc", "back", "back"), ("R", "refresh now", "refresh"),
        ("q", "quit", "quit"),
    ]
    private static let onDeployments: [Key] = [
        ("l", "follow the build log", "log"), ("o", "open in a browser", "browser"),
        ("r", "redeploy", "redeploy"), ("p", "promote to production", "promote"),
        ("b", "roll production back", "rollback"),
    ]
    private static let onVariables: [Key] = [
        ("v", "show the value", "value"), ("c", "copy the value", "copy"),
        ("s", "set the value", "set"), ("n", "new variable", "new"),
        ("e", "edit in your editor", "edit"), ("x", "remove", "remove"),
        ("h", "history (also Enter)", "history"), ("d", "compare with Vercel", "diff"),
        ("P", "push to Vercel", "push"), ("p", "pull from Vercel", "pull"),
    ]
    private static let filtering: Key = ("/", "filter by name", "filter")

    /// The keys of the page, in two columns where there is room, and notes as far as they fit.
    private func help(_ rows: Int) -> [[Span]] {
        var own: [Key]
        var notes = ["Before a change, the plan is shown and you are asked to confirm it."]
        switch model.page {
        case .projects:
            own = Self.onDeployments + [Self.filtering, ("f", "failed first", "failed")]
            notes.append(
                "A * after a project: production does not have the current values of all its variables."
            )
        case .project where model.pane == .variables:
            own = Self.onVariables + [Self.filtering, ("Tab", "show the deployments", "switch")]
            notes.append("At a prompt, Esc or Ctrl-C returns to this screen.")
        case .project:
            own = Self.onDeployments + [("Tab", "show the variables", "switch")]
            notes.append(
                "READY, not live: production was rolled back or pinned to an older deployment.")
        case .log: own = [("o", "open in a browser", "browser")]
        case .text(_, _, let variable):
            own = variable == nil ? [] : [("r", "restore a version", "restore")]
        }
        let isWide = size.columns >= 76
        func line(_ key: Key, _ width: Int) -> String {
            "  " + DisplayText.padded(key.key, to: width) + (isWide ? key.text : key.word)
        }
        var (left, right) = (Self.moving, own)
        if !isWide {
            let all = own + left
            (left, right) = (
                Array(all.prefix((all.count + 1) / 2)), Array(all.dropFirst((all.count + 1) / 2))
            )
        }
        let room = isWide ? 38 : 18
        var lines: [[Span]] = rows > max(left.count, right.count) ? [[]] : []
        for place in 0..<max(left.count, right.count) {
            let first = place < left.count ? line(left[place], 7) : ""
            let second = place < right.count ? line(right[place], 7) : ""
            lines.append([Span(DisplayText.padded(first, to: room) + second)])
        }
        for note in notes { lines += [[]] + indented(note, .plain) }
        return lines
    }

    /// Returns the visible part of a list.
    static func window(of count: Int, around place: Int, rows: Int) -> Range<Int> {
        guard count > rows else { return 0..<max(count, 0) }
        let first = min(max(place - rows / 2, 0), count - rows)
        return first..<(first + max(rows, 0))
    }

    /// Wraps a text to a width, between words if possible.
    static func lines(of text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            let parts = pieces(String(word), width)
            if let last = lines.last,
                DisplayText.width(last) + 1 + DisplayText.width(parts[0]) <= width
            {
                lines[lines.count - 1] += " " + parts[0]
                lines += parts.dropFirst()
            } else {
                lines += parts
            }
        }
        return lines.isEmpty ? [""] : lines
    }

    /// Splits a text into pieces of a width, between words if possible. Other blanks stay.
    static func pieces(_ text: String, _ width: Int) -> [String] {
        var pieces: [String] = []
        var (piece, used): ([Character], Int) = ([], 0)
        // The last blank of the piece that has a word before it.
        var blank: Int?
        for character in text {
            let columns = DisplayText.width(String(character))
            if used + columns > width, !piece.isEmpty {
                let end = character == " " ? piece.count : blank ?? piece.count
                pieces.append(String(piece[..<end]))
                piece.removeFirst(min(end + 1, piece.count))
                used = DisplayText.width(String(piece))
                blank = nil
                if character == " " { continue }
            }
            if character == " ", piece.contains(where: { $0 != " " }) { blank = piece.count }
            piece.append(character)
            used += columns
        }
        return pieces + [String(piece)]
    }

    /// Returns a line with styles, cut to the terminal's width.
    private func text(_ spans: [Span]) -> String {
        var left = size.columns
        var line = ""
        for span in spans where left > 0 && !span.text.isEmpty {
            let cut = DisplayText.truncated(span.text, to: left)
            left -= DisplayText.width(cut)
            line += style.text(cut, as: span.role)
            if cut != span.text { break }
        }
        return line
    }
}
