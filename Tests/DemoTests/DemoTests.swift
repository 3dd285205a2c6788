import Foundation
import TestSupport
import Testing

/// Runs the demo with the programs that were built for tests.
struct DemoTests {
    private let directory = Result { try TemporaryDirectory() }

    @Test func `the demo does every step and leaves nothing behind`() throws {
        let directory = try directory.get()
        let result = try demo(
            try ProgramRunner.pathOfProduct("zg-env"),
            try ProgramRunner.pathOfProduct("zg-env-sandbox"), in: directory)
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.contains("All \(Self.stepNames.count) steps of the demo passed."))
        #expect(result.error.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test(arguments: Sabotage.all)
    func `the demo stops at a step that fails`(_ sabotage: Sabotage) throws {
        let directory = try directory.get()
        let programs = try TemporaryDirectory()
        let result = try demo(
            try programs.write(try program(sabotage), to: "zg-env", mode: 0o700),
            try programs.write(try sandbox(sabotage), to: "zg-env-sandbox", mode: 0o700),
            in: directory)
        #expect(result.status == 1)
        let number = try #require(Self.stepNames.firstIndex(of: sabotage.step)) + 1
        #expect(
            result.error.contains("demo: stopped at step \(number), \(sabotage.step): "),
            "\(result.output.suffix(1000))\(result.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `every step is broken at least once`() {
        #expect(Set(Sabotage.all.map(\.step)) == Set(Self.stepNames))
    }

    private static let stepNames = [
        "sandbox", "init", "import", "list", "reveal", "run", "set", "login", "push", "redeploy",
        "live",
    ]

    /// A `zg-env` that fails as the sabotage says, and otherwise is the real one.
    private func program(_ sabotage: Sabotage) throws -> String {
        let real = "zg() { '\(try ProgramRunner.pathOfProduct("zg-env"))' \"$@\"; }\n"
        let wrong =
            sabotage.commands.isEmpty
            ? "" : "case \"$*\" in \(sabotage.commands)) \(sabotage.instead); exit ;; esac\n"
        return "#!/bin/bash\n" + real + wrong + "zg \"$@\"\n"
    }

    private func sandbox(_ sabotage: Sabotage) throws -> String {
        let options = sabotage.sandboxOptions.map { " '\($0)'" }.joined()
        let path = try ProgramRunner.pathOfProduct("zg-env-sandbox")
        return "#!/bin/bash\nexec '\(path)' \"$@\"\(options)\n"
    }

    private func demo(
        _ program: String, _ sandbox: String, in directory: TemporaryDirectory
    ) throws -> ProgramResult {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().path
        var runner = ProgramRunner(
            path: "\(root)/Demo/demo.sh", [program, sandbox],
            environment: ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path])
        runner.timeLimit = .seconds(120)
        return try runner.run()
    }
}
