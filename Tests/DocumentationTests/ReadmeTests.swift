import Foundation
import Testing

/// The landing page: short, with something to try in its first screen, and without a figure that no
/// test or measurement holds.
@Suite("README") struct ReadmeTests {
    private static func page(_ name: String) throws -> String {
        try String(contentsOfFile: "\(DocumentationTests.root)/\(name)", encoding: .utf8)
    }

    /// Returns the numbers of a text, with their points and commas.
    private static func numbers(_ text: String) -> [String] {
        text.matches(of: #/[0-9][0-9,.]*[0-9]|[0-9]/#).map { String($0.output) }
    }

    @Test("It has at most 95 lines, and what to try is in the first 40")
    func length() throws {
        let lines = try Self.page("README.md").split(
            separator: "\n", omittingEmptySubsequences: false)
        // The file ends with a line feed.
        #expect(lines.count - 1 <= 95)
        let start = lines.prefix(40)
        #expect(start.contains { $0.hasPrefix("make demo ") })
        #expect(start.contains { $0.hasPrefix("make test ") })
    }

    @Test("Each figure has its row in proofs.md or performance.md")
    func figures() throws {
        let text = try Self.page("README.md")
            .replacing(#/(?s)```.*?```/#, with: "").replacing(#/(?s)<!--.*?-->/#, with: "")
            // Versions, and what the transcript shows.
            .replacing(#/Debian 12 or 13|Swift 6\.3|0\.9\.0|until 1\.0/#, with: "")
            .replacing(#/key of 32 bytes\. The new one has 24/#, with: "")
        let found = Self.numbers(text)
        #expect(found.contains("4.3") && found.contains("23.5"))
        let rows = try ["docs/proofs.md", "docs/performance.md"].map(Self.page).joined()
            .split(separator: "\n").filter { $0.hasPrefix("|") }
        let numbers = Set(Self.numbers(rows.joined(separator: "\n")))
        for figure in found where figure != "15" {
            #expect(numbers.contains(figure), "\(figure) has no row")
        }
        // The tutorial says of itself how long it takes.
        let tutorial = try Self.page("docs/tutorial.md")
        #expect(!found.contains("15") || tutorial.contains("15 minutes"))
    }
}
