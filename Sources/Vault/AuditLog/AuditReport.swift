/// The result of checking an audit log.
package struct AuditReport: Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        /// The line with this number in the file, counted from 1, was changed, inserted, moved, or
        /// sealed for another vault.
        case damaged(line: Int)
        /// These lines are missing, although later ones exist.
        case missing(ClosedRange<UInt64>)
        /// These lines are in the vault's record, but the file ends before them.
        case cut(ClosedRange<UInt64>)
        /// The line with this number differs from the one in the vault's record.
        case replaced(UInt64)
    }

    /// The most problems listed individually; all are counted.
    static let problemLimit = 100

    /// Whether the file exists.
    package internal(set) var isThere = false
    /// The number of valid lines.
    package internal(set) var entryCount = 0
    /// The position of the last valid line.
    package internal(set) var end: AuditLog.Position?
    /// In the order of the file.
    package private(set) var problems: [Problem] = []
    package private(set) var problemCount = 0
    /// The number of problems accepted by a person with the passphrase.
    package private(set) var acceptedProblemCount = 0
    /// The size of an interrupted last line, which is not a problem.
    package internal(set) var incompleteByteCount = 0

    package var isWhole: Bool { problemCount == 0 }

    mutating func add(_ problem: Problem) {
        problemCount += 1
        if problems.count < Self.problemLimit { problems.append(problem) }
    }

    mutating func acceptProblems() {
        acceptedProblemCount += problemCount
        (problems, problemCount) = ([], 0)
    }
}
