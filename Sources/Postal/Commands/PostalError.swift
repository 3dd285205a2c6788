internal import CommandLineKit
internal import JSON

/// The exit codes that this program uses; see `docs/exit-codes.md`.
package enum PostalExit: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case notFound = 4
    case conflict = 5
    case unavailable = 7
    case damaged = 8

    /// The value of `error.code` with `--json`.
    var name: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "usage"
        case .notFound: "not_found"
        case .conflict: "conflict"
        case .unavailable: "unavailable"
        case .damaged: "damaged"
        }
    }
}

/// A failed command, with a hint for the next step.
struct PostalError: Error, Equatable {
    var exit: PostalExit
    /// One or two sentences without values.
    var message: String
    var hint: String?

    init(_ exit: PostalExit, _ message: String, hint: String? = nil) {
        (self.exit, self.message, self.hint) = (exit, message, hint)
    }

    init(mapping error: any Error) {
        switch error {
        case let error as PostalError: self = error
        case let error as UsageError: self.init(.usage, error.message, hint: error.hint)
        case let error as StoreError:
            switch error.code {
            case .unavailable: self.init(.unavailable, error.reason, hint: "Try again.")
            case .missing:
                self.init(
                    .notFound, error.reason,
                    hint: "Create the database with: zg-env-postal serve --database FILE")
            case .inUse: self.init(.conflict, error.reason, hint: "Stop that relay first.")
            case .damaged: self.init(.damaged, error.reason)
            case .insecure:
                self.init(.failed, error.reason, hint: "Remove other users' access (chmod 600).")
            case .newerFormat:
                self.init(.failed, error.reason, hint: "Install that version or a later one.")
            }
        case is OutputError: self.init(.failed, "Cannot write the output.")
        default: self.init(.failed, "Unexpected error: \(type(of: error)).")
        }
    }
}
