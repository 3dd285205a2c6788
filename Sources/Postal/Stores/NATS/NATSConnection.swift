internal import CLinux
internal import CNATS
internal import Glibc
internal import Sealing
internal import Synchronization
internal import SystemFiles
internal import Threads

/// A message as it came.
struct NATSMessage: Sendable {
    var subject: String
    var reply: String
    var data: [UInt8]
    /// The three digits of a status that came instead of a message, such as `404`.
    var status: String?
}

/// A message to a stream.
struct NATSPublication: Sendable {
    var subject: String
    var data: [UInt8]
    /// The same for a message that is sent again, which the stream then leaves out. Every message has one:
    /// a server that comes back may take the end of its log twice, and knows by it what it has.
    var messageID: String
    /// The number of the subject's last message; another one makes the stream refuse. 0 for "none yet".
    var expected: Int64?
    /// Whether another message with the same identifier is one that came between.
    var isOnlyOne = false

    init(_ subject: String, _ data: [UInt8], messageID: String? = nil, expected: Int64? = nil) {
        (self.subject, self.data, self.expected) = (subject, data, expected)
        self.messageID = messageID ?? Hexadecimal.text(of: Random.bytes(16))
    }

    /// A message of which there can be only one behind the subject's last one. `expected` alone does not
    /// do: servers before 2.9.21 look at it before they agree on the order, so two that come at the same
    /// moment are both taken. What they have the same identifier of they look at afterwards too.
    init(_ subject: String, _ data: [UInt8], onlyOneBehind expected: Int64) {
        self.init(subject, data, messageID: "\(subject)@\(expected)", expected: expected)
        isOnlyOne = true
    }
}

/// The connection to one of several servers, which finds another one by itself when that is gone.
///
/// Any thread may use it. What is asked for while no server is there fails at once.
@safe
final class NATSConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let notice: Notice
    private let counter = Atomic<Int>(0)
    /// Answers that come together need a place of their own.
    private let inbox: String

    /// Told when another server, or the same one, is there again.
    private final class Notice: Sendable {
        let observer = Monitor<(@Sendable () -> Void)?>(nil)
    }

    /// Connects to one of the servers.
    init(_ settings: NATSSettings) throws(StoreError) {
        var made: OpaquePointer?
        guard unsafe natsOptions_Create(&made) == NATS_OK, let options = unsafe made else {
            throw StoreError(.unavailable, "There is no memory for a connection to NATS.")
        }
        defer { unsafe natsOptions_Destroy(options) }
        notice = Notice()
        try unsafe Self.configure(options, settings)
        let context = unsafe Unmanaged.passUnretained(notice).toOpaque()
        unsafe natsOptions_SetReconnectedCB(options, connectionIsBack, context)
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
            throw StoreError(.unavailable, "There is no memory for a connection to NATS.")
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
        // For ever: a relay waits for its store, and says 503 meanwhile.
        unsafe natsOptions_SetMaxReconnect(options, -1)
        unsafe natsOptions_SetReconnectWait(options, 100)
        unsafe natsOptions_SetReconnectJitter(options, 100, 200)
        // A server that stopped without a word is given up after some seconds.
        unsafe natsOptions_SetPingInterval(options, 2_000)
        unsafe natsOptions_SetMaxPingsOut(options, 2)
        unsafe natsOptions_SetFailRequestsOnDisconnect(options, true)
        // What cannot be sent now is not sent later behind the back of whoever was told so.
        unsafe natsOptions_SetReconnectBufSize(options, 1)
        guard status == NATS_OK else {
            throw StoreError(.unavailable, "The servers' addresses are none of NATS.")
        }
    }

    static func failure(_ status: natsStatus) -> StoreError {
        switch status {
        case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
            StoreError(.unavailable, "NATS refuses this user.")
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_REQUIRED, NATS_SECURE_CONNECTION_WANTED:
            StoreError(.unavailable, "There is no TLS connection to NATS that can be trusted.")
        default: StoreError(.unavailable, "NATS does not answer.")
        }
    }

    /// Whether a server is there now.
    var isConnected: Bool {
        unsafe natsConnection_Status(handle) == NATS_CONN_STATUS_CONNECTED
    }

    /// Calls `observer` whenever the connection was lost and is back.
    func observeReturn(_ observer: (@Sendable () -> Void)?) {
        notice.observer.look { $0 = observer }
    }

    /// Ends it. Whoever waits for an answer gets none.
    func close() {
        observeReturn(nil)
        unsafe natsConnection_Close(handle)
    }

    /// Sends something to whoever listens now.
    func tell(_ subject: String, _ text: String) {
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe natsConnection_Publish(
                handle, subject, bytes.baseAddress, Int32(bytes.count))
        }
    }

    /// Asks one question and waits for the answer.
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

    /// Listens to a subject.
    func subscribe(_ subject: String) throws(StoreError) -> NATSSubscription {
        var subscription: OpaquePointer?
        let status = unsafe natsConnection_SubscribeSync(&subscription, handle, subject)
        guard status == NATS_OK, let subscription = unsafe subscription else {
            throw Self.failure(status)
        }
        return unsafe NATSSubscription(subscription)
    }

    /// Asks a question whose answers come to a subscription.
    func send(_ subject: String, _ data: [UInt8], replyTo reply: String) throws(StoreError) {
        let status = unsafe data.withUnsafeBytes { bytes in
            unsafe natsConnection_PublishRequest(
                handle, subject, reply, bytes.baseAddress, Int32(bytes.count))
        }
        guard status == NATS_OK else { throw Self.failure(status) }
    }

    /// A place for answers that nobody else has.
    func newInbox() -> String {
        "\(inbox).\(counter.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Sends messages to their streams one behind the other, and waits for all answers together.
    ///
    /// - Returns: One answer for each, in order; nil where none came in time.
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
        let end = Self.now() + milliseconds
        while due > 0, case let left = end - Self.now(), left > 0,
            let answer = subscription.next(milliseconds: left)
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

    private static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Called by a thread of the library's.
    fileprivate static func isBack(_ context: UnsafeMutableRawPointer?) {
        guard let context = unsafe context else { return }
        let notice = unsafe Unmanaged<Notice>.fromOpaque(context).takeUnretainedValue()
        notice.observer.look { $0 }?()
    }
}

private func connectionIsBack(_ connection: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    unsafe NATSConnection.isBack(context)
}

/// Messages of one subject that wait to be taken; ends with the object.
@safe
final class NATSSubscription: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit {
        unsafe natsSubscription_Destroy(handle)
    }

    /// The next message; nil where none came in time, or the connection was closed.
    func next(milliseconds: Int64) -> NATSMessage? {
        var message: OpaquePointer?
        let status = unsafe natsSubscription_NextMsg(&message, handle, milliseconds)
        guard status == NATS_OK, let message = unsafe message else { return nil }
        defer { unsafe natsMsg_Destroy(message) }
        return unsafe NATSConnection.message(message)
    }
}
