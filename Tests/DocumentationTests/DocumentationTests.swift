import Foundation
import TestSupport
import Testing

/// Follows every page to the letter.
@Suite("Documentation") struct DocumentationTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// All pages, by their paths below the package.
    static let pages: [String] = {
        let all = FileManager.default.enumerator(atPath: root + "/docs")?.compactMap {
            $0 as? String
        }
        let docs = (all ?? []).filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        return (docs + ["README.md", "CONTRIBUTING.md", "SECURITY.md"]).sorted()
            .filter { FileManager.default.fileExists(atPath: root + "/" + $0) }
    }()

    static func script(_ page: String) throws -> DocumentScript {
        try DocumentScript(String(contentsOfFile: root + "/" + page, encoding: .utf8))
    }

    @Test("Every command line of a page is run, and does what the page says", arguments: pages)
    func run(_ page: String) throws {
        let script = try Self.script(page)
        guard !script.steps.isEmpty else { return }
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let failures = try DocumentRun(script, keyring: keyring).failures()
        for failure in failures { Issue.record("\(page), \(failure)") }
    }

    @Test("No command line stands where nothing runs it", arguments: pages)
    func strays(_ page: String) throws {
        let strays = try Self.script(page).strays
        #expect(strays.isEmpty, "\(page): lines \(strays)")
    }

    @Test("Pages are linked with each other: no link leads nowhere", arguments: pages)
    func links(_ page: String) throws {
        let text = try String(contentsOfFile: Self.root + "/" + page, encoding: .utf8)
        let directory = URL(fileURLWithPath: Self.root + "/" + page).deletingLastPathComponent()
        for match in text.matches(of: /\]\(([^)#\s]+)(#[^)]*)?\)/) {
            let target = String(match.1)
            guard !target.contains("://"), !target.hasPrefix("mailto:") else { continue }
            let path = directory.appendingPathComponent(target).standardized.path
            #expect(FileManager.default.fileExists(atPath: path), "\(page) links \(target)")
        }
    }
}
