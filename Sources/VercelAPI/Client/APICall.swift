internal import HTTPClient
internal import JSON
internal import Sealing
internal import SystemFiles

/// One API call, before scope, token and origin are added.
struct APICall {
    /// What the body of a 2xx response must contain.
    enum Expectation {
        /// A JSON value; anything else is an error.
        case json
        /// Nothing, or any JSON value. An HTML page does not come from the API.
        case nothingOrJSON
        /// Lines, which are read as they arrive.
        case lines
    }

    var method: HTTPRequest.Method
    var target: String
    /// The kind of call for rate limiting: method and path without ids.
    var route: String
    var isScoped = true
    var query: [(name: String, value: String)] = []
    var body: GuardedBytes?
    var isRepeatable: Bool
    var expectation = Expectation.json
    var timeouts: HTTPTimeouts?
    /// The time by which every attempt must have ended, on the waiting room's clock.
    var deadline: Duration?
    /// The values in the body, which errors must not repeat.
    var sent: [SecretSlice] = []
    /// The names in the body, which errors may repeat.
    var names: Set<String> = []
    /// Called right before each attempt, after any wait. An error ends the call without sending.
    var check: VercelClient.SendCheck?

    /// Which texts of the response may be shown.
    var trust: ResponseSecrets.Trust {
        guard route.split(separator: "/").contains("env") else { return .checked }
        return method == .get ? .none : .checkedAgainstAll
    }

    /// Creates a call to `path`.
    init(
        _ method: HTTPRequest.Method, _ path: APIPath,
        query: [(name: String, value: String?)] = [], isRepeatable: Bool? = nil
    ) throws(VercelAPIError) {
        self.method = method
        target = try path.encoded()
        route = "\(method.rawValue) \(path.route)"
        self.query = query.compactMap { item in item.value.map { (item.name, $0) } }
        self.isRepeatable = isRepeatable ?? (method != .post)
    }

    /// Returns the call with its total timeout limited to the time left until its deadline.
    func within(_ now: Duration) -> APICall {
        guard let deadline else { return self }
        var call = self
        let left = max(deadline - now, .milliseconds(1))
        var timeouts = timeouts ?? HTTPTimeouts()
        timeouts.total = min(timeouts.total ?? left, left)
        call.timeouts = timeouts
        return call
    }

    /// Sets the body to the JSON that `write` writes.
    mutating func writeBody(
        _ write: (inout GuardedJSONWriter) throws(OutputError) -> Void
    ) throws(VercelAPIError) {
        do throws(OutputError) {
            body = try GuardedBytes.json(write)
        } catch {
            if error == .outOfMemory {
                throw VercelAPIError(.outOfMemory, reason: "out of guarded memory")
            }
            throw VercelAPIError(.invalidRequest, reason: "a value is not valid UTF-8")
        }
    }

    /// Sets the body to an object with the members that `write` writes.
    mutating func writeObject(
        _ write: (inout GuardedJSONWriter) throws(OutputError) -> Void
    ) throws(VercelAPIError) {
        try writeBody { (json) throws(OutputError) in try json.object(write) }
    }
}

/// The path of a call: fixed words (literals) with names or ids between them (interpolations), each
/// of which is percent-encoded as one segment.
struct APIPath: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [(text: String, isFixed: Bool)] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { pieces.append((literal, true)) }

        mutating func appendInterpolation(_ segment: String) { pieces.append((segment, false)) }
    }

    private let pieces: [(text: String, isFixed: Bool)]

    init(stringLiteral literal: String) { pieces = [(literal, true)] }

    init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// The path with a star for each name or id.
    var route: String { pieces.map { $0.isFixed ? $0.text : "*" }.joined() }

    /// Returns the percent-encoded path.
    ///
    /// - Throws: ``VercelAPIError/Code/invalidRequest`` if a name or id is empty, `.` or `..`,
    ///   because the path would then mean another resource.
    func encoded() throws(VercelAPIError) -> String {
        var path = ""
        for piece in pieces {
            if piece.isFixed {
                path += piece.text
                continue
            }
            guard !["", ".", ".."].contains(piece.text), piece.text.utf8.count <= 1024 else {
                throw VercelAPIError(.invalidRequest, reason: "invalid name or ID")
            }
            path += PercentEncoding.encoded(piece.text)
        }
        return path
    }
}

/// Percent-encoding of the parts of a URL (RFC 3986).
enum PercentEncoding {
    /// Returns `text` with every byte but letters, digits and `-._~` encoded.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Hexadecimal.digit(byte >> 4, isUpper: true))
                bytes.append(Hexadecimal.digit(byte & 15, isUpper: true))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a query with its question mark, or an empty string.
    static func query(_ items: [(name: String, value: String)]) -> String {
        guard !items.isEmpty else { return "" }
        return "?"
            + items.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
    }
}
