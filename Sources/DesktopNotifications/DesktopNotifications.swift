internal import CNotifications

/// A connection to the desktop's notification server, opened when needed and reopened after the bus
/// or the server went away. Calls block. Not thread-safe.
@safe package final class DesktopNotifications {
    /// What a notification server supports.
    package struct Capabilities: Equatable, Sendable {
        package let actions: Bool
        /// Whether it shows the body.
        package let body: Bool
        /// Whether it interprets markup in the body.
        package let markup: Bool
    }

    /// An action that the user chose on a message.
    package struct Choice: Equatable, Sendable {
        /// The subject of the message.
        package let subject: String
        package let action: String
    }

    /// How many shown messages are remembered; older ones can no longer be replaced.
    package static let knownLimit = 200

    private let address: String
    private let limitMilliseconds: UInt32
    private var connection: OpaquePointer?
    private var known: [(subject: String, identifier: UInt32)] = []
    private var capabilities: Capabilities?

    /// - Parameters:
    ///   - address: The D-Bus address.
    ///   - limit: The timeout of one call.
    package init(address: String, limit: Duration = .seconds(5)) {
        self.address = address
        limitMilliseconds = UInt32(clamping: limit.components.seconds * 1_000)
    }

    deinit { disconnect() }

    /// Shows a message, replacing an earlier one with the same subject.
    package func show(_ message: DesktopMessage) throws(DesktopNotificationError) {
        do throws(DesktopNotificationError) {
            try showOnce(message)
        } catch {
            // The bus or server may have restarted since the last message.
            guard error.code == .disconnected || error.code == .noServer else { throw error }
            disconnect()
            try showOnce(message)
        }
    }

    /// Returns what the server supports, asking each server once.
    package func serverCapabilities() throws(DesktopNotificationError) -> Capabilities {
        if let capabilities { return capabilities }
        let connection = try unsafe connected()
        var bits: UInt32 = 0
        try check(unsafe zg_notify_capabilities(connection, limitMilliseconds, &bits))
        func has(_ bit: Int) -> Bool { bits & UInt32(bit) != 0 }
        let found = Capabilities(
            actions: has(ZG_NOTIFY_CAN_ACTIONS), body: has(ZG_NOTIFY_CAN_BODY),
            markup: has(ZG_NOTIFY_CAN_MARKUP))
        capabilities = found
        return found
    }

    /// Returns the server's name and version. Untrusted text.
    package func serverName() throws(DesktopNotificationError) -> String {
        let connection = try unsafe connected()
        var name = [CChar](repeating: 0, count: 200)
        try check(
            unsafe zg_notify_server_name(connection, limitMilliseconds, &name, name.count))
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Waits for a chosen action for at most `duration`; nil if there was none. Also returns early
    /// if the bus disconnects.
    package func wait(_ duration: Duration) -> Choice? {
        guard let connection = unsafe connection else { return nil }
        let (seconds, attoseconds) = duration.components
        let milliseconds = max(seconds * 1_000 + attoseconds / 1_000_000_000_000_000, 0)
        let event = unsafe zg_notify_wait(connection, UInt32(clamping: milliseconds))
        switch event.kind {
        case ZG_NOTIFY_ACTION:
            guard let entry = known.first(where: { $0.identifier == event.identifier }) else {
                return nil
            }
            let action = unsafe withUnsafeBytes(of: event.action) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            return Choice(subject: entry.subject, action: action)
        case ZG_NOTIFY_CLOSED:
            known.removeAll { $0.identifier == event.identifier }
        case ZG_NOTIFY_SERVER_CHANGED:
            // A new server has its own message numbers and capabilities.
            known = []
            capabilities = nil
        case ZG_NOTIFY_BUS_GONE: disconnect()
        default: break
        }
        return nil
    }

    package var isConnected: Bool { unsafe connection != nil }

    // MARK: Sending

    private func showOnce(_ message: DesktopMessage) throws(DesktopNotificationError) {
        // Handles server changes first: the known message numbers may be those of another server.
        drain()
        let able = try serverCapabilities()
        let connection = try unsafe connected()
        let actions = able.actions ? message.actions : []
        let replaced = known.first { $0.subject == message.subject }?.identifier ?? 0
        var identifier: UInt32 = 0
        let texts = Texts(
            [
                SafeText.line(message.title),
                SafeText.body(message.body, escapingMarkup: able.markup),
                message.category, message.group.map(SafeText.line) ?? "",
                SafeText.line("zg-env \(message.subject)"),
            ] + actions.flatMap { [$0.name, SafeText.line($0.label)] })
        let status = unsafe texts.withPointers { pointers -> zg_notify_status in
            var list = unsafe Array(pointers[5...])
            unsafe list.append(nil)
            guard let title = unsafe pointers[0], let body = unsafe pointers[1],
                let category = unsafe pointers[2], let tag = unsafe pointers[4]
            else { return ZG_NOTIFY_FAILED }
            return unsafe list.withUnsafeBufferPointer { list in
                guard let first = list.baseAddress else { return ZG_NOTIFY_FAILED }
                var raw = unsafe zg_notify_message(
                    replaces: replaced, title: title, body: body,
                    urgency: message.urgency.rawValue, category: category,
                    group: message.group == nil ? nil : pointers[3], tag: tag, actions: first)
                return unsafe zg_notify_send(connection, limitMilliseconds, &raw, &identifier)
            }
        }
        try check(status)
        known.removeAll { $0.subject == message.subject || $0.identifier == identifier }
        known.append((message.subject, identifier))
        if known.count > Self.knownLimit { known.removeFirst(known.count - Self.knownLimit) }
    }

    /// Forgets message numbers and capabilities if the server changed. Actions stay queued for
    /// ``wait(_:)``.
    private func drain() {
        guard let connection = unsafe connection, unsafe zg_notify_server_changed(connection) else {
            return
        }
        known = []
        capabilities = nil
    }

    private func connected() throws(DesktopNotificationError) -> OpaquePointer {
        if let connection = unsafe connection { return unsafe connection }
        var opened: OpaquePointer?
        try check(unsafe zg_notify_open(address, limitMilliseconds, &opened))
        guard let opened = unsafe opened else { throw DesktopNotificationError(.noBus) }
        unsafe connection = opened
        return unsafe opened
    }

    private func disconnect() {
        if let connection = unsafe connection { unsafe zg_notify_close(connection) }
        unsafe connection = nil
        known = []
        capabilities = nil
    }

    private func check(_ status: zg_notify_status) throws(DesktopNotificationError) {
        guard let error = DesktopNotificationError(status) else { return }
        throw error
    }
}

/// Strings as C pointers for the duration of one call.
private struct Texts {
    private let bytes: [[CChar]]

    init(_ texts: [String]) { bytes = texts.map { Array($0.utf8CString) } }

    func withPointers<R>(_ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        unsafe next([], bytes[...], body)
    }

    private func next<R>(
        _ pointers: [UnsafePointer<CChar>?], _ rest: ArraySlice<[CChar]>,
        _ body: ([UnsafePointer<CChar>?]) -> R
    ) -> R {
        guard let first = rest.first else { return unsafe body(pointers) }
        return unsafe first.withUnsafeBufferPointer { buffer in
            unsafe next(pointers + [buffer.baseAddress], rest.dropFirst(), body)
        }
    }
}
