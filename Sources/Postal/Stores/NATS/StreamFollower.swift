internal import JSON
internal import Threads

/// Reads a stream from a number on, in order and without gaps, on its own thread, across lost
/// connections, lost servers and new leaders.
///
/// Any server may announce new messages, and it may have other ones under the same numbers
/// (``NATSStreams/warning()``). Where it matters, messages are then read from the leader.
final class StreamFollower: Sendable {
    struct Message: Sendable {
        let subject: String
        let sequence: Int64
        /// When the stream received it, in milliseconds since 1970; 0 if unknown.
        let time: Int64
        let data: [UInt8]
        /// Whether more were already available.
        let hasMore: Bool
    }

    /// Where messages are read.
    enum Source: Sendable {
        /// From the announcing server, with their times.
        case teller
        /// From the leader.
        case leader
    }

    private struct State {
        /// Everything up to this number was read.
        var seen: Int64
        var heardAt: Int64 = 0
        var isEnding = false
    }

    private static let batch: Int64 = 256
    /// More than the largest message, but small enough for memory.
    private static let byteLimit: Int64 = 4 << 20
    private static let waitMilliseconds: Int64 = 1_000
    /// A request without a response for so long is lost.
    private static let lostMilliseconds: Int64 = 1_800
    /// How often a message announced by another server is requested from the leader.
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
    ///   - source: Where messages are read. Reading from the leader takes a request per
    ///     message, so a long stream takes long.
    ///   - resumed: Called after a restart.
    ///   - answered: Called about once a second while the stream responds.
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
            throw StoreError(.unavailable, "Cannot start a thread.")
        }
        thread.look { $0 = made }
    }

    /// Ends it soon, or at once if the connection is closed afterwards.
    func end() { state.change { $0.isEnding = true } }

    /// Waits for its end.
    func close() {
        end()
        thread.look { $0.take() }?.join()
    }

    /// Waits until everything up to a number was read; returns false on a timeout.
    func wait(for sequence: Int64, milliseconds: Int64) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.seen >= sequence ? true : nil } ?? false
    }

    /// The number up to which everything was read.
    var seen: Int64 { state.look { $0.seen } }

    /// Time since the last response, in milliseconds.
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
        guard case .value(let value) = answer, let name = value["name"]?.nonEmptyString else {
            throw StoreError(.unavailable, "JetStream did not create a consumer.")
        }
        // Deleted messages do not arrive. Only this counts as read without a message, since a new
        // leader may not know all messages yet.
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

    /// Requests messages until the consumer is gone or a message is lost.
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
                    // 100 is a keep-alive; all others end the request.
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

    /// Reads the leader's messages at least up to the announced number.
    private func read(through told: Int64) throws(StoreError) {
        var attempt = 0
        while !isEnding, case let seen = seen, seen < told || told == 0 {
            guard let kept = try api.first(of: ">", from: seen + 1, in: stream) else {
                // The leader has it a moment after the announcing server, or never, if that one led
                // and was cut off.
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

    /// A message's metadata in its reply subject,
    /// `$JS.ACK.STREAM.CONSUMER.TRIES.NUMBER.DELIVERED.TIME.PENDING`, or with a domain and an
    /// account before the stream and more tokens at the end.
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
