/// A received request.
struct HTTPRequest: Sendable {
    /// The largest accepted body, in bytes.
    static let maximumBodyBytes = 10 * 1024 * 1024

    let method: String
    /// The path before decoding, without the query.
    let path: String
    /// The decoded parts of the path.
    let segments: [String]
    /// The decoded query in its order.
    let query: [(name: String, value: String)]
    /// Names are in lower case; the last of repeated headers counts.
    let headers: [String: String]
    /// Empty if larger than ``maximumBodyBytes``.
    let body: [UInt8]
    /// Whether the body was larger than ``maximumBodyBytes`` and dropped.
    let isTooLarge: Bool
    /// Whether the target is not percent-encoded UTF-8.
    let isMalformed: Bool

    /// Parses a target such as `/v9/projects/web?limit=5`.
    init(
        method: String, target: String, headers: [String: String], body: [UInt8], isTooLarge: Bool
    ) {
        self.method = method
        self.headers = headers
        self.body = body
        self.isTooLarge = isTooLarge
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts.first ?? "")
        let segments = path.split(separator: "/").map { PercentCoding.decoded($0, form: false) }
        let pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                PercentCoding.decoded(sides[0], form: true),
                sides.count > 1 ? PercentCoding.decoded(sides[1], form: true) : ""
            )
        }
        self.segments = segments.compactMap { $0 }
        query = pairs.compactMap { name, value in
            if let name, let value { (name, value) } else { nil }
        }
        isMalformed = self.segments.count < segments.count || query.count < pairs.count
    }

    /// Returns the first query parameter with that name.
    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Returns all query parameters with that name, also written `name[]` or separated by commas.
    func parameters(_ name: String) -> [String] {
        query.filter { $0.name == name || $0.name == name + "[]" }
            .flatMap { $0.value.split(separator: ",").map(String.init) }
    }

    /// Returns true for `1` and `true`, false for other values and without the parameter.
    func flag(_ name: String) -> Bool {
        parameter(name).map { $0 == "1" || $0 == "true" } ?? false
    }
}

/// Percent-encoding of paths and forms (RFC 3986, and `+` for a space in forms).
enum PercentCoding {
    /// Returns the decoded text, or `nil` for a stray `%`, a NUL or invalid UTF-8.
    static func decoded(_ text: Substring, form: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    high < 0x80, low < 0x80,
                    let first = Character(Unicode.Scalar(high)).hexDigitValue,
                    let second = Character(Unicode.Scalar(low)).hexDigitValue,
                    first + second > 0
                else { return nil }
                bytes.append(UInt8(first << 4 | second))
            } else {
                bytes.append(form && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
