/// What reading an audit log showed.
package struct AuditReport: Equatable, Sendable {
    /// Something that a whole log does not have.
    package enum Problem: Equatable, Sendable {
        /// A line was changed, put in, moved, or sealed for another vault: its place in the file,
        /// counted from 1.
        case damaged(line: Int)
        /// The lines of these numbers are not in the file, and later ones are.
        case missing(ClosedRange<UInt64>)
        /// The file ends before the lines of these numbers, which the vault knows of.
        case cut(ClosedRange<UInt64>)
        /// The line of this number is not the one that the vault knows.
        case replaced(UInt64)
    }

    /// Problems kept one by one; more are counted.
    static let problemLimit = 100

    /// Whether there is a file at all.
    package internal(set) var isThere = false
    /// Lines that hold.
    package internal(set) var entryCount = 0
    /// Where the last of them stands.
    package internal(set) var end: AuditLog.Position?
    /// What is wrong, in the order of the file.
    package private(set) var problems: [Problem] = []
    /// How many problems there are.
    package private(set) var problemCount = 0
    /// How many problems somebody with the passphrase has accepted.
    package private(set) var acceptedProblemCount = 0
    /// Bytes of a last line whose writing was broken off; that is no damage.
    package internal(set) var incompleteByteCount = 0

    /// Tells whether nothing is wrong.
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
