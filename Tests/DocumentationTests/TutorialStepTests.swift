import Foundation
import Testing

/// The tutorials about groups stay short: each command that a reader types is a step.
@Suite("Steps of tutorials") struct TutorialStepTests {
    @Test(
        "A tutorial has no more steps than promised",
        arguments: [
            ("docs/groups.md", "A team of two", 6), ("docs/guides/two-machines.md", "Set up", 6),
            ("docs/guides/two-machines.md", "The laptop is lost", 2),
            ("docs/guides/leaving.md", "Remove him", 1),
            ("docs/guides/leaving.md", "Replace what he knows", 4),
            ("docs/guides/leaving.md", "Keep a report", 2),
        ])
    func steps(page: String, title: String, limit: Int) throws {
        let text = try String(
            contentsOfFile: "\(DocumentationTests.root)/\(page)", encoding: .utf8)
        let sections = text.components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("\(title)\n") })
        let count = section.split(separator: "\n").count { $0.hasPrefix("$ ") }
        #expect((1...limit).contains(count), "\(title): \(count) steps")
    }
}
