internal import JSON
internal import Sealing

/// Requests to JetStream: streams, messages by number or subject, and new messages. Each response
/// is checked against its request.
struct JetStream: Sendable {
    let connection: NATSConnection
    let patience: Int64

    /// Error codes of the server.
    enum Code {
        static let streamMissing: Int64 = 10_059
        static let messageMissing: Int64 = 10_037
        /// Another message of the subject came between, or is in flight (2.11 and newer).
        static let otherLast: Set<Int64> = [10_071, 10_164]
        /// A message with the same identifier is in flight.
        static let sameOnItsWay: Int64 = 10_158
        /// There are fewer servers than replicas, or not enough space.
        static let tooFewServers: Set<Int64> = [10_005, 10_023, 10_074]
    }

    /// The server's response.
    enum Answer {
        case value(JSONValue)
        case refused(code: Int64)
    }

    /// The result of publishing a message.
    enum Outcome: Equatable {
        case kept(Int64)
        case duplicate(Int64)
        /// Another message came between.
        case otherLast
        case failed(StoreError)
    }

    static let unclear = StoreError(.damaged, "NATS sent a malformed response.")

    static func refusal(_ code: Int64) -> StoreError {
        code == Code.streamMissing
            ? StoreError(.unavailable, "The streams of this store do not exist.")
            : StoreError(.unavailable, "JetStream rejected the request (code \(code)).")
    }

    /// Sends a request to the JetStream API.
    func ask(_ subject: String, _ value: JSONValue? = nil) throws(StoreError) -> Answer {
        let message = try connection.request(
            "$JS.API.\(subject)", value?.encoded ?? [], milliseconds: patience)
        // No responders: JetStream has no leader now.
        guard message.status == nil else {
            throw StoreError(.unavailable, "JetStream is not responding.")
        }
        guard let answer = try? JSONValue(parsing: message.data) else { throw Self.unclear }
        if let error = answer["error"] {
            guard case .integer(let code)? = error["err_code"] else { throw Self.unclear }
            return .refused(code: code)
        }
        return .value(answer)
    }

    /// Sends a request that the server should not refuse.
    func value(_ subject: String, _ question: JSONValue? = nil) throws(StoreError) -> JSONValue {
        switch try ask(subject, question) {
        case .refused(let code): throw Self.refusal(code)
        case .value(let answer): return answer
        }
    }

    /// The API level of the servers: 1 since 2.11, 0 before.
    func level() throws(StoreError) -> Int64 { Self.level(try value("INFO")) }

    static func level(_ answer: JSONValue) -> Int64 {
        if case .integer(let level)? = answer["api"]?["level"] { level } else { 0 }
    }

    /// The last number of a stream, according to its leader.
    func lastSequence(of stream: String) throws(StoreError) -> Int64 {
        try state("last_seq", of: stream)
    }

    /// The number of the oldest stored message, or of the next one.
    func firstSequence(of stream: String) throws(StoreError) -> Int64 {
        try state("first_seq", of: stream)
    }

    private func state(_ name: String, of stream: String) throws(StoreError) -> Int64 {
        let answer = try value("STREAM.INFO.\(stream)")
        guard case .integer(let number)? = answer["state"]?[name], number >= 0 else {
            throw Self.unclear
        }
        return number
    }

    /// A message stored by the stream's leader. No other server is asked: one may lag, and a former
    /// leader that was cut off may have another message under a number (``NATSStreams/warning()``).
    struct Kept: Equatable {
        var subject: String
        var sequence: Int64
        var data: [UInt8]
        /// Its identifier when it was sent.
        var messageID: String?
    }

    /// Returns the last message of a subject.
    func last(of subject: String, in stream: String) throws(StoreError) -> Kept? {
        try get(["last_by_subj": .string(subject)], in: stream)
    }

    /// Returns the first message of a subject from a number on.
    func first(
        of subject: String, from sequence: Int64, in stream: String
    ) throws(StoreError) -> Kept? {
        try get(["seq": .integer(sequence), "next_by_subj": .string(subject)], in: stream)
    }

    /// Returns the message with a number.
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
            guard let message = answer["message"], let subject = message["subject"]?.nonEmptyString,
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

    /// Decodes base64 with padding; an absent value is empty.
    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        let letters = (value?.nonEmptyString ?? "").utf8.filter { $0 != UInt8(ascii: "=") }
        return TableBase64.decoded(letters[...])
    }

    /// Sends messages to a stream and waits until they are stored.
    func publish(_ messages: [NATSPublication]) -> [Outcome] {
        let answers = connection.publish(messages, milliseconds: patience)
        return zip(messages, answers).map { message, answer in
            guard let answer, answer.status == nil,
                let value = try? JSONValue(parsing: answer.data)
            else { return .failed(StoreError(.unavailable, "JetStream is not responding.")) }
            if let error = value["error"] {
                guard case .integer(let code)? = error["err_code"] else {
                    return .failed(Self.unclear)
                }
                let isOther =
                    Code.otherLast.contains(code)
                    || message.isOnlyOne && code == Code.sameOnItsWay
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
