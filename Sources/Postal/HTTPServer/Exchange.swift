internal import Synchronization

/// What is known of one request while it comes in and is answered.
///
/// A stream has one for as long as it is open, so it lets go of what it needs no more.
final class Exchange: @unchecked Sendable {
    /// Bytes that a sender may send for nothing, to see the answer.
    static let patienceByteCount = 4 << 20
    /// Bytes of all bodies together.
    static let budgetByteCount = 64 << 20

    let connection: ConnectionHandle
    /// Empty once the plan is made.
    var target: String
    var plan: RequestPlan?
    var body: [UInt8] = []
    var receivedByteCount = 0
    /// Written by another thread while the connection is suspended, read after it was resumed.
    var answer: HTTPAnswer?
    var stream: EventStream?

    init(_ connection: ConnectionHandle, target: String) {
        (self.connection, self.target) = (connection, target)
    }

    /// Takes a piece of the body.
    ///
    /// - Returns: Whether the connection may go on.
    func take(
        _ piece: UnsafeRawBufferPointer, budget: borrowing Atomic<Int>, metrics: Metrics
    ) -> Bool {
        receivedByteCount += piece.count
        guard receivedByteCount <= Self.patienceByteCount else { return false }
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

    /// Forgets the body.
    func give(backTo budget: borrowing Atomic<Int>) {
        budget.wrappingSubtract(body.count, ordering: .relaxed)
        body = []
    }
}
