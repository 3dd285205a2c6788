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

    /// Returns the number of words of a page that a reader sees, as `wc -w` counts them.
    static func wordCount(_ page: String) throws -> Int {
        let text = try String(contentsOfFile: root + "/" + page, encoding: .utf8)
        // Set-up for the commands of a page is not shown.
        return text.replacing(#/(?s)<!--.*?-->/#, with: "")
            .split { $0 == " " || $0 == "\n" }.count
    }

    /// Returns the files and directories that a page links, by their paths below the package.
    static func linkedFiles(_ page: String) throws -> [String] {
        let text = try String(contentsOfFile: root + "/" + page, encoding: .utf8)
        let directory = URL(fileURLWithPath: root + "/" + page).deletingLastPathComponent()
        return text.matches(of: /\]\(([^)#\s]+)(#[^)]*)?\)/).map { String($0.1) }
            .filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
            .map { directory.appendingPathComponent($0).standardized.path }
            .map { String($0.dropFirst(root.count + 1)) }
    }

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
        for file in try Self.linkedFiles(page) {
            #expect(
                FileManager.default.fileExists(atPath: Self.root + "/" + file),
                "\(page) links \(file)")
        }
    }
}
