import Foundation
import Testing

/// The page about the sandbox lists what its readers cannot look up without the sources.
@Suite("Page of the sandbox") struct SandboxPageTests {
    @Test("It lists each field of a seed file, and no other one")
    func seedFields() throws {
        let root = DocumentationTests.root
        let directory = "\(root)/Sources/Sandbox/Configuration"
        let builder = try String(
            contentsOfFile: "\(directory)/SeedBuilder.swift", encoding: .utf8)
        // A field is read by its name: `fields.string("name")`, `list(document, "teams")`.
        let calls =
            #/(?:string|requiredString|strings|bool|integer|targets|policy|members\[)\(?"(\w+)"/#
        var read = Set(builder.matches(of: calls).map { String($0.1) })
        read.formUnion(builder.matches(of: #/, "([A-Za-z]+)"\)/#).map { String($0.1) })
        #expect(builder.contains("disjunctivePolicy()"))
        read.insert("disjunctiveProductionSecretPolicy")
        #expect(read.count > 30)

        let page = try String(contentsOfFile: "\(root)/docs/sandbox.md", encoding: .utf8)
        let section = try #require(
            page.components(separatedBy: "\n## ").first { $0.hasPrefix("Seed files\n") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }
        let shown = Set(
            rows.joined(separator: "\n").matches(of: #/`([A-Za-z]+)`/#).map { String($0.1) })
        #expect(shown.subtracting(read).isEmpty)
        #expect(read.subtracting(shown).isEmpty)
    }
}
