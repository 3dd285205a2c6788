internal import JSON
internal import Threads

/// Reads a stream from a number on, for as long as it lives, on a thread of its own: also across lost
/// connections, servers that go, and leaders that change. What it reads comes in order and without gaps.
///
/// It is told of new messages by some server, which may have something else than the others under a number
/// (``NATSStreams/warning()``). Where it matters, they are then read from the stream's leader.
final class StreamFollower: Sendable {
    /// One message of the stream.
    struct Message: Sendable {
        let subject: String
        let sequence: Int64
        /// When the stream took it, in milliseconds since 1970; 0 where that is not known.
        let time: Int64
        let data: [UInt8]
        /// Whether more were there already.
        let hasMore: Bool
    }

    /// Whose messages are taken.
    enum Source: Sendable {
        /// Those of the server that tells of them. Their times are known.
        case teller
        /// The leader's.
        case leader
    }

    private struct State {
        /// Everything up to this number was taken.
        var seen: Int64
        var heardAt: Int64 = 0
        var isEnding = false
    }

    private static let batch: Int64 = 256
    /// More than the largest message, little enough for memory.
    private static let byteLimit: Int64 = 4 << 20
    private static let waitMilliseconds: Int64 = 1_000
    /// A question that stays without an answer for so long has been lost.
    private static let lostMilliseconds: Int64 = 1_800
    /// How often the leader is asked for what another server told of.
    private static let leaderAttempts = 40

    private let stream: String
    private let api: JetStream
    private let steady: @Sendable () -> Int64
    private let state: Monitor<State>
    private let source: Source
    private let take: @Sendable (Message) -> Void
    private let resumed: @Sendable () -> Void
    private let answered: @Sendable () -> Void
    private let thread: Monitor<WorkThread?> = Monitor(nil)

    /// - Parameters:
    ///   - after: Where to begin.
    ///   - source: Whose messages are taken. The leader is asked for each, so a long stream takes long.
    ///   - resumed: Called when it had to begin anew.
    ///   - answered: Called about once a second while the stream answers.
    init(
        _ api: JetStream, stream: String, after: Int64, steady: @escaping @Sendable () -> Int64,
        source: Source,
        take: @escaping @Sendable (Message) -> Void, resumed: @escaping @Sendable () -> Void,
        answered: @escaping @Sendable () -> Void = {}
    ) {
        (self.api, self.stream, self.steady) = (api, stream, steady)
        (self.source, self.take) = (source, take)
        (self.resumed, self.answered) = (resumed, answered)
        state = Monitor(State(seen: after))
    }

    func start() throws(StoreError) {
        guard let made = WorkThread({ [self] in run() }) else {
            throw StoreError(.unavailable, "The system gives no thread.")
        }
        thread.look { $0 = made }
    }

    /// Has it end soon; at once where the connection is closed then.
    func end() { state.change { $0.isEnding = true } }

    /// Waits for its end.
    func close() {
        end()
        thread.look { thread -> WorkThread? in
            defer { thread = nil }
            return thread
        }?.join()
    }

    /// Waits until everything up to a number was taken; false where that takes too long.
    func wait(for sequence: Int64, milliseconds: Int64) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.seen >= sequence ? true : nil } ?? false
    }

    /// The number up to which everything was taken.
    var seen: Int64 { state.look { $0.seen } }

    /// How long it has heard nothing, in milliseconds.
    var silence: Int64 {
        let now = steady()
        return state.look { now - $0.heardAt }
    }

    private var isEnding: Bool { state.look { $0.isEnding } }

    private func run() {
        var isFirst = true
        while !isEnding {
            do throws(StoreError) {
                let consumer = try makeConsumer()
                if !isFirst { resumed() }
                isFirst = false
                try follow(consumer)
            } catch {
                _ = state.wait(milliseconds: 100) { $0.isEnding ? true : nil }
            }
        }
    }

    private func makeConsumer() throws(StoreError) -> String {
        let first = try api.firstSequence(of: stream)
        let seen = state.look { $0.seen }
        let second: Int64 = 1_000_000_000
        let answer = try api.ask(
            "CONSUMER.CREATE.\(stream)",
            [
                "stream_name": .string(stream),
                "config": [
                    "deliver_policy": .string("by_start_sequence"),
                    "opt_start_seq": .integer(seen + 1), "ack_policy": .string("none"),
                    "replay_policy": .string("instant"), "mem_storage": .bool(true),
                    "num_replicas": .integer(1), "inactive_threshold": .integer(30 * second),
                ],
            ])
        guard case .value(let value) = answer, let name = value["name"]?.filledText else {
            throw StoreError(.unavailable, "JetStream gives no consumer.")
        }
        // What is gone will not come. Nothing else counts as read before it came: a leader that was
        // just chosen may not know yet of what is there.
        heard(through: first - 1)
        return name
    }

    private func heard(through sequence: Int64?) {
        let now = steady()
        state.change { state in
            state.heardAt = now
            if let sequence { state.seen = max(state.seen, sequence) }
        }
    }

    /// Asks for more until the consumer is gone, or a message was lost on its way.
    private func follow(_ consumer: String) throws(StoreError) {
        let inbox = api.connection.newInbox()
        let subscription = try api.connection.subscribe(inbox)
        let question =
            ([
                "batch": .integer(Self.batch), "max_bytes": .integer(Self.byteLimit),
                "expires": .integer(Self.waitMilliseconds * 1_000_000),
            ] as JSONValue).encoded
        var expected: Int64 = 1
        while !isEnding {
            try api.connection.send(
                "$JS.API.CONSUMER.MSG.NEXT.\(stream).\(consumer)", question, replyTo: inbox)
            var count: Int64 = 0
            while count < Self.batch {
                guard let message = subscription.next(milliseconds: Self.lostMilliseconds) else {
                    return
                }
                if let status = message.status {
                    // 100 is a sign of life within; all others end the question.
                    heard(through: nil)
                    if status == "100" { continue }
                    if source == .leader { try read(through: 0) }
                    answered()
                    break
                }
                guard let place = Place(message.reply), place.delivered == expected else { return }
                expected += 1
                count += 1
                guard source == .teller else {
                    try read(through: place.sequence)
                    continue
                }
                take(
                    Message(
                        subject: message.subject, sequence: place.sequence, time: place.time,
                        data: message.data, hasMore: place.pending > 0))
                heard(through: place.sequence)
            }
        }
    }

    /// Takes what the leader has, at least up to a number that somebody told of.
    private func read(through told: Int64) throws(StoreError) {
        var attempt = 0
        while !isEnding, case let seen = seen, seen < told || told == 0 {
            guard let kept = try api.first(of: ">", from: seen + 1, in: stream) else {
                // The leader has it a moment later than whoever told, or never: that one led, and was cut off.
                attempt += 1
                guard told > 0, attempt < Self.leaderAttempts else { return }
                WorkThread.pause(milliseconds: 5)
                continue
            }
            take(
                Message(
                    subject: kept.subject, sequence: kept.sequence, time: 0, data: kept.data,
                    hasMore: kept.sequence < told))
            heard(through: kept.sequence)
        }
    }

    /// What a consumer says of a message, in the subject for answers:
    /// `$JS.ACK.STREAM.CONSUMER.TRIES.NUMBER.DELIVERED.TIME.PENDING`, or with a domain and an account
    /// before the stream, and more behind.
    private struct Place {
        let sequence: Int64
        let delivered: Int64
        let time: Int64
        let pending: Int64

        init?(_ reply: String) {
            let tokens = reply.split(separator: ".", omittingEmptySubsequences: false)
            guard tokens.count >= 9, tokens[0] == "$JS", tokens[1] == "ACK" else { return nil }
            let start = tokens.count == 9 ? 5 : 7
            guard tokens.count > start + 3, let sequence = Int64(tokens[start]),
                let delivered = Int64(tokens[start + 1]), let time = Int64(tokens[start + 2]),
                let pending = Int64(tokens[start + 3]), sequence > 0
            else { return nil }
            (self.sequence, self.delivered) = (sequence, delivered)
            (self.time, self.pending) = (time / 1_000_000, pending)
        }
    }
}
