internal import CNotifications

/// Why a message could not be shown.
package struct DesktopNotificationError: Error, Equatable, Sendable {
    /// The kind of failure.
    package enum Code: String, Sendable {
        /// GIO is not installed.
        case libraryMissing
        /// No session bus.
        case noBus
        /// Nobody on the bus shows notifications.
        case noServer
        /// No answer in time.
        case timedOut
        /// The bus went away.
        case disconnected
        /// The server refused it.
        case failed
    }

    /// The kind of failure.
    package let code: Code

    /// Names the kind.
    package init(_ code: Code) { self.code = code }

    /// What happened, without capital and full stop.
    package var reason: String {
        switch code {
        case .libraryMissing: "GIO (libgio-2.0.so.0) is not installed"
        case .noBus: "there is no session bus that answers"
        case .noServer: "nothing on the session bus shows notifications"
        case .timedOut: "the server of notifications does not answer"
        case .disconnected: "the session bus went away"
        case .failed: "the server of notifications refused the message"
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
