import Foundation
import Testing

/// Compares the exit codes of `zg-env` in the tests with the table on each command's page.
package enum DocumentedExitCodes {
    /// The number of commands with a page.
    package static var commandCount: Int { pages.count }

    /// The codes of each page, by the command's words.
    private static let pages: [[String]: Set<Int32>] = {
        let root =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path + "/docs/commands/"
        var pages: [[String]: Set<Int32>] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [] {
            guard let text = try? String(contentsOfFile: root + name, encoding: .utf8),
                let title = text.firstMatch(of: /(?m)^# zg-env (.+)$/)
            else { continue }
            let codes = text.firstMatch(of: #/(?m)^\[Exit codes\]\S+ (.+)$/#)?.1 ?? ""
            pages[title.1.split(separator: " ").map { String($0) }] = Set(
                codes.split { !$0.isNumber }.compactMap { Int32($0) })
        }
        return pages
    }()

    /// The codes of any command: a signal, and a closed stdout.
    private static let general: Set<Int32> = [129, 130, 131, 141, 143]

    /// Records an issue if a command's exit code is not on its page.
    static func check(_ runner: ProgramRunner, _ result: ProgramResult) {
        guard runner.path.hasSuffix("/zg-env"), let status = result.status,
            !general.contains(status)
        else { return }
        let words = runner.arguments.map { String(decoding: $0, as: UTF8.self) }
        // Global options may precede the command.
        let command = words.indices.lazy.flatMap { start in
            [2, 1].map { Array(words[start...].prefix($0)) }
        }.first { pages[$0] != nil }
        // The program that `run` executes has its own codes, like the shell of `try`.
        if words.contains("--shell") { return }
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
