import CommandLineKit
import Testing

@testable import ZGEnvCommands

@Suite("zg-env: keys")
struct WatchModelTests {
    private static func typed(
        _ text: String, in model: inout WatchModel
    ) -> [WatchModel.Action] {
        text.compactMap { model.take($0 == "\r" ? .enter : .character($0), rows: 24) }
    }

    private static func selected(_ model: WatchModel) -> String? {
        let items = model.items
        return items.isEmpty ? nil : items[model.selection(in: items)].key
    }

    @Test func `projects with news come first, and with f those that failed last`() {
        var model = WatchExample.model
        #expect(model.visible.map(\.name) == ["web", "shop", "docs"])
        _ = model.take(.character("f"), rows: 24)
        #expect(model.visible.map(\.name) == ["shop", "web", "docs"])
        _ = model.take(.character("f"), rows: 24)
        #expect(model.visible.map(\.name) == ["web", "shop", "docs"])
    }

    @Test func `the selection stays within the list`() {
        var model = WatchExample.model
        for (key, place) in [
            (.up, "prj_web"), (.down, "prj_shop"), (.character("j"), "prj_docs"),
            (.down, "prj_docs"), (.character("k"), "prj_shop"), (.home, "prj_web"),
            (.end, "prj_docs"), (.pageUp, "prj_web"), (.pageDown, "prj_docs"),
        ] as [(TerminalKey, String)] {
            #expect(model.take(key, rows: 24) == nil)
            #expect(Self.selected(model) == place)
        }
    }

    @Test func `the selection stays when the order changes, and when its project goes`() {
        var model = WatchExample.model
        _ = model.take(.down, rows: 24)
        #expect(Self.selected(model) == "prj_shop")
        model.projects[0].rows = [WatchExample.row("dpl_D2", "BUILDING", minutesAgo: 0)]
        #expect(model.visible.first?.name == "docs")
        #expect(Self.selected(model) == "prj_shop")
        model.projects.removeAll { $0.name == "shop" }
        #expect(Self.selected(model) == "prj_docs")
        model.projects = []
        #expect(Self.selected(model) == nil)
        for letter in "lrpbovjkgGf\r" { _ = Self.typed(String(letter), in: &model) }
        #expect(model.take(.enter, rows: 1) == nil)
    }

    @Test func `the filter takes every letter, and Escape ends it`() {
        var model = WatchExample.model
        #expect(Self.typed("/SHq", in: &model) == [])
        #expect(model.isFiltering && model.visible.isEmpty)
        _ = model.take(.backspace, rows: 24)
        #expect(model.visible.map(\.name) == ["shop"])
        _ = model.take(.enter, rows: 24)
        #expect(!model.isFiltering && model.filter == "SH")
        #expect(
            Self.typed("r", in: &model) == [
                .change(.redeploy("dpl_S2"), project: "prj_shop")
            ])
        _ = model.take(.escape, rows: 24)
        #expect(model.visible.count == 3)
        #expect(Self.typed("/" + String(repeating: "x", count: 500), in: &model) == [])
        #expect(model.filter.count == WatchModel.filterLimit)
        _ = model.take(.escape, rows: 24)
        #expect(model.filter.isEmpty && !model.isFiltering)
    }

    @Test func `Tab switches between a project's deployments and variables`() {
        var model = WatchExample.model
        #expect(model.take(.tab, rows: 24) == nil && model.pane == .deployments)
        #expect(Self.typed("\r", in: &model) == [.look("prj_web")])
        #expect(model.page == .project("prj_web"))
        #expect(model.items.count == 3)
        // A deployment has no value.
        #expect(Self.typed("vcsnexhdP", in: &model) == [])
        #expect(model.take(.tab, rows: 24) == nil)
        #expect(model.pane == .variables && model.items.count == 2)
        let (first, last) = (
            WatchExample.projects[2].variables[0], WatchExample.projects[2].variables[1]
        )
        #expect(
            Self.typed("v\r", in: &model) == [
                // Enter must not show a value.
                .reveal(first.id, project: "prj_web"), .act(.history(first), project: "prj_web"),
            ])
        _ = model.take(.end, rows: 24)
        let actions: [(Character, VariableAction)] = [
            ("c", .copy(last)), ("s", .set("STRIPE_KEY", last.scope)), ("e", .edit(last)),
            ("x", .remove(last)), ("h", .history(last)), ("d", .difference), ("P", .push),
            ("p", .pull),
        ]
        for (key, action) in actions {
            #expect(
                model.take(.character(key), rows: 24) == .act(action, project: "prj_web"), "\(key)")
        }
        // A variable has no log and no build.
        #expect(Self.typed("lrbo", in: &model) == [])
        // One operation at a time.
        model.work = "Running redeploy…"
        #expect(Self.typed("P", in: &model) == [] && model.message != nil)
        model.work = nil
        #expect(model.take(.tab, rows: 24) == .look("prj_web"))
        #expect(
            Self.typed("b", in: &model) == [
                .change(.rollback("dpl_W2"), project: "prj_web")
            ])
        // The live one means the one before it.
        #expect(
            Self.typed("jb", in: &model) == [
                .change(.rollback(nil), project: "prj_web")
            ])
        #expect(
            Self.typed("p", in: &model) == [
                .change(.promote("dpl_W1"), project: "prj_web")
            ])
        _ = model.take(.escape, rows: 24)
        #expect(model.page == .projects)
        #expect(
            Self.typed("b", in: &model) == [
                .change(.rollback(nil), project: "prj_web")
            ])
    }

    @Test func `a new variable gets a typed name`() {
        var model = WatchExample.model
        model.open("prj_web", .variables)
        #expect(Self.typed("nNEWqj", in: &model) == [])
        #expect(WatchExample.lines(model).last == "New variable: NEWqj_")
        for _ in 0..<2 { _ = model.take(.backspace, rows: 24) }
        #expect(model.take(.enter, rows: 24) == .act(.set("NEW", nil), project: "prj_web"))
        #expect(Self.typed("nX", in: &model) == [] && model.take(.escape, rows: 24) == nil)
        #expect(model.entry == nil && model.page == .project("prj_web"))
        #expect(Self.typed("n\r", in: &model) == [])
    }

    @Test func `what is typed into a name or a filter answers no question`() {
        for start in ["n", "/"] {
            var model = WatchExample.model
            model.open("prj_web", .variables)
            #expect(Self.typed(start, in: &model) == [])
            model.question = .init(plan: ["promote"], question: "Promote it?")
            model.questionIsShown = model.shownQuestion != nil
            #expect(Self.typed("my", in: &model) == [])
            #expect(!WatchExample.lines(model).joined().contains("Promote it?"))
            _ = model.take(.escape, rows: 24)
            #expect(WatchExample.lines(model).joined().contains("Promote it?"))
        }
    }

    @Test func `without a project in the vault only a pull is possible`() {
        var model = WatchExample.model
        model.open("prj_docs", .variables)
        #expect(Self.typed("Pdnx", in: &model) == [])
        #expect(WatchExample.lines(model).joined().contains("not in the vault"))
        _ = model.take(.escape, rows: 24)
        #expect(Self.typed("p", in: &model) == [.act(.pull, project: "prj_docs")])
    }

    @Test func `a newer deployment that is not live is named`() {
        var model = WatchExample.model
        model.projects[2].rows[0] = WatchExample.row("dpl_W2", "READY", minutesAgo: 1)
        #expect(model.projects[2].passedOver?.id == "dpl_W2")
        #expect(WatchExample.lines(model).joined().contains("READY, not live"))
        model.projects[2].rows[0].isStaged = true
        #expect(model.projects[2].passedOver == nil)
    }

    @Test func `a result is read from its beginning`() {
        var model = WatchExample.model
        model.open("prj_web", .variables)
        model.show((0..<100).map { "line \($0)" }, title: "history", project: "prj_web")
        #expect(WatchExample.lines(model)[0].hasPrefix("zg-env: web: history"))
        #expect(WatchExample.lines(model)[1] == "line 0")
        _ = model.take(.down, rows: 24)
        #expect(WatchExample.lines(model)[1] == "line 1")
        _ = model.take(.end, rows: 24)
        #expect(WatchExample.lines(model)[22] == "line 99")
        #expect(Self.typed("lrpbovx", in: &model) == [])
        #expect(model.take(.escape, rows: 24) == nil && model.page == .project("prj_web"))
    }

    @Test func `a version is restored from the history`() {
        var model = WatchExample.model
        model.open("prj_web", .variables)
        let variable = WatchExample.projects[2].variables[0]
        func show() {
            model.show(
                ["VERSION", "2", "1"], title: "history of DATABASE_URL", project: "prj_web",
                historyOf: variable)
        }
        show()
        #expect(WatchExample.lines(model)[0].hasPrefix("zg-env: web: history of DATABASE_URL"))
        #expect(WatchExample.lines(model).last?.contains("r restore") == true)
        for wrong in ["r\r", "rx\r", "r0\r", "r-1\r"] {
            #expect(Self.typed(wrong, in: &model) == [], "\(wrong)")
            #expect(model.entry == nil)
        }
        #expect(model.message == "Type a number from the column VERSION.")
        #expect(Self.typed("r12", in: &model) == [])
        #expect(WatchExample.lines(model).last == "Restore version: 12_")
        _ = model.take(.backspace, rows: 24)
        #expect(
            model.take(.enter, rows: 24)
                == .act(.restore(variable, 1), project: "prj_web"))
        #expect(model.page == .project("prj_web"))
        show()
        #expect(Self.typed("r1", in: &model) == [] && model.take(.escape, rows: 24) == nil)
        #expect(model.entry == nil && model.page != .project("prj_web"))
    }

    @Test func `a key without an effect says so`() {
        var model = WatchExample.model
        func message(_ key: TerminalKey) -> String? {
            _ = model.take(key, rows: 24)
            return model.message
        }
        let hint = "does nothing in this view. Press ? for the keys."
        #expect(message(.character("z")) == "z \(hint)")
        #expect(message(.tab) == "Tab \(hint)")
        #expect(message(.escape) == "Press q to quit.")
        // A key with an effect removes the message.
        for key in [.down, .character("f"), .character("?"), .escape, .character("/"), .escape]
            as [TerminalKey]
        {
            #expect(message(key) == nil, "\(key)")
        }
        model.open("prj_web", .variables)
        for letter in "lrbof" { #expect(message(.character(letter)) == "\(letter) \(hint)") }
        #expect(message(.character("n")) == nil)
        for key in [.character("a"), .character(" "), .character("b"), .deleteWord]
            as [TerminalKey]
        {
            #expect(message(key) == nil)
        }
        #expect(model.entry?.text == "a ")
        #expect(message(.deleteLine) == nil && model.entry?.text == "")
        #expect(message(.backspace) == nil && model.entry == nil)
        #expect(message(.tab) == nil)
        for letter in "vcsnexhd/" { #expect(message(.character(letter)) == "\(letter) \(hint)") }
    }

    @Test func `a log scrolls with its end until the user scrolls back`() {
        var model = WatchExample.model
        let row = WatchExample.projects[2].rows[0]
        #expect(Self.typed("l", in: &model) == [.followLog(row, project: "prj_web")])
        model.log = (0..<100).map { .init(text: "line \($0)", role: .plain) }
        #expect(WatchExample.lines(model)[22] == "line 99")
        _ = model.take(.up, rows: 24)
        #expect(WatchExample.lines(model)[22] == "line 98")
        _ = model.take(.home, rows: 24)
        #expect(WatchExample.lines(model)[1] == "line 0")
        _ = model.take(.down, rows: 24)
        #expect(WatchExample.lines(model)[1] == "line 1")
        _ = model.take(.end, rows: 24)
        #expect(WatchExample.lines(model)[22] == "line 99")
        #expect(model.take(.escape, rows: 24) == .endLog)
        #expect(model.log.isEmpty && model.page == .projects)
    }

    @Test func `only y and n answer a question`() {
        var model = WatchExample.model
        model.question = .init(plan: ["redeploy"], question: "Redeploy this deployment?")
        for key in [.enter, .character("j"), .character("r"), .down, .character("?")]
            as [TerminalKey]
        {
            #expect(model.take(key, rows: 24) == nil)
        }
        // A key pressed before the question was on the screen is not an answer.
        #expect(model.take(.character("y"), rows: 24) == nil)
        model.questionIsShown = true
        #expect(model.take(.character("y"), rows: 24) == .answer(true))
        model.question = .init(plan: ["promote"], question: "Promote it?")
        #expect(model.take(.character("y"), rows: 24) == nil)
        #expect(model.take(.escape, rows: 24) == .answer(false))
        #expect(model.take(.character("q"), rows: 24) == .answer(false))
    }

    @Test func `a question that does not fit on the screen cannot be confirmed`() {
        var model = WatchExample.model
        let names = (0..<12).map { "VARIABLE_\($0)" }.joined(separator: ", ")
        model.question = .init(
            plan: ["roll back to dpl_1", "brings back older values of \(names)"],
            question: "Roll back to this deployment?")
        model.questionIsShown = true
        for (columns, rows) in [(1, 1), (80, 3), (80, 7), (20, 12), (12, 2)] {
            let size = "\(columns) by \(rows)"
            #expect(
                model.take(.character("y"), rows: rows, columns: columns) == nil, "\(size)")
            let lines = WatchExample.lines(model, columns: columns, rows: rows)
            #expect(!lines.contains { $0.contains("y yes") }, "\(size)")
            #expect(lines.count == rows, "\(size)")
        }
        #expect(model.message == WatchScreen.tooLarge)
        model.message = nil
        for (columns, rows) in [(80, 24), (80, 10), (40, 16)] {
            #expect(
                model.take(.character("y"), rows: rows, columns: columns) == .answer(true),
                "\(columns) by \(rows)")
            let lines = WatchExample.lines(model, columns: columns, rows: rows)
            let shown = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
            #expect(
                shown.contains(names) && shown.contains("Roll back to this deployment? "),
                "\(lines)")
            #expect(lines.last?.hasPrefix("y yes") == true)
        }
    }

    @Test func `during an action a single key neither leaves it nor starts another`() {
        var model = WatchExample.model
        #expect(Self.typed("q", in: &model) == [.quit])
        model.work = "Doing it: redeploy."
        #expect(Self.typed("q", in: &model) == [])
        #expect(model.message?.contains("Press q again") == true)
        #expect(Self.typed("r", in: &model) == [])
        #expect(Self.typed("q", in: &model) == [])
        #expect(Self.typed("q", in: &model) == [.quit])
    }

    @Test func `a browser only gets plain URLs`() {
        var model = WatchExample.model
        #expect(
            Self.typed("o", in: &model) == [.browse("https://vercel.com/acme/dpl_W2")])
        model.projects[0].rows[0].site = "docs.vercel.app"
        #expect(Self.typed("Go", in: &model) == [.browse("https://docs.vercel.app")])
        model.projects = [WatchProject(id: "p", name: "p", rows: [WatchRow(id: "dpl_1")])]
        model.projects[0].rows[0].site = "javascript:alert(1)"
        model.projects[0].rows[0].page = "file:///etc/passwd"
        #expect(Self.typed("o", in: &model) == [])
        #expect(model.message?.contains("no URL") == true)
    }
}
