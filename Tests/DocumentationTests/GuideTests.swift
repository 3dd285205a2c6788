import Testing

/// A guide answers one question: it is read in two minutes, and found from the first page.
@Suite("Guides") struct GuideTests {
    private static let guides = DocumentationTests.pages.filter { $0.hasPrefix("docs/guides/") }

    @Test("A guide has at most 250 words", arguments: guides)
    func length(_ guide: String) throws {
        let count = try DocumentationTests.wordCount(guide)
        #expect(count <= 250, "\(guide): \(count) words")
    }

    @Test("Two clicks from README.md, or from docs/README.md, lead to each guide")
    func reach() throws {
        #expect(Self.guides.count > 12)
        let pages = Set(DocumentationTests.pages)
        var found: Set = ["README.md", "docs/README.md"]
        var newest = found
        for _ in 1...2 {
            newest = try Set(newest.flatMap(DocumentationTests.linkedFiles))
                .intersection(pages).subtracting(found)
            found.formUnion(newest)
        }
        let hidden = Self.guides.filter { !found.contains($0) }
        #expect(hidden.isEmpty)
    }
}
