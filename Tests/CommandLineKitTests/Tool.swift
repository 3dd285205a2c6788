import Foundation
import TestSupport

/// Runs programs of the machine that judge what the kit generates.
enum Tool {
    struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    /// The file of a program on the path, or nil.
    static func file(_ name: String) -> String? {
        ["/usr/bin", "/bin", "/usr/local/bin"].map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static func run(_ name: String, _ arguments: [String], input: String = "") throws -> Result {
        // Some programs want to go back in what they read, which a pipe does not allow.
        let directory = try TemporaryDirectory(named: "tool")
        let text = try directory.write(input, to: "input")
        var runner = ProgramRunner(
            path: file(name) ?? name, arguments.map { $0 == "/dev/stdin" ? text : $0 },
            environment: [
                "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/home/user",
                "MANWIDTH": "80",
            ])
        runner.input = .text(input)
        let result = try runner.run()
        return Result(
            status: result.status ?? -1, output: result.output, errors: result.error)
    }
}
