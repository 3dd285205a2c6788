import Sandbox
import TestSupport
import Testing

/// Every sandbox fault at every request of a rotation, once or lasting: the rotation ends with one
/// value in vault, Vercel and production, or stays open, says so, and can be resumed and aborted.
///
/// One passing fault for each request, in turn; with ZG_ENV_PROOF=full every one, and lasting ones.
@Suite("Rotations with faults")
struct RotationFaultTests {
    /// Faults of one request, and faults that last until the command has ended.
    private static let faults: [(what: String, times: Int)] =
        [
            "500", "reset", "html", "truncate", "lost-answer", "429", "403", "404", "409", "422",
        ].map { ($0, 1) }
        + (Proof.isFull ? [("503", 200), ("reset", 200), ("403", 200)] : [])

    /// A rotation's home, with its current value and a counter for new ones.
    private struct World {
        let home: RotationHome
        var current = RotationHome.old
        var number = 0

        mutating func next() -> String {
            number += 1
            return "\(RotationHome.new)-\(number)"
        }

        func rotate(to value: String) throws -> ProgramResult {
            var runner = home.platform.runner(
                [
                    "rotate", "KEY", "-p", "web", "--redeploy", "--timeout", "10s", "--yes",
                    "--json",
                ],
                input: .text(value))
            // It waits out a server that does not answer.
            runner.timeLimit = .seconds(300)
            return try runner.run()
        }

        func isOpen() throws -> Bool {
            let status = try json(home.platform.run("rotate", "--status", "--json"))
            return status["rotations"]?.elements.contains { $0["open"] == true } ?? false
        }
    }

    private static func requestCount() throws -> Int {
        var world = World(home: try RotationHome(buildSeconds: 0.1))
        let value = world.next()
        let requests = try world.home.platform.requests { done(try world.rotate(to: value)) }
        #expect(requests.count >= 9, "\(requests)")
        return requests.count
    }

    @Test(.timeLimit(.minutes(60)))
    func `one value is everywhere in the end, or the rotation is open and says so`() throws {
        let count = try Self.requestCount()
        var world = World(home: try RotationHome(buildSeconds: 0.1))
        var ends: [Int32: Int] = [:]
        for (place, (what, times)) in Self.faults.enumerated() {
            for request in 0..<count where Proof.isFull || request % Self.faults.count == place {
                let comment: Comment = "\(what) x\(times) at request \(request) of \(count)"
                let passing = request == 0 ? [] : ["* * slow:0 x\(request)"]
                world.home.platform.server.setFaults(
                    try (passing + ["* * \(what) x\(times)"]).map { try #require(Fault($0)) })
                let value = world.next()
                let result = try world.rotate(to: value)
                world.home.platform.server.setFaults([])
                guard case .exited(let status) = result.end else {
                    Issue.record("\(comment): \(result.end)")
                    return
                }
                ends[status, default: 0] += 1
                #expect([0, 1, 4, 5, 6, 7, 10, 11].contains(status), comment)
                let isOpen = try world.isOpen()
                #expect(isOpen == (status == 11), "\(comment): \(status) \(result.error)")
                if status == 0 { world.current = value }
                if isOpen {
                    // Resume and abort alternate.
                    let way = request.isMultiple(of: 2) ? "--resume" : "--abort"
                    let end = try world.home.proceed("KEY", way)
                    let outcome = try JSONDocument(end.standardOutput)["outcome"]
                    #expect([0, 10].contains(end.status), "\(comment): \(end.error)")
                    if outcome == "done" { world.current = value }
                    #expect(try !world.isOpen(), comment)
                }
                try world.home.expect(world.current, comment)
            }
        }
        print(
            "proof: ends of rotations \(ends.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
        )
        #expect((ends[0] ?? 0) > 0 && (ends[10] ?? 0) > 0, "\(ends)")
    }
}
