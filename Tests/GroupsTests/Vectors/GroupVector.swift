import Foundation

/// One vector: an object or a history, and what a reader must say of it.
struct GroupVector {
    let name: String
    let description: String
    /// What a reader gets.
    var input: [String: Any]
    /// `ok`, or a class.
    let result: String
    /// More of what a reader must find.
    var expected: [String: Any] = [:]

    var json: [String: Any] {
        input.merging(["name": name, "description": description, "result": result]) { $1 }
            .merging(expected) { $1 }
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8).map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x61 + 10) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
