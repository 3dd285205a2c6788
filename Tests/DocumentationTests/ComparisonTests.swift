import Foundation
import Testing

/// The page that compares zg-env with other tools.
@Suite("Comparison") struct ComparisonTests {
    @Test("VER-C1: each cell of the table has a line with its source in the comment below it")
    func sources() throws {
        let page = try String(
            contentsOfFile: "\(DocumentationTests.root)/docs/comparison.md", encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        // Before the rows is the head, whose first cell is empty.
        let columns = try #require(rows.first { $0.first == "" }).dropFirst()
            .map { $0.split(separator: " ").first.map(String.init) ?? "" }
        #expect(columns == ["stores", "names", "writes"])
        let tools = rows.filter { $0.first != "" }.flatMap { $0[0].components(separatedBy: ", ") }
        #expect(tools.count >= 20 && tools.contains("fnox"))
        let begin = try #require(page.range(of: "<!--")).upperBound
        let end = try #require(page.range(of: "-->")).lowerBound
        let comment = String(page[begin..<end])
        var lines: [String: String] = [:]
        for line in comment.split(separator: "\n") {
            guard let colon = line.range(of: ": "), !line.hasPrefix(" ") else { continue }
            lines[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
        }
        for tool in tools {
            for column in columns {
                let source = try #require(lines["\(tool), \(column)"], "\(tool), \(column)")
                // A page, or that none was found.
                #expect(
                    source.contains("/") || source.hasPrefix("the same page")
                        || source.contains("no page of"), "\(tool), \(column): \(source)")
            }
        }
    }
}
