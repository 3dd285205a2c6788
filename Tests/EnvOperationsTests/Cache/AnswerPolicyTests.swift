import Testing

@testable import EnvOperations

@Suite("How long an answer serves")
struct AnswerPolicyTests {
    private static let now: UInt64 = 1_800_000_000_000
    private static let month: UInt64 = 30 * 86_400_000

    @Test func `an answer serves for its time, and a vain attempt for its own`() {
        typealias Check = (_ askedAt: UInt64, _ now: UInt64) -> Bool
        let checks: [(Check, milliseconds: UInt64)] = [
            (AnswerPolicy.isFresh, 60_000), (AnswerPolicy.isOutage, 30_000),
            (AnswerPolicy.isShown, Self.month),
        ]
        for (isYoung, span) in checks {
            #expect(isYoung(Self.now, Self.now))
            #expect(isYoung(Self.now - span + 1, Self.now))
            #expect(!isYoung(Self.now - span, Self.now))
            // The clock was set back: nobody knows how old it is.
            #expect(!isYoung(Self.now + 1, Self.now))
            // No time traps.
            #expect(!isYoung(.max, 0) && !isYoung(0, .max) && isYoung(.max, .max))
        }
    }

    /// An answer whose line is about so long.
    private func answer(_ number: UInt64, kilobytes: Int = 0, age: UInt64) throws -> KeptAnswer {
        try KeptAnswer(
            DeploymentsAnswer(
                current: String(repeating: "n", count: kilobytes << 10), deployments: []),
            at: AnswerAddress(
                origin: "o", account: "a", scope: "",
                subject: .deployments(project: "\(number)", filter: "")),
            askedAt: Self.now &- age)
    }

    @Test func `old answers go, and those from a time to come`() throws {
        let (old, young) = (try answer(1, age: Self.month), try answer(2, age: Self.month - 1))
        // What another process asks for while this one waits for its turn is a little later.
        let (later, future) = (
            try answer(3, age: 0 &- 86_400_000), try answer(4, age: 0 &- 86_400_001)
        )
        #expect(future.askedAt == Self.now + 86_400_001)
        #expect(AnswerPolicy.remaining(of: [], now: Self.now) == [])
        #expect(
            AnswerPolicy.remaining(of: [old, young, later, future], now: Self.now) == [
                later, young,
            ])
        for now in [0, UInt64.max] { #expect(AnswerPolicy.remaining(of: [young], now: now) == []) }
    }

    @Test func `the oldest of too many go, and no more than that`() throws {
        let many = try (0..<40).map { try answer($0, kilobytes: 512, age: 40 - $0) }
        let rest = AnswerPolicy.remaining(of: many, now: Self.now)
        #expect(rest == Array(many.reversed().prefix(31)))
        #expect(rest.reduce(0) { $0 + $1.line.count } < AnswerPolicy.totalByteLimit)
        // What is older than one that has no room has none either.
        let small = try answer(99, age: 41)
        #expect(!AnswerPolicy.remaining(of: many + [small], now: Self.now).contains(small))
        #expect(AnswerPolicy.remaining(of: rest, now: Self.now) == rest)
    }
}
