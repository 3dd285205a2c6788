internal import JSON
internal import Sealing
internal import VercelAPI

/// An answer as it was kept: what of it may be kept, when it was asked for, and by whom.
package struct KeptAnswer: Equatable, Sendable {
    /// What was asked, of whom, by whom.
    package let address: AnswerAddress
    /// When the question was sent, by this machine's clock, in milliseconds since 1970: what the
    /// platform did after that may be missing.
    package let askedAt: UInt64
    /// JSON in UTF-8, of members that are on the list of ``KeepableAnswer`` alone.
    let content: [UInt8]

    /// The answer; nil where it cannot be read as one of that kind.
    package func value<Answer: KeepableAnswer>(as type: Answer.Type) -> Answer? {
        content.withBytes { JSONDecoding.value(type, from: $0) }
    }
}

extension KeptAnswer {
    private static let format: UInt8 = 1

    /// The bytes that are sealed: format, time, address behind its length, and the JSON.
    var bytes: [UInt8] {
        let address = address.bytes
        return [Self.format] + AnswerAddress.bytes(of: askedAt)
            + AnswerAddress.bytes(of: UInt32(clamping: address.count)) + address + content
    }

    /// Reads what ``bytes`` made; nil for anything else, another format included.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 13, bytes[0] == Self.format,
            let count = AnswerAddress.number(bytes[9..<13]), count <= bytes.count - 13,
            let address = AnswerAddress(Array(bytes[13..<(13 + count)]))
        else { return nil }
        self.address = address
        askedAt = bytes[1..<9].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        content = Array(bytes[(13 + count)...])
    }
}
