internal import Synchronization

/// The state of one request while it is received and answered.
///
/// A stream has one for as long as it is open, so it releases what it no longer needs.
final class Exchange: @unchecked Sendable {
    /// Bytes of a refused body that are still read, so that the client sees the response.
    static let drainByteLimit = 4 << 20
    /// Most bytes of all bodies together.
    static let budgetByteCount = 64 << 20

    let connection: ConnectionHandle
    /// Empty after planning.
    var target: String
    var plan: RequestPlan?
    var body: [UInt8] = []
    var receivedByteCount = 0
    /// Written by another thread while the connection is suspended; read after it is resumed.
    var answer: HTTPAnswer?
    var stream: EventStream?

    init(_ connection: ConnectionHandle, target: String) {
        (self.connection, self.target) = (connection, target)
    }

    /// Takes a part of the body. Returns whether the connection may continue.
    func take(
        _ piece: UnsafeRawBufferPointer, budget: borrowing Atomic<Int>, metrics: Metrics
    ) -> Bool {
        receivedByteCount += piece.count
        guard receivedByteCount <= Self.drainByteLimit else { return false }
        guard case .work(let use, _)? = plan else { return true }
        guard receivedByteCount <= use.limit else {
            give(backTo: budget)
            plan = .answer(.refusal(.tooLong))
            metrics.refuse(.tooLong)
            return true
        }
        guard case .kept = use else { return true }
        let taken = budget.wrappingAdd(piece.count, ordering: .relaxed)
        unsafe body.append(contentsOf: piece)
        if taken.newValue > Self.budgetByteCount {
            give(backTo: budget)
            plan = .answer(.refusal(.busy))
            metrics.refuse(.busy)
        }
        return true
    }

    /// Drops the body.
    func give(backTo budget: borrowing Atomic<Int>) {
        budget.wrappingSubtract(body.count, ordering: .relaxed)
        body = []
    }
}
