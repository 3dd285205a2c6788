import Testing

@testable import CommandLineKit

@Suite("Picking from a list")
struct ListPickerTests {
    private let size = ScreenTerminal.Size(columns: 40, rows: 5)

    private func picker(_ words: String...) -> ListPicker {
        ListPicker("Variable", words.map { .init($0, note: "note of \($0)") })
    }

    private func type(_ keys: [TerminalKey], _ picker: inout ListPicker) -> ListPicker.Answer? {
        keys.compactMap { picker.take($0, rows: size.rows) }.first
    }

    @Test func `typed words select, whatever their case and order`() {
        var picker = picker("API_KEY", "API_URL", "DATABASE_URL")
        #expect(type("url api".map { .character($0) }, &picker) == nil)
        #expect(picker.lines(size)[1].hasPrefix("> API_URL"))
        #expect(picker.lines(size).last?.hasPrefix("1 of 3.") == true)
        #expect(type([.enter], &picker) == .picked(1))
        #expect(type([.escape], &picker) == .canceled)
    }

    @Test func `nothing is picked where nothing matches`() {
        var picker = picker("A", "B")
        #expect(type([.character("x"), .enter, .down, .up, .pageDown], &picker) == nil)
        #expect(picker.lines(size).last?.hasPrefix("0 of 2. Nothing matches") == true)
        #expect(type([.backspace, .backspace, .down, .down, .enter], &picker) == .picked(1))
    }

    @Test func `Ctrl-W deletes a word and Ctrl-U everything`() {
        var picker = picker("API_KEY", "API_URL", "DATABASE_URL")
        #expect(type("api url ".map { .character($0) } + [.deleteWord], &picker) == nil)
        #expect(picker.lines(size)[0] == "Variable: api _")
        #expect(type([.deleteLine, .deleteLine, .deleteWord], &picker) == nil)
        #expect(picker.lines(size)[0] == "Variable: _")
        #expect(picker.lines(size).last?.hasPrefix("3 of 3.") == true)
    }

    @Test func `the list scrolls with the selection and fits any screen`() {
        var picker = ListPicker("Key", (0..<30).map { .init("KEY_\($0)") })
        #expect(type([.end], &picker) == nil)
        #expect(picker.lines(size).dropFirst().prefix(3) == ["  KEY_27", "  KEY_28", "> KEY_29"])
        #expect(type([.pageUp, .home], &picker) == nil)
        #expect(picker.lines(size)[1] == "> KEY_0")
        for columns in 1..<30 {
            for rows in 1..<6 {
                let size = ScreenTerminal.Size(columns: columns, rows: rows)
                let lines = picker.lines(size)
                #expect(lines.count <= rows)
                #expect(lines.allSatisfy { DisplayText.width($0) <= columns })
            }
        }
    }

    @Test func `names cannot control the terminal`() {
        let picker = ListPicker("Key", [.init("A\u{1B}[2J", note: "x\u{7}y")])
        #expect(picker.lines(size).allSatisfy { DisplayText.safe($0) == $0 })
    }
}
