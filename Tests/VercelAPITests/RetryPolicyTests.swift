import Testing

@testable import VercelAPI

@Suite struct `When a request is sent again` {
    private let policy = RetryPolicy()

    private func pause(
        _ outcome: RetryPolicy.Outcome, attempt: Int = 1, elapsed: Duration = .zero,
        isRepeatable: Bool = true, random: Double = 0
    ) -> Duration? {
        policy.pause(
            after: outcome, attempt: attempt, elapsed: elapsed, isRepeatable: isRepeatable,
            random: random)
    }

    @Test func `a success or a refusal is final`() {
        #expect(pause(.final) == nil)
    }

    @Test(arguments: [
        (true, true, true), (true, false, true), (false, false, true), (false, true, false),
    ])
    func `a failure is retried only if that is safe`(
        isRepeatable: Bool, hasReached: Bool, isRepeated: Bool
    ) {
        let found = pause(.broken(mayHaveReachedServer: hasReached), isRepeatable: isRepeatable)
        #expect((found != nil) == isRepeated)
    }

    @Test func `pauses double up to a limit, with jitter below`() {
        let broken = RetryPolicy.Outcome.broken(mayHaveReachedServer: true)
        #expect(pause(broken, attempt: 1, random: 1) == .milliseconds(500))
        #expect(pause(broken, attempt: 1, random: 0) == .milliseconds(250))
        #expect(pause(broken, attempt: 2, random: 1) == .seconds(1))
        #expect(pause(broken, attempt: 4, random: 1) == .seconds(4))
        #expect(pause(broken, attempt: 5) == nil)
        let patient = RetryPolicy(maximumAttempts: 1000, totalTime: .seconds(100_000))
        for attempt in [6, 7, 40, 999] {
            let found = patient.pause(
                after: broken, attempt: attempt, elapsed: .zero, isRepeatable: true, random: 1)
            #expect(found == .seconds(15))
        }
    }

    @Test func `an unreachable API is given up within two seconds`() {
        for isRepeatable in [true, false] {
            let pauses = (1...5).map {
                pause(.unreachable, attempt: $0, isRepeatable: isRepeatable, random: 1)
            }
            #expect(
                pauses == [.milliseconds(250), .milliseconds(500), .seconds(1), nil, nil])
        }
    }

    @Test func `Vercel's own retry time is kept, with jitter on top`() {
        for isRepeatable in [true, false] {
            #expect(
                pause(.notNow(after: .seconds(7)), isRepeatable: isRepeatable) == .seconds(7))
        }
        #expect(pause(.notNow(after: .seconds(7)), random: 0.5) == .milliseconds(7500))
        #expect(pause(.notNow(after: .zero), random: 0.5) == .milliseconds(500))
        #expect(pause(.notNow(after: .seconds(-5))) == .zero)
        #expect(pause(.notNow(after: nil), isRepeatable: false) == .milliseconds(250))
    }

    @Test func `all attempts together stay within the given time`() {
        #expect(pause(.notNow(after: .seconds(119))) != nil)
        #expect(pause(.notNow(after: .seconds(121))) == nil)
        #expect(pause(.notNow(after: .seconds(60)), elapsed: .seconds(61)) == nil)
        #expect(pause(.notNow(after: .seconds(1 << 32))) == nil)
    }
}
