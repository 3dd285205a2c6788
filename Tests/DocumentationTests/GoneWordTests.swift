import Foundation
import Testing

/// Words of what was taken out: writing without the values key, and comparing at each use.
@Suite("Words of what is gone")
struct GoneWordTests {
    /// In lower case. ADRs and the changelog say what was there.
    private static let words = [
        "checkpoint", "acceptancegate", "changesreview", "accept-changes", "acceptchanges",
        "changedwhilelocked", "changeschecked", "unattendedtier", "sealed batch", "locked write",
    ]
    /// Where a word means something else.
    private static let others = [
        "Sources/Postal/Stores/SQLite/SQLiteSchema.swift": "wal_autocheckpoint"
    ]

    @Test("No word of writing while locked is left", arguments: words)
    func word(_ word: String) throws {
        let root = URL(fileURLWithPath: DocumentationTests.root)
        var count = 0
        for folder in ["Sources", "docs", "Packaging"] {
            let all = FileManager.default.enumerator(atPath: root.path + "/" + folder)
            while let name = all?.nextObject() as? String {
                guard ["swift", "md", "sh", "sql"].contains((name as NSString).pathExtension),
                    !name.hasPrefix("adr/")
                else { continue }
                let path = "\(folder)/\(name)"
                var text = try String(
                    contentsOf: root.appendingPathComponent(path), encoding: .utf8
                ).lowercased()
                if let other = Self.others[path] { text = text.replacing(other, with: "") }
                count += 1
                if text.contains(word) { Issue.record("\(path): \(word)") }
            }
        }
        #expect(count > 800)
    }
}
