import Foundation
import TestSupport
import Testing

/// The service unit as systemd reads it.
@Suite struct UnitFileTests {
    @Test func `systemd accepts every line of the unit, and rates it as well confined`() throws {
        let tool = "/usr/bin/systemd-analyze"
        try #require(
            FileManager.default.isExecutableFile(atPath: tool),
            "systemd-analyze is not there; .ci/set-up tests installs it")
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        var text = try String(
            contentsOf: root.appendingPathComponent("Packaging/zg-env-postal.service"),
            encoding: .utf8)
        let shown = "/usr/bin/zg-env-postal"
        #expect(text.contains("ExecStart=\(shown) serve"))
        text = text.replacingOccurrences(
            of: shown, with: try ProgramRunner.pathOfProduct("zg-env-postal"))
        let directory = try TemporaryDirectory(named: "zg-unit")
        let unit = try directory.write(text, to: "zg-env-postal.service")
        let environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        let verified = try ProgramRunner(
            path: tool, ["verify", "--man=no", "--recursive-errors=no", unit],
            environment: environment
        ).run()
        #expect(verified.status == 0 && verified.error.isEmpty, "\(verified.error)")
        let judged = try ProgramRunner(
            path: tool, ["security", "--offline=true", "--threshold=20", unit],
            environment: environment
        ).run()
        // 20 of 100 is what systemd calls "OK" at its best; most services are above 90.
        #expect(judged.status == 0, "\(judged.output) \(judged.error)")
    }
}
