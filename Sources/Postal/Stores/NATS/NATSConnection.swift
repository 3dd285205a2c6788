internal import CLinux
internal import CNATS
internal import Glibc
internal import Sealing
internal import Synchronization
internal import SystemFiles

/// A received message.
struct NATSMessage: Sendable {
    var subject: String
    var reply: String
    var data: [UInt8]
    /// The three-digit status sent in place of a message, such as `404`.
    var status: String?
}

/// A message to a stream.
struct NATSPublication: Sendable {
    var subject: String
    var data: [UInt8]
    /// Identifies a repeated message, which the stream then drops. Every message has one, because a
    /// returning server may replay the end of its log and recognizes messages by it.
    var messageID: String
    /// The number of the subject's last message, or 0 for none; the stream refuses the message
    /// otherwise.
    var expected: Int64?
    /// Whether another message with the same identifier may have come between.
    var isOnlyOne = false

    init(_ subject: String, _ data: [UInt8], messageID: String? = nil, expected: Int64? = nil) {
        (self.subject, self.data, self.expected) = (subject, data, expected)
        self.messageID = messageID ?? Hexadecimal.text(of: Random.bytes(16))
    }

    /// A message of which only one can follow the subject's last one. `expected` alone is not
    /// enough: servers before 2.9.21 check it before they agree on the order and accept two
    /// simultaneous messages. They check the shared identifier afterwards too.
    init(_ subject: String, _ data: [UInt8], onlyOneBehind expected: Int64) {
        self.init(subject, data, messageID: "\(subject)@\(expected)", expected: expected)
        isOnlyOne = true
    }
}

/// A connection to one of several servers, which reconnects to another one by itself.
///
/// Thread-safe. Requests without a server fail at once.
@safe
final class NATSConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let counter = Atomic<Int>(0)
    /// The reply subject for batched responses.
    private let inbox: String

    /// Connects to one of the servers.
    init(_ settings: NATSSettings) throws(StoreError) {
        var made: OpaquePointer?
        guard unsafe natsOptions_Create(&made) == NATS_OK, let options = unsafe made else {
            throw StoreError(.unavailable, "Not enough memory to connect to NATS.")
        }
        defer { unsafe natsOptions_Destroy(options) }
        try unsafe Self.configure(options, settings)
        if let file = settings.credentialsFile {
            try unsafe NATSCredentials.apply(file, to: options)
        }
        var connection: OpaquePointer?
        let status = unsafe natsConnection_Connect(&connection, options)
        guard status == NATS_OK, let connection = unsafe connection else {
            throw Self.failure(status)
        }
        var name: UnsafeMutablePointer<CChar>?
        guard unsafe natsInbox_Create(&name) == NATS_OK, let name = unsafe name else {
            unsafe natsConnection_Destroy(connection)
            throw StoreError(.unavailable, "Not enough memory to connect to NATS.")
        }
        inbox = unsafe String(cString: name)
        unsafe natsInbox_Destroy(name)
        unsafe handle = connection
    }

    deinit {
        unsafe natsConnection_Destroy(handle)
    }

    private static func configure(
        _ options: OpaquePointer, _ settings: NATSSettings
    ) throws(StoreError) {
        let addresses = unsafe settings.servers.map { unsafe strdup($0) }
        defer { unsafe addresses.forEach { unsafe free($0) } }
        var pointers = unsafe addresses.map { unsafe UnsafePointer<CChar>($0) }
        var status = unsafe natsOptions_SetServers(options, &pointers, Int32(pointers.count))
        if settings.servers.contains(where: { $0.hasPrefix("tls://") }), status == NATS_OK {
            unsafe status = natsOptions_SetSecure(options, true)
        }
        unsafe natsOptions_SetName(options, "zg-env-postal")
        unsafe natsOptions_SetTimeout(options, 2_000)
        // Forever: a relay waits for its store and responds with 503 meanwhile.
        unsafe natsOptions_SetMaxReconnect(options, -1)
        unsafe natsOptions_SetReconnectWait(options, 100)
        unsafe natsOptions_SetReconnectJitter(options, 100, 200)
        // Gives up a silent server after a few seconds.
        unsafe natsOptions_SetPingInterval(options, 2_000)
        unsafe natsOptions_SetMaxPingsOut(options, 2)
        unsafe natsOptions_SetFailRequestsOnDisconnect(options, true)
        // No buffering: a request that was reported as failed must not be sent later.
        unsafe natsOptions_SetReconnectBufSize(options, 1)
        guard status == NATS_OK else {
            throw StoreError(.unavailable, "The NATS server URLs are invalid.")
        }
    }

    static func failure(_ status: natsStatus) -> StoreError {
        switch status {
        case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
            StoreError(.unavailable, "NATS rejected the credentials.")
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED, NATS_SECURE_CONNECTION_WANTED:
            StoreError(.unavailable, "Cannot verify the TLS connection to NATS.")
        default: StoreError(.unavailable, "NATS is not responding.")
        }
    }

    /// Whether a server is connected.
    var isConnected: Bool {
        unsafe natsConnection_Status(handle) == NATS_CONN_STATUS_CONNECTED
    }

    /// Closes it. Pending requests get no response.
    func close() { unsafe natsConnection_Close(handle) }

    /// Publishes a text to current subscribers.
    func tell(_ subject: String, _ text: String) {
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe natsConnection_Publish(
                handle, subject, bytes.baseAddress, Int32(bytes.count))
        }
    }

    /// Sends a request and waits for the response.
    func request(
        _ subject: String, _ data: [UInt8], milliseconds: Int64
    ) throws(StoreError) -> NATSMessage {
        guard isConnected else { throw Self.failure(NATS_CONNECTION_DISCONNECTED) }
        var answer: OpaquePointer?
        let status = unsafe data.withUnsafeBytes { bytes in
            unsafe natsConnection_Request(
                &answer, handle, subject, bytes.baseAddress, Int32(bytes.count), milliseconds)
        }
        guard status == NATS_OK, let answer = unsafe answer else { throw Self.failure(status) }
        defer { unsafe natsMsg_Destroy(answer) }
        return unsafe Self.message(answer)
    }

    /// Subscribes to a subject.
    func subscribe(_ subject: String) throws(StoreError) -> NATSSubscription {
        var subscription: OpaquePointer?
        let status = unsafe natsConnection_SubscribeSync(&subscription, handle, subject)
        guard status == NATS_OK, let subscription = unsafe subscription else {
            throw Self.failure(status)
        }
        return unsafe NATSSubscription(subscription)
    }

    /// Sends a request whose responses go to a subscription.
    func send(_ subject: String, _ data: [UInt8], replyTo reply: String) throws(StoreError) {
        let status = unsafe data.withUnsafeBytes { bytes in
            unsafe natsConnection_PublishRequest(
                handle, subject, reply, bytes.baseAddress, Int32(bytes.count))
        }
        guard status == NATS_OK else { throw Self.failure(status) }
    }

    /// Returns a unique reply subject.
    func newInbox() -> String {
        "\(inbox).\(counter.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Sends messages to their streams in order, and waits for all responses together.
    ///
    /// - Returns: One response for each, in order; nil after a timeout.
    func publish(_ messages: [NATSPublication], milliseconds: Int64) -> [NATSMessage?] {
        var answers = [NATSMessage?](repeating: nil, count: messages.count)
        guard isConnected, !messages.isEmpty else { return answers }
        let place = newInbox()
        guard let subscription = try? subscribe("\(place).*") else { return answers }
        var due = 0
        for (number, message) in messages.enumerated() {
            guard send(message, replyTo: "\(place).\(number)") == NATS_OK else { break }
            due += 1
        }
        let end = PostalContext.milliseconds(CLOCK_MONOTONIC) + milliseconds
        while due > 0, case let left = end - PostalContext.milliseconds(CLOCK_MONOTONIC),
            left > 0, let answer = subscription.next(milliseconds: left)
        {
            guard let number = Int(NATSNames.last(of: answer.subject)),
                answers.indices.contains(number), answers[number] == nil
            else { continue }
            answers[number] = answer
            due -= 1
        }
        return answers
    }

    private func send(_ message: NATSPublication, replyTo reply: String) -> natsStatus {
        var made: OpaquePointer?
        var status = unsafe message.data.withUnsafeBytes { bytes in
            unsafe zg_nats_message(
                &made, message.subject, reply, bytes.baseAddress, Int32(bytes.count))
        }
        guard status == NATS_OK, let made = unsafe made else { return status }
        defer { unsafe natsMsg_Destroy(made) }
        unsafe status = natsMsgHeader_Set(made, "Nats-Msg-Id", message.messageID)
        if let expected = message.expected, status == NATS_OK {
            unsafe status = natsMsgHeader_Set(
                made, "Nats-Expected-Last-Subject-Sequence", "\(expected)")
        }
        guard status == NATS_OK else { return status }
        return unsafe natsConnection_PublishMsg(handle, made)
    }

    static func message(_ handle: OpaquePointer) -> NATSMessage {
        let count = unsafe Int(natsMsg_GetDataLength(handle))
        let data = unsafe natsMsg_GetData(handle).map { data in
            unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: count))
        }
        func text(_ pointer: UnsafePointer<CChar>?) -> String {
            unsafe pointer.map { unsafe String(cString: $0) } ?? ""
        }
        func header(_ name: String) -> String? {
            var value: UnsafePointer<CChar>?
            guard unsafe natsMsgHeader_Get(handle, name, &value) == NATS_OK else { return nil }
            return unsafe text(value)
        }
        return unsafe NATSMessage(
            subject: text(natsMsg_GetSubject(handle)), reply: text(natsMsg_GetReply(handle)),
            data: data ?? [], status: header("Status"))
    }
}

/// Queued messages of one subject; unsubscribes at deinit.
@safe
final class NATSSubscription: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit {
        unsafe natsSubscription_Destroy(handle)
    }

    /// Returns the next message, or nil after a timeout or once the connection is closed.
    func next(milliseconds: Int64) -> NATSMessage? {
        var message: OpaquePointer?
        let status = unsafe natsSubscription_NextMsg(&message, handle, milliseconds)
        guard status == NATS_OK, let message = unsafe message else { return nil }
        defer { unsafe natsMsg_Destroy(message) }
        return unsafe NATSConnection.message(message)
    }
}
