internal import HTTPClient
package import Sealing
package import Vault
package import VercelAPI

/// The role of a platform: it lists, writes, deletes and reads the records of one project.
package protocol SyncPlatform {
    var traits: PlatformTraits { get }
    /// The time since a fixed moment; monotonic.
    var elapsed: Duration { get }
    /// How often a call has waited or was retried. A listing from before is stale.
    var pauseCount: Int { get }
    /// The time of the last response by the clock there, in milliseconds since 1970, rounded down
    /// to the second; 0 if unknown.
    var time: UInt64 { get }

    /// Lists the records, without values.
    func list() throws(PlatformError) -> ListedRecords

    /// Creates records. Throws only if nothing is known of the single ones.
    func create(_ new: [OutgoingRecord]) throws(PlatformError) -> WrittenRecords

    /// Changes a record, or several if `canChangeTogether` holds for each.
    ///
    /// - Parameter check: Called right before each attempt.
    func change(
        _ records: [OutgoingRecord], check: @escaping SendCheck
    ) throws(PlatformError) -> WrittenRecords

    /// Returns whether a change that sends a value can share its request with others.
    ///
    /// - Parameter planned: All records when the plan was made.
    func canChangeTogether(
        _ before: VercelRecord, _ request: (key: String, attributes: VariableAttributes),
        among planned: some Sequence<VercelRecord>
    ) -> Bool

    /// Deletes records; `check` is called right before each attempt.
    func delete(_ ids: [String], check: @escaping SendCheck) throws(PlatformError)

    /// Reads values.
    ///
    /// - Parameter isExpected: If it returns false for a value, that record is read by itself.
    /// - Returns: One result for each record, in their order; nil if the value is not shown.
    func values(
        of records: [VercelRecord], into arena: SecretArena,
        isExpected: @escaping (Int, SecretSlice) -> Bool
    ) throws(PlatformError) -> [Result<SecretSlice?, PlatformError>]
}

/// Throws right before an attempt to prevent it.
package typealias SendCheck = () throws(PlatformError) -> Void

/// What platforms differ in, as far as sending depends on it.
package struct PlatformTraits {
    /// Whether values that are not sensitive can be read again.
    package var showsValues = true
    /// Whether each change has a modification time of its own.
    package var showsEachChange = true
    package var namesIgnoreCase = false
    /// The most records that one request creates, changes or deletes.
    package var creationLimit = 1, changeLimit = 1, deletionLimit = 1

    package init() {}

    /// Returns whether a value of this type cannot be read again.
    func hides(_ kind: VariableAttributes.Kind) -> Bool { kind == .sensitive || !showsValues }

    /// Returns whether the platform takes two names for the same one.
    func isSameName(_ one: String, _ other: String) -> Bool {
        one == other || namesIgnoreCase && one.lowercased() == other.lowercased()
    }
}

/// A record as it should be after a request.
package struct OutgoingRecord {
    /// The record to change; nil for a new one.
    package let id: String?
    package let key: String
    package let attributes: VariableAttributes
    /// Nil if the record keeps its value.
    package let value: SecretSlice?
    /// Whether the record had another name when the plan was made.
    package let changesName: Bool
    /// Whether the record may have another type so far.
    package let changesKind: Bool
}

/// What the response to a request says of its records, which may not be all of them.
package struct WrittenRecords {
    /// A refused record, with its name and targets as far as the platform reports them.
    package typealias Refusal = (key: String?, targets: [String], error: PlatformError)

    package var records: [VercelRecord] = []
    package var refused: [Refusal] = []

    package init() {}
}

/// Why a platform did not do something, by what can be done about it.
package struct PlatformError: Error, Equatable {
    package enum Code: Sendable {
        /// The caller's check prevented an attempt.
        case notSent
        /// Only this record was refused. A conflict is with another record or operation.
        case refused, conflict, notFound
        /// The request may or may not have been carried out.
        case outcomeUnknown
        case cancelled, other
    }

    package let code: Code
    package let description: String
    /// Whether certainly no attempt was carried out.
    package var isKnownNotDone = false
    /// Whether an earlier attempt of the same call may have been carried out.
    package var isAfterRepeat = false
    /// Whether a record of that name and scope exists already.
    package var isExisting = false
    /// Vercel's error, which has an exit code and advice.
    package private(set) var cause: VercelAPIError?

    package init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }

    package init(_ cause: VercelAPIError) {
        code =
            switch cause.code {
            case .notSent: .notSent
            case .badRequest, .notPossible, .tooLarge, .invalidRequest: .refused
            case .conflict: .conflict
            case .notFound: .notFound
            case .outcomeUnknown: .outcomeUnknown
            case .cancelled: .cancelled
            default: .other
            }
        (description, self.cause) = (cause.description, cause)
        (isKnownNotDone, isAfterRepeat) = (cause.isKnownNotDone, cause.isAfterRepeat)
        isExisting = cause.isExistingVariable
    }

    /// Creates the error for records that are hidden from the token.
    init(hiding clause: String) {
        self.init(
            VercelAPIError(
                .forbidden, reason: clause,
                hint: "use a token that has access to production variables"))
    }

    /// Whether only this record was refused, so that others may still be sent.
    var isRefusal: Bool { [.refused, .conflict, .notFound].contains(code) }

    /// Rethrows Vercel's own errors.
    package static func unwrapping<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PlatformError {
            throw error.cause ?? error
        }
    }
}

extension VercelAPIError {
    /// Whether certainly no attempt was carried out.
    fileprivate var isKnownNotDone: Bool {
        if isAfterRepeat || code == .outcomeUnknown { return false }
        if isBeforeSending { return true }
        if let transport { return !transport.mayHaveReachedServer }
        // A rejection. The meaning of 408, 5xx and unreadable responses is open.
        if let status { return (400..<500).contains(status) && status != 408 }
        return [.invalidRequest, .libraryMissing, .outOfMemory].contains(code)
    }
}
