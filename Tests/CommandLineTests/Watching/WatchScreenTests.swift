import CommandLineKit
import EnvOperations
import Foundation
import Testing

@testable import ZGEnvCommands

@Suite("zg-env: the screen")
struct WatchScreenTests {
    private static let hostile = [
        "plain", "", "\u{1B}[2J\u{1B}[1;1Hx", "\u{9B}31mred", "a\nb\tc\rd", "\u{202E}gnirts",
        "世界世界世界世界世界世界", "👩‍👩‍👧‍👦🇩🇪❤️", "e\u{301}\u{301}\u{301}", "\u{7}\u{0}\u{7F}",
        String(repeating: "long ", count: 60), String(repeating: "語", count: 100),
    ]

    @Test(
        arguments: [
            ("overwrite Vercel's version", 16, ["overwrite", "Vercel's version"]),
            ("  a  b", 20, ["  a  b"]), ("abcdefgh", 3, ["abc", "def", "gh"]),
            ("ab cd", 2, ["ab", "cd"]), ("a bcdef", 4, ["a", "bcde", "f"]), ("", 5, [""]),
        ] as [(String, Int, [String])])
    func `a long line breaks between words`(text: String, width: Int, pieces: [String]) {
        #expect(WatchScreen.pieces(text, width) == pieces)
    }

    /// A model whose texts are all hostile.
    private static func model(_ random: inout some RandomNumberGenerator) -> WatchModel {
        func text() -> String { hostile.randomElement(using: &random) ?? "" }
        func row(_ number: Int) -> WatchRow {
            var row = WatchExample.row("dpl_\(number)\(text())", text(), minutesAgo: 1)
            (row.branch, row.message, row.target) = (text(), text(), text())
            (row.createdAt, row.buildingAt) = (.random(in: .min ... .max), .random(in: 0 ... .max))
            (row.isFinal, row.isFailed) = (.random(), .random())
            row.buildMilliseconds = Bool.random() ? .random(in: .min ... .max) : nil
            return row
        }
        var model = WatchModel()
        model.projects = (0..<Int.random(in: 0...30, using: &random)).map { number in
            var project = WatchProject(
                id: "prj_\(number)", name: text(), isLocal: .random(using: &random))
            project.rows = (0..<Int.random(in: 0...5, using: &random)).map { row($0) }
            project.variables = (0..<UInt8.random(in: 0...9, using: &random)).map {
                WatchExample.variable(text(), text(), .ahead, live: false, number: $0)
            }
            return project
        }
        model.askedAt = Bool.random(using: &random) ? .random(in: 0 ... .max) : nil
        if Bool.random(using: &random) { model.trouble = text() }
        if Bool.random(using: &random) { model.work = text() }
        let keys: [TerminalKey] = [
            .down, .down, .enter, .end, .character("l"), .character("/"), .character("?"),
            .character("界"), .escape, .pageUp, .tab, .character("n"),
        ]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            if let key = keys.randomElement(using: &random) { _ = model.take(key, rows: 9) }
        }
        if Bool.random(using: &random) { model.message = text() }
        if Int.random(in: 0..<5, using: &random) == 0 {
            model.question = .init(plan: [text(), text()], question: text())
        }
        model.log = (0..<Int.random(in: 0...50, using: &random)).map { _ in
            .init(text: DisplayText.safe(text()), role: .bad)
        }
        model.logScroll = .random(in: 0...100, using: &random)
        return model
    }

    @Test func `every line fits the terminal, and no text controls it`() {
        var random = SystemRandomNumberGenerator()
        let sizes = [
            (1, 1), (1, 5), (2, 2), (5, 3), (12, 2), (20, 5), (40, 10), (79, 23), (80, 24),
            (200, 60),
        ]
        for _ in 0..<60 {
            let model = Self.model(&random)
            for (columns, rows) in sizes {
                let lines = WatchExample.lines(model, columns: columns, rows: rows)
                #expect(lines.count <= rows)
                for line in lines {
                    #expect(DisplayText.width(line) <= columns, "\(columns): \(line)")
                    #expect(DisplayText.safe(line) == line)
                }
                // Colors add only escape sequences of their own.
                let coloured = WatchExample.lines(model, columns: columns, rows: rows, color: true)
                #expect(coloured.map { DisplayText.safe($0) } == lines)
            }
        }
    }

    @Test func `the selection is always visible`() {
        var model = WatchModel()
        model.projects = (0..<100).map {
            WatchProject(id: "prj_\($0)", name: "project-\($0)")
        }
        for rows in [4, 5, 10, 24] {
            _ = model.take(.home, rows: rows)
            for _ in 0..<100 {
                let marked = WatchExample.lines(model, rows: rows).filter { $0.hasPrefix("> ") }
                #expect(marked.count == 1)
                _ = model.take(.down, rows: rows)
            }
        }
        model.projects[0].rows = (0..<30).map {
            WatchExample.row("dpl_\($0)", "READY", minutesAgo: Int64($0))
        }
        model.projects[0].isLocal = true
        model.projects[0].variables = (0..<60).map {
            WatchExample.variable("KEY_\($0)", "production", .synced, live: true, number: $0)
        }
        _ = model.take(.home, rows: 24)
        _ = model.take(.enter, rows: 24)
        for _ in 0..<2 {
            for place in 0..<90 {
                let marked = WatchExample.lines(model, rows: 10).filter { $0.hasPrefix("> ") }
                #expect(marked.count == 1, "\(place)")
                _ = model.take(.down, rows: 10)
            }
            _ = model.take(.tab, rows: 10)
        }
    }

    @Test func `a small window leaves out columns and shortens others`() {
        let lines = WatchExample.lines(WatchExample.model, columns: 40, rows: 10)
        #expect(
            lines.map { $0.replacing(/\ +$/, with: "") } == [
                "zg-env: 3 projects       as of 3 min ago",
                "  PROJECT  STATE        TARGET",
                "> web *    BUILDING     production",
                "  shop     ERROR        preview",
                "  docs     READY, live  production",
                "", "", "", "",
                "? help  q quit  Enter open  / filter",
            ])
    }

    /// The screens in `docs/watch.md`, each in a fenced block after its name. `RECORD_SNAPSHOTS=1`
    /// writes them, and fails.
    @Test func `the documentation shows these screens`() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/watch.md").standardized.path
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var lines = text.components(separatedBy: "\n")
        for (name, screen) in Self.screens {
            let place = try #require(lines.firstIndex(of: "<!-- screen: \(name) -->"), "\(name)")
            let end = try #require(lines[(place + 2)...].firstIndex(of: "```"), "\(name)")
            let wanted = screen.map { line in
                line.replacing(/\ +$/, with: "")
            }
            if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
                lines.replaceSubrange((place + 2)..<end, with: wanted)
            } else {
                #expect(Array(lines[(place + 2)..<end]) == wanted, "\(name)")
            }
        }
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
            Issue.record("The screens of \(path) were rewritten.")
        }
    }

    private static var screens: [(String, [String])] {
        var deployments = WatchExample.model
        _ = deployments.take(.enter, rows: 24)
        var variables = WatchExample.model
        variables.open("prj_web", .variables)
        return [
            ("projects", WatchExample.lines(WatchExample.model, rows: 8)),
            ("deployments", WatchExample.lines(deployments, rows: 8)),
            ("variables", WatchExample.lines(variables, rows: 7)),
        ]
    }
}
