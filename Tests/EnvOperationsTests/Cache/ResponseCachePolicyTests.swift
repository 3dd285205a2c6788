import Testing

@testable import EnvOperations

@Suite("How long a response is valid")
struct ResponseCachePolicyTests {
    private static let now: UInt64 = 1_800_000_000_000
    private static let month: UInt64 = 30 * 86_400_000

    @Test func `a response is valid for its time, and a failed attempt for its own`() {
        typealias Check = (_ askedAt: UInt64, _ now: UInt64) -> Bool
        let checks: [(Check, milliseconds: UInt64)] = [
            (ResponseCachePolicy.isFresh, 60_000), (ResponseCachePolicy.isOutage, 30_000),
            (ResponseCachePolicy.isShown, Self.month),
        ]
        for (isYoung, span) in checks {
            #expect(isYoung(Self.now, Self.now))
            #expect(isYoung(Self.now - span + 1, Self.now))
            #expect(!isYoung(Self.now - span, Self.now))
            // The clock was set back: the age is unknown.
            #expect(!isYoung(Self.now + 1, Self.now))
            // No time traps.
            #expect(!isYoung(.max, 0) && !isYoung(0, .max) && isYoung(.max, .max))
        }
    }

    /// A response whose line has about this length.
    private func answer(_ number: UInt64, kilobytes: Int = 0, age: UInt64) throws -> CachedResponse
    {
        try CachedResponse(
            DeploymentsResponse(
                current: String(repeating: "n", count: kilobytes << 10), deployments: []),
            at: ResponseKey(
                origin: "o", account: "a", scope: "",
                subject: .deployments(project: "\(number)", filter: "")),
            askedAt: Self.now &- age)
    }

    @Test func `old responses and those from the future are removed`() throws {
        let (old, young) = (try answer(1, age: Self.month), try answer(2, age: Self.month - 1))
        // A time slightly ahead is that of another process that asked while this one waited.
        let (later, future) = (
            try answer(3, age: 0 &- 86_400_000), try answer(4, age: 0 &- 86_400_001)
        )
        #expect(future.askedAt == Self.now + 86_400_001)
        #expect(ResponseCachePolicy.remaining(of: [], now: Self.now) == [])
        #expect(
            ResponseCachePolicy.remaining(of: [old, young, later, future], now: Self.now) == [
                later, young,
            ])
        for now in [0, UInt64.max] {
            #expect(ResponseCachePolicy.remaining(of: [young], now: now) == [])
        }
    }

    @Test func `the oldest of too many are removed, and no more`() throws {
        let many = try (0..<40).map { try answer($0, kilobytes: 512, age: 40 - $0) }
        let rest = ResponseCachePolicy.remaining(of: many, now: Self.now)
        #expect(rest == Array(many.reversed().prefix(31)))
        #expect(rest.reduce(0) { $0 + $1.line.count } < ResponseCachePolicy.totalByteLimit)
        // Anything older than a response without room has no room either.
        let small = try answer(99, age: 41)
        #expect(!ResponseCachePolicy.remaining(of: many + [small], now: Self.now).contains(small))
        #expect(ResponseCachePolicy.remaining(of: rest, now: Self.now) == rest)
    }
}
