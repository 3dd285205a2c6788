import Foundation
import Testing

/// The page that compares zg-env with other tools.
@Suite("Comparison") struct ComparisonTests {
    @Test("VER-C1: each cell of the table has a source in the comment beside it")
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
        for tool in tools {
            let start = try #require(comment.range(of: "\n\(tool): "), "\(tool)").upperBound
            let rest = comment[start...]
            let next = rest.range(of: #"\n[A-Za-z0-9]"#, options: .regularExpression)
            let sources = rest[..<(next?.lowerBound ?? rest.endIndex)]
            for column in columns {
                #expect(sources.contains(column), "\(tool): \(column)")
            }
        }
    }
}
