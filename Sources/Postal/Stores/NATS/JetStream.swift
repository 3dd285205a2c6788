internal import JSON
internal import Sealing

/// What is asked of JetStream: streams, their messages by number or subject, and new messages. Each
/// answer is held against what was asked.
struct JetStream: Sendable {
    let connection: NATSConnection
    let patience: Int64

    /// Codes of the server's that mean something here.
    enum Code {
        static let streamMissing: Int64 = 10_059
        static let messageMissing: Int64 = 10_037
        static let otherLast: Int64 = 10_071
        /// One with the same identifier is on its way.
        static let sameOnItsWay: Int64 = 10_158
        /// There are not as many servers as copies were asked for, or not as much room.
        static let tooFewServers: Set<Int64> = [10_005, 10_023, 10_074]
    }

    /// What a server says no with.
    enum Answer {
        case value(JSONValue)
        case refused(code: Int64)
    }

    /// What became of a message that was sent to a stream.
    enum Outcome: Equatable {
        case kept(Int64)
        case duplicate(Int64)
        /// Another message came between.
        case otherLast
        case failed(StoreError)
    }

    static let unclear = StoreError(.damaged, "NATS gave an answer that has another form.")

    static func refusal(_ code: Int64) -> StoreError {
        code == Code.streamMissing
            ? StoreError(.unavailable, "The streams of this store are gone.")
            : StoreError(.unavailable, "JetStream refuses (code \(code)).")
    }

    /// Asks the interface of JetStream.
    func ask(_ subject: String, _ value: JSONValue? = nil) throws(StoreError) -> Answer {
        let message = try connection.request(
            "$JS.API.\(subject)", value?.encoded ?? [], milliseconds: patience)
        // Nobody answers for JetStream: it has no leader now.
        guard message.status == nil else {
            throw StoreError(.unavailable, "JetStream does not answer.")
        }
        guard let answer = try? JSONValue(parsing: message.data) else { throw Self.unclear }
        if let error = answer["error"] {
            guard case .integer(let code)? = error["err_code"] else { throw Self.unclear }
            return .refused(code: code)
        }
        return .value(answer)
    }

    /// What the servers' JetStream can: 1 since 2.11, 0 before.
    func level() throws(StoreError) -> Int64 {
        switch try ask("INFO") {
        case .refused(let code): throw Self.refusal(code)
        case .value(let answer): Self.level(answer)
        }
    }

    static func level(_ answer: JSONValue) -> Int64 {
        if case .integer(let level)? = answer["api"]?["level"] { level } else { 0 }
    }

    /// The last number that a stream gave, as its leader has it.
    func lastSequence(of stream: String) throws(StoreError) -> Int64 {
        try state("last_seq", of: stream)
    }

    /// The number of the oldest message that is still there, or that will come next.
    func firstSequence(of stream: String) throws(StoreError) -> Int64 {
        try state("first_seq", of: stream)
    }

    private func state(_ name: String, of stream: String) throws(StoreError) -> Int64 {
        switch try ask("STREAM.INFO.\(stream)") {
        case .refused(let code): throw Self.refusal(code)
        case .value(let answer):
            guard case .integer(let number)? = answer["state"]?[name], number >= 0 else {
                throw Self.unclear
            }
            return number
        }
    }

    /// A message as a stream's leader has it. No other server is asked: one may be behind, and one that led
    /// and was cut off may have something else under a number (``NATSStreams/warning()``).
    struct Kept: Equatable {
        var subject: String
        var sequence: Int64
        var data: [UInt8]
        /// What it was told apart from others by when it was sent.
        var messageID: String?
    }

    /// The last message of a subject; nil where there is none.
    func last(of subject: String, in stream: String) throws(StoreError) -> Kept? {
        try get(["last_by_subj": .string(subject)], in: stream)
    }

    /// The first message of a subject from a number on; nil where there is none.
    func first(
        of subject: String, from sequence: Int64, in stream: String
    ) throws(StoreError) -> Kept? {
        try get(["seq": .integer(sequence), "next_by_subj": .string(subject)], in: stream)
    }

    /// The message with a number; nil where there is none.
    func message(_ sequence: Int64, in stream: String) throws(StoreError) -> Kept? {
        guard let kept = try get(["seq": .integer(sequence)], in: stream) else { return nil }
        guard kept.sequence == sequence else { throw Self.unclear }
        return kept
    }

    private func get(_ question: JSONValue, in stream: String) throws(StoreError) -> Kept? {
        switch try ask("STREAM.MSG.GET.\(stream)", question) {
        case .refused(code: Code.messageMissing): return nil
        case .refused(let code): throw Self.refusal(code)
        case .value(let answer):
            guard let message = answer["message"], let subject = message["subject"]?.filledText,
                case .integer(let sequence)? = message["seq"], sequence > 0,
                let data = Self.bytes(message["data"]), let head = Self.bytes(message["hdrs"])
            else { throw Self.unclear }
            let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
            let name = "Nats-Msg-Id:"
            let messageID = lines.first { $0.hasPrefix(name) }?.dropFirst(name.count)
            return Kept(
                subject: subject, sequence: sequence, data: data,
                messageID: messageID.map { String($0.drop { $0 == " " }) })
        }
    }

    /// The bytes of base64 with its padding; none for what is missing.
    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        let letters = (value?.filledText ?? "").utf8.filter { $0 != UInt8(ascii: "=") }
        return TableBase64.decoded(letters[...])
    }

    /// Sends messages to a stream and waits until they are kept.
    func publish(_ messages: [NATSPublication]) -> [Outcome] {
        let answers = connection.publish(messages, milliseconds: patience)
        return zip(messages, answers).map { message, answer in
            guard let answer, answer.status == nil,
                let value = try? JSONValue(parsing: answer.data)
            else { return .failed(StoreError(.unavailable, "JetStream does not answer.")) }
            if let error = value["error"] {
                guard case .integer(let code)? = error["err_code"] else {
                    return .failed(Self.unclear)
                }
                let isOther =
                    code == Code.otherLast || message.isOnlyOne && code == Code.sameOnItsWay
                return isOther ? .otherLast : .failed(Self.refusal(code))
            }
            guard case .integer(let sequence)? = value["seq"], sequence > 0 else {
                return .failed(Self.unclear)
            }
            guard value["duplicate"] == .bool(true) else { return .kept(sequence) }
            return message.isOnlyOne ? .otherLast : .duplicate(sequence)
        }
    }

    func publish(_ message: NATSPublication) -> Outcome {
        publish([message]).first ?? .failed(Self.unclear)
    }
}
