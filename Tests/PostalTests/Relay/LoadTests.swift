import Foundation
import TestSupport
import Testing

/// The short form of `make postal-load`: finds lost events, and measures the cost of a device.
@Suite struct LoadTests {
    @Test func `Two hundred devices get everything, at most 16 KB each`() throws {
        let load = try ProgramRunner.pathOfProduct("zg-env-postal-load")
        let relay = try ProgramRunner.pathOfProduct("zg-env-postal")
        var runner = ProgramRunner(
            path: load, [relay, "200", "1", "20", "20"], environment: ["PATH": "/usr/bin:/bin"])
        runner.timeLimit = .seconds(60)
        let result = try runner.run()
        #expect(result.status == 0, "\(result.error)")
        let value = try #require(
            try JSONSerialization.jsonObject(with: Data(result.standardOutput)) as? [String: Any])
        func part(_ name: String) -> [String: Any] { value[name] as? [String: Any] ?? [:] }
        #expect(part("to_small")["count"] as? Int == 400)
        #expect(part("to_all")["count"] as? Int == 200)
        // The relay closes a connection that sends nothing after a time.
        #expect(value["senders"] as? Int == 8)
        #expect(value["lost"] as? Int == 0 && value["refused"] as? Int == 0)
        let each = try #require(part("memory_kb")["each"] as? Double)
        #expect(each < 16)
    }
}
