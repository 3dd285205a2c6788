internal import CommandLineKit
internal import JSON

/// The exit codes of the house's contract that this program uses (docs/exit-codes.md).
package enum PostalExit: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case notFound = 4
    case conflict = 5
    case unavailable = 7
    case damaged = 8

    /// The word that `error.code` holds with `--json`.
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

/// A command that did not do what it was asked to: what happened, to what, and what to do next.
struct PostalError: Error, Equatable {
    var exit: PostalExit
    /// One or two sentences without values.
    var message: String
    var hint: String?

    init(_ exit: PostalExit, _ message: String, hint: String? = nil) {
        (self.exit, self.message, self.hint) = (exit, message, hint)
    }

    /// Translates any error of the parts below.
    init(mapping error: any Error) {
        switch error {
        case let error as PostalError: self = error
        case let error as UsageError: self.init(.usage, error.message, hint: error.hint)
        case let error as StoreError:
            switch error.code {
            case .unavailable: self.init(.unavailable, error.reason, hint: "Try again.")
            case .missing:
                self.init(.notFound, error.reason, hint: "A relay makes one: zg-env-postal serve.")
            case .inUse: self.init(.conflict, error.reason, hint: "End that one first.")
            case .damaged: self.init(.damaged, error.reason, hint: "Nothing was changed.")
            case .insecure: self.init(.failed, error.reason, hint: "Take the others' rights away.")
            case .newerFormat:
                self.init(.failed, error.reason, hint: "Install that version or a later one.")
            }
        case is OutputError: self.init(.failed, "The output cannot be written.")
        default: self.init(.failed, "Something unexpected failed: \(type(of: error)).")
        }
    }
}
