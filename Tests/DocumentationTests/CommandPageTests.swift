import Foundation
import Testing

@testable import ZGEnvCommands

/// The pages of the commands are what the commands are. `make docs` writes them.
@Suite("Pages of the commands") struct CommandPageTests {
    @Test("are as the description makes them, one for each command and no other")
    func pages() throws {
        let directory = DocumentationTests.root + "/docs/commands"
        let pages = try CommandPages(program: CommandTable.program).all()
        if ProcessInfo.processInfo.environment["ZG_ENV_DOCUMENTS"] == "write" {
            try? FileManager.default.removeItem(atPath: directory)
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
            for (name, text) in pages {
                try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
            }
        }
        let there = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(Set(there) == Set(pages.keys))
        for (name, text) in pages.sorted(by: { $0.key < $1.key }) {
            let file = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
            #expect(file == text, "docs/commands/\(name) is old: make docs")
        }
    }
}
