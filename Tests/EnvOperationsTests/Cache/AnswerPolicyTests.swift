import Testing

@testable import EnvOperations

@Suite("How long an answer serves")
struct AnswerPolicyTests {
    private typealias Course = AnswerPolicy.Course
    private static let now: UInt64 = 1_800_000_000_000
    private static let day: UInt64 = 86_400_000

    /// Age of what is kept and of the last vain attempt, in milliseconds; nil for none.
    private static let cases: [(kept: Int64?, outage: Int64?, rule: AnswerPolicy.Rule, Course)] = [
        (nil, nil, .ordinary, .ask), (0, nil, .ordinary, .serve),
        (59_999, nil, .ordinary, .serve), (60_000, nil, .ordinary, .askOrServe),
        (60_000, 29_999, .ordinary, .serveStale), (60_000, 30_000, .ordinary, .askOrServe),
        (59_999, 0, .ordinary, .serve), (nil, 0, .ordinary, .ask),
        // The clock was set back: nobody knows how old it is.
        (-1, nil, .ordinary, .ask), (60_000, -1, .ordinary, .askOrServe),
        (30 * 86_400_000 - 1, nil, .ordinary, .askOrServe),
        (30 * 86_400_000, nil, .ordinary, .ask), (30 * 86_400_000, 0, .ordinary, .ask),
        (0, nil, .refresh, .ask), (nil, 0, .refresh, .ask), (60_000, 0, .refresh, .ask),
        (0, nil, .offline, .serve), (30 * 86_400_000 - 1, 0, .offline, .serve),
        (30 * 86_400_000, nil, .offline, .refuse), (nil, nil, .offline, .refuse),
        (-1, nil, .offline, .refuse),
    ]

    @Test(arguments: cases.indices)
    func `the course follows from the ages and the rule`(place: Int) {
        let (kept, outage, rule, expected) = Self.cases[place]
        func time(_ age: Int64?) -> UInt64? { age.map { UInt64(Int64(Self.now) - $0) } }
        #expect(
            AnswerPolicy.course(
                askedAt: time(kept), outageAt: time(outage), now: Self.now, rule: rule) == expected)
    }

    @Test func `no time traps`() {
        for (asked, now) in [(UInt64.max, 0), (0, UInt64.max), (UInt64.max, UInt64.max)] {
            for rule in AnswerPolicy.Rule.allCases {
                _ = AnswerPolicy.course(askedAt: asked, outageAt: now, now: now, rule: rule)
            }
            let files = [AnswerPolicy.File(name: "a", byteCount: .max, writtenAt: asked)]
            _ = AnswerPolicy.surplus(of: files + files, now: now)
        }
    }

    @Test func `old files go, and the oldest of too many`() {
        func file(_ name: String, _ megabytes: Int, age: UInt64, unfinished: Bool = false)
            -> AnswerPolicy.File
        {
            .init(
                name: name, byteCount: megabytes << 20, writtenAt: Self.now - age,
                isUnfinished: unfinished)
        }
        #expect(AnswerPolicy.surplus(of: [], now: Self.now) == [])
        #expect(
            AnswerPolicy.surplus(
                of: [
                    file("old", 1, age: 30 * Self.day), file("young", 1, age: 30 * Self.day - 1),
                    file("killed", 1, age: 3_600_000, unfinished: true),
                    file("writing", 1, age: 3_599_999, unfinished: true),
                ], now: Self.now
            ).sorted() == ["killed", "old"])
        #expect(
            AnswerPolicy.surplus(
                of: [
                    file("third", 30, age: 3), file("first", 30, age: 1), file("small", 4, age: 4),
                    file("second", 30, age: 2),
                ], now: Self.now) == ["third"])
        #expect(
            AnswerPolicy.surplus(
                of: [.init(name: "future", byteCount: 1, writtenAt: Self.now + 2 * Self.day)],
                now: Self.now) == ["future"])
        let many = (0..<100).map { file("\($0)", 1, age: UInt64($0)) }
        #expect(AnswerPolicy.surplus(of: many, now: Self.now).count == 36)
    }
}
