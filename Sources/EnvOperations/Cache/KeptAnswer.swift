internal import JSON
package import VercelAPI

/// What may be kept of the platform's answers. Of a record nothing is written but what its `CodingKeys`
/// name, and the platform's own forms are read from that again.
///
/// Never on it: what has a value of a variable, what a deployment was built with, and texts of logs.
package protocol KeepableAnswer: Codable, Sendable {}

extension Project: KeepableAnswer {}
extension SharedVariable: KeepableAnswer {}
extension Array: KeepableAnswer where Element: KeepableAnswer {}

/// The newest deployments of a project, and which of them serves production.
package struct DeploymentsAnswer: KeepableAnswer, Equatable {
    /// The id of the deployment that serves production; nil where none does.
    package let current: String?
    /// Newest first.
    package let deployments: [Deployment]

    /// Takes an answer.
    package init(current: String?, deployments: [Deployment]) {
        self.current = current
        self.deployments = deployments
    }
}

/// That the platform could not be reached when it was last tried. Holds nothing but its time.
package struct OutageNote: KeepableAnswer {
    /// Makes a note.
    package init() {}
}

/// An answer as it was kept: what of it may be kept, when it was asked for, and by whom.
package struct KeptAnswer: Equatable, Sendable {
    private struct Line<Answer: KeepableAnswer>: Codable {
        let address: AnswerAddress
        let askedAt: UInt64
        let answer: Answer
    }

    /// What was asked, of whom, by whom.
    package let address: AnswerAddress
    /// When the question was sent, by this machine's clock, in milliseconds since 1970: what the
    /// platform did after that may be missing.
    package let askedAt: UInt64
    /// All of it as JSON in one line. The answer is read when it is asked for: a table has many.
    let line: [UInt8]

    /// - Throws: Only for a number that JSON cannot say.
    init(_ answer: some KeepableAnswer, at address: AnswerAddress, askedAt: UInt64) throws {
        self.address = address
        self.askedAt = askedAt
        line = try JSONEncoder().encode(
            Line(address: address, askedAt: askedAt, answer: answer))
    }

    /// Reads a line; nil for anything else.
    init?(line: [UInt8]) {
        // Every answer is at least a note of nothing.
        guard let head = try? JSONDecoder().decode(Line<OutageNote>.self, from: line) else {
            return nil
        }
        address = head.address
        askedAt = head.askedAt
        self.line = line
    }

    /// The answer; nil where it cannot be read as one of that kind.
    package func value<Answer: KeepableAnswer>(as type: Answer.Type = Answer.self) -> Answer? {
        (try? JSONDecoder().decode(Line<Answer>.self, from: line))?.answer
    }
}
