internal import JSON

extension HTTPAnswer {
    /// Sets a title and a color, and reverses the following text.
    private static let escapes = "\u{1B}]0;PWN\u{7}\u{1B}[31m\u{202E}\u{9B}32m"

    /// Members that clients depend on, in addition to names that end in `Id` or `Ids`.
    private static let kept: Set<String> = [
        "id", "uid", "state", "readyState", "readySubstate", "status", "type", "target", "targets",
        "key", "value", "level", "kind", "jobStatus",
    ]

    /// Adds terminal control characters to every text of a JSON response, or of each of its lines.
    mutating func addEscapes(everywhere: Bool) {
        switch body {
        case .bytes(let bytes): body = .bytes(Self.escaped(bytes, everywhere: everywhere))
        case .stream(let next):
            body = .stream { next().map { Self.escaped($0, everywhere: everywhere) } }
        }
    }

    private static func escaped(_ bytes: [UInt8], everywhere: Bool) -> [UInt8] {
        if let value = try? JSONValue(parsing: bytes) {
            return escaped(value, everywhere: everywhere).encoded
        }
        return bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { line in
                (try? JSONValue(parsing: Array(line)))
                    .map { escaped($0, everywhere: everywhere).encoded } ?? Array(line)
            }
            .joined(separator: [0x0A]).map { $0 }
    }

    private static func escaped(_ value: JSONValue, everywhere: Bool) -> JSONValue {
        switch value {
        case .string(let text): return .string(text + escapes)
        case .array(let elements):
            return .array(elements.map { escaped($0, everywhere: everywhere) })
        case .object(let members):
            return .object(
                members.map { member in
                    let name = member.name
                    let isKept =
                        !everywhere
                        && (kept.contains(name) || name.hasSuffix("Id") || name.hasSuffix("Ids"))
                    if isKept { return member }
                    return .init(name, escaped(member.value, everywhere: everywhere))
                })
        case .null, .bool, .integer, .number: return value
        }
    }
}
