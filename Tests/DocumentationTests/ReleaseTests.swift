import Foundation
import TestSupport
import Testing

/// The programs, the changelog and the manual pages are of the same release.
struct ReleaseTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(DocumentationTests.root)/\(path)", encoding: .utf8)
    }

    @Test func `all programs and the changelog have the same version`() throws {
        var versions = Set<String>()
        for name in ["zg-env", "zg-env-postal", "zg-env-sandbox"] {
            let output = try ProgramRunner(name, ["--version"]).run().output
            #expect(output.hasPrefix("\(name) "))
            versions.insert(String(output.dropFirst(name.count + 1).dropLast()))
        }
        #expect(versions.count == 1)
        let heading = try #require(
            text("CHANGELOG.md").split(separator: "\n").first {
                $0.hasPrefix("## ") && $0 != "## Unreleased"
            })
        #expect(heading.hasPrefix("## \(versions.first ?? "") "), "\(heading)")
    }

    @Test func `all manual pages have the same date`() throws {
        let directory = try TemporaryDirectory()
        for name in ["zg-env", "zg-env-postal"] {
            #expect(try ProgramRunner(name, ["__manual", directory.path]).run().status == 0)
        }
        var dates = Set<Substring>()
        let pages = try FileManager.default.contentsOfDirectory(atPath: directory.path).map {
            try String(decoding: directory.read($0), as: UTF8.self)
        }
        for page in try pages + [text("Packaging/zg-env-sandbox.1")] {
            dates.formUnion(page.split(separator: "\n").filter { $0.hasPrefix(".Dd ") })
        }
        #expect(pages.count > 50)
        #expect(dates.count == 1, "\(dates)")
    }
}
