import CommandLineKit
import Foundation
import Testing

@testable import ZGEnvCommands

/// The README and the pages in docs against the commands' descriptions: every command line in them
/// parses, and every command and option is documented.
@Suite("Commands in the pages")
struct PageTests {
    private let pages: [CommandPage]
    private let program = CommandTable.program
    private let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    init() throws {
        let documents = package.appending(path: "docs")
        let found = FileManager.default.enumerator(at: documents, includingPropertiesForKeys: nil)
        let files = (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
        #expect(files.count > 15)
        pages = try (files + [package.appending(path: "README.md")]).map { file in
            CommandPage(
                name: file.lastPathComponent, text: try String(contentsOf: file, encoding: .utf8))
        }
    }

    @Test func `every command line parses`() {
        var count = 0
        for page in pages {
            for line in page.commandLines {
                count += 1
                // Running text often gives only a command's name.
                if program.commands.contains(where: { $0.path == line.words }) { continue }
                // Capitals are a placeholder and brackets a choice: a synopsis, not a line to type.
                if line.isForm { continue }
                do throws(UsageError) {
                    _ = try ArgumentParser(program).parse(line.words)
                } catch {
                    Issue.record(
                        "\(page.name):\(line.number): \(error.message): \(line.words.joined(separator: " "))"
                    )
                }
            }
        }
        #expect(count > 30)
    }

    @Test func `every command is in a page`() {
        let code = pages.flatMap(\.code).map(\.text)
        for command in program.commands where !command.isHidden {
            let isNamed = code.contains { $0.contains(word: command.name) }
            #expect(isNamed, "\(command.name)")
        }
    }

    @Test func `every option is in a page`() {
        let named = Set(pages.flatMap(\.options).map(\.option))
        for option in program.globalOptions where !option.isHidden {
            #expect(named.contains(option.dashedName), "\(option.dashedName)")
        }
        for command in program.commands where !command.isHidden {
            for option in command.options where !option.isHidden {
                #expect(named.contains(option.dashedName), "\(command.name) \(option.dashedName)")
            }
        }
    }

    /// FoundationEssentials would add five megabytes to the program; JSON and Sealing replace what
    /// it used of it.
    @Test func `no module of the program imports Foundation`() throws {
        let servers: Set<String> = ["Sandbox", "Postal", "zg-env-sandbox", "zg-env-postal"]
        let sources = package.appending(path: "Sources")
        let targets = try FileManager.default.contentsOfDirectory(atPath: sources.path)
        #expect(targets.contains("ZGEnvCommands"))
        for target in targets where !servers.contains(target) {
            let found = FileManager.default.enumerator(
                at: sources.appending(path: target), includingPropertiesForKeys: nil)
            for case let file as URL in found ?? .init() where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(!text.contains("import Foundation"), "\(target)/\(file.lastPathComponent)")
            }
        }
    }
}

extension String {
    /// Whether it contains `words` as whole words.
    fileprivate func contains(word words: String) -> Bool {
        var rest = self[...]
        while let found = rest.range(of: words) {
            let before = rest[..<found.lowerBound].last ?? self[..<found.lowerBound].last
            let after = rest[found.upperBound...].first
            func joins(_ character: Character?) -> Bool {
                character.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" } ?? false
            }
            if !joins(before), !joins(after) { return true }
            rest = rest[found.upperBound...]
        }
        return false
    }
}
