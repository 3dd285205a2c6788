import Foundation
import Testing

/// Holds how `zg-env` ends in the tests against the table of codes on each command's page.
package enum DocumentedExitCodes {
    /// How many commands have a page.
    package static var commandCount: Int { pages.count }

    /// The codes of each page, by the words of its command.
    private static let pages: [[String]: Set<Int32>] = {
        let root =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path + "/docs/commands/"
        var pages: [[String]: Set<Int32>] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [] {
            guard let text = try? String(contentsOfFile: root + name, encoding: .utf8),
                let title = text.firstMatch(of: /(?m)^# zg-env (.+)$/)
            else { continue }
            let rows = text.matches(of: #/(?m)^\| (\d+) \| /#)
            pages[title.1.split(separator: " ").map { String($0) }] = Set(
                rows.compactMap { Int32($0.1) })
        }
        return pages
    }()

    /// What ends any command: a signal that it took, and a stdout that nobody reads.
    private static let general: Set<Int32> = [129, 130, 131, 141, 143]

    /// Records an issue where a command ended with a code that its page does not name.
    static func check(_ runner: ProgramRunner, _ result: ProgramResult) {
        guard runner.path.hasSuffix("/zg-env"), let status = result.status,
            !general.contains(status)
        else { return }
        let words = runner.arguments.map { String(decoding: $0, as: UTF8.self) }
        // Options for all commands may stand before.
        let command = words.indices.lazy.flatMap { start in
            [2, 1].map { Array(words[start...].prefix($0)) }
        }.first { pages[$0] != nil }
        // The program that `run` became has codes of its own, and speaks for itself.
        let speaks =
            words.contains("--")
            && result.error.split(separator: "\n").contains { $0.hasPrefix("zg-env: ") }
        guard let command, command != ["run"] || speaks, let codes = pages[command],
            !codes.contains(status)
        else { return }
        Issue.record(
            "zg-env \(command.joined(separator: " ")) ended with \(status), which its page does not name: \(words.prefix(5)) \(result.error.suffix(300))"
        )
    }
}
