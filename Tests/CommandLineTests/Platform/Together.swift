import Foundation
import TestSupport
import Threads

/// Programs that run at the same time.
enum Together {
    private final class Slots: Sendable {
        let results: Monitor<[Int: Result<ProgramResult, any Error>]> = .init([:])
    }

    /// A value that only one thread uses at a time.
    private struct Handed<Value>: @unchecked Sendable {
        let value: Value
    }

    /// Runs all programs at once and returns their results in order.
    static func run(_ runners: [ProgramRunner]) throws -> [ProgramResult] {
        let slots = Slots()
        let handed = runners.map { Handed(value: $0) }
        let group = DispatchGroup()
        for (place, runner) in handed.enumerated() {
            group.enter()
            Thread.detachNewThread {
                let result = Result { try runner.value.run() }
                slots.results.look { $0[place] = result }
                group.leave()
            }
        }
        group.wait()
        return try slots.results.look { results in
            try runners.indices.compactMap { try results[$0]?.get() }
        }
    }
}
