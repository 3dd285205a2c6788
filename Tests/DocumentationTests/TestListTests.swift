import Foundation
import Testing

/// Lists of tests that stand outside of the tests: what they name is there. The tests' own program would
/// leave out or run nothing for a name that is not, and say nothing of it.
@Suite("Lists of tests") struct TestListTests {
    /// Every test, as `--filter` and `--skip` see it: `Target.Suite/function/file`.
    private static let names: [String] = {
        let root = DocumentationTests.root + "/Tests"
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".swift") }.flatMap { file -> [String] in
            guard let text = try? String(contentsOfFile: root + "/" + file, encoding: .utf8)
            else { return [] }
            let target = file.prefix { $0 != "/" }
            let suites = text.matches(of: /(?:struct|class|enum|extension|actor) (`[^`]+`|\w+)/)
            // Types within a suite stand before some of its functions.
            return text.matches(of: /func (`[^`]+`|\w+)\(/).flatMap { function in
                suites.filter { $0.range.lowerBound < function.range.lowerBound }
                    .map { "\(target).\($0.1)/\(function.1)/\(file)" }
            }
        }
    }()

    private static func expectTests(_ pattern: String, _ list: String) throws {
        let expression = try Regex(pattern)
        #expect(names.contains { $0.contains(expression) }, "\(list) names \(pattern)")
    }

    @Test func `what instrumented runs leave out is there`() throws {
        let text = try String(
            contentsOfFile: DocumentationTests.root + "/Tests/instrumented-excluded.txt",
            encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count > 20)
        for line in lines {
            let words = line.split(separator: " ")
            #expect(words.count > 3 && ["*", "address", "thread", "coverage"].contains(words[0]))
            try Self.expectTests(String(words[1]), "instrumented-excluded.txt")
        }
    }

    /// A suite that is in no part would not be run, and nobody would notice.
    @Test func `each suite is in one part of a run`() throws {
        let text = try String(
            contentsOfFile: DocumentationTests.root + "/Tests/run-all", encoding: .utf8)
        let parts = try text.matches(
            of: #/(?m)^part "[^"]+"(?: --filter '([^']+)')?(?: --skip '([^']+)')?$/#
        ).map { (try $0.1.map { try Regex(String($0)) }, try $0.2.map { try Regex(String($0)) }) }
        #expect(parts.count > 5)
        let suites = Set(Self.names.map { $0.prefix { $0 != "/" } + "/" }.map { String($0) })
        // And names that somebody may choose.
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabz_`é".flatMap { first in
            ["", "a", "e", "o", "ot", "otat", "otation", "u", "z"].map {
                "CommandLineTests.\(first)\($0)Tests/"
            }
        }
        for suite in suites.union(letters) {
            let count = parts.count { filter, skip in
                filter.map { suite.contains($0) } ?? true
                    && !(skip.map { suite.contains($0) } ?? false)
            }
            #expect(count == 1, "\(suite) is in \(count) parts")
        }
    }

    @Test func `what has a long form is there`() throws {
        let text = try String(
            contentsOfFile: DocumentationTests.root + "/Tests/run-proof", encoding: .utf8)
        let suites = text.matches(of: /(?m)^(?:PROOF|NATS|SPEED)_SUITES\+?='(.*)'$/)
            .flatMap { $0.1.split(separator: "|") }
        #expect(suites.count > 20)
        for suite in suites { try Self.expectTests("\(suite)/", "make proof") }
        // And the list has each suite with a long form.
        let root = DocumentationTests.root + "/Tests"
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        var found = 0
        for file in files where file.hasSuffix("Tests.swift") {
            let text = try String(contentsOfFile: "\(root)/\(file)", encoding: .utf8)
            guard text.contains(/Proof\.(count|sample|isFull)/) else { continue }
            found += 1
            let suite = (file as NSString).lastPathComponent.dropLast(6)
            let name = "\(file.prefix { $0 != "/" }).\(suite)"
            #expect(suites.contains { name.hasSuffix($0) }, "make proof lacks \(name)")
        }
        #expect(found > 20)
    }

    @Test func `suites and files that a page names are there`() throws {
        let docs = DocumentationTests.root + "/docs"
        let pages = FileManager.default.enumerator(atPath: docs)?.compactMap { $0 as? String } ?? []
        var (suites, files) = (Set<String>(), Set<String>())
        for page in pages where page.hasSuffix(".md") {
            let text = try String(contentsOfFile: "\(docs)/\(page)", encoding: .utf8)
            suites.formUnion(text.matches(of: /`((?:\w+\.)?\w+Tests)`/).map { String($0.1) })
            files.formUnion(text.matches(of: /`(Tests\/[\w\/.-]+)`/).map { String($0.1) })
        }
        #expect(suites.count > 40 && files.count > 5)
        for suite in suites {
            try Self.expectTests("(^|\\.)\(suite)[./]", "docs")
        }
        for file in files {
            #expect(
                FileManager.default.fileExists(atPath: "\(DocumentationTests.root)/\(file)"),
                "docs name \(file)")
        }
    }
}
