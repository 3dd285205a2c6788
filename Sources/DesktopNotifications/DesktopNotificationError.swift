internal import CNotifications

/// Why a notification could not be shown.
package struct DesktopNotificationError: Error, Equatable, Sendable {
    package enum Code: String, Sendable {
        /// GIO is not installed.
        case libraryMissing
        case noBus
        /// No notification server is on the bus.
        case noServer
        case timedOut
        /// The connection to the bus was lost.
        case disconnected
        /// The server rejected the message.
        case failed
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }

    /// A description without capital and full stop.
    package var reason: String {
        switch code {
        case .libraryMissing: "GIO (libgio-2.0.so.0) is not installed"
        case .noBus: "there is no session bus, or it is not responding"
        case .noServer: "no notification server is running"
        case .timedOut: "the notification server is not responding"
        case .disconnected: "the session bus disconnected"
        case .failed: "the notification server rejected the message"
        }
    }

    init?(_ status: zg_notify_status) {
        switch status {
        case ZG_NOTIFY_DONE: return nil
        case ZG_NOTIFY_LIBRARY_MISSING: code = .libraryMissing
        case ZG_NOTIFY_NO_BUS: code = .noBus
        case ZG_NOTIFY_NO_SERVER: code = .noServer
        case ZG_NOTIFY_TIMED_OUT: code = .timedOut
        case ZG_NOTIFY_DISCONNECTED: code = .disconnected
        default: code = .failed
        }
    }
}
