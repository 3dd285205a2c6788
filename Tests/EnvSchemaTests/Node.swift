import Glibc
import JSON
import Testing

/// Asks node's own regular expressions.
enum Node {
    typealias Pair = (pattern: String, flags: String, text: String)

    private static let script = """
        const pairs = JSON.parse(require("fs").readFileSync(0, "utf8"));
        process.stdout.write(pairs.map(([pattern, flags, text]) => {
          try { return new RegExp(pattern, flags).test(text) ? "1" : "0"; } catch { return "x"; }
        }).join(""));
        """

    /// Returns whether each text has a match, nil for an invalid pattern. Nil without node.
    static func matches(_ pairs: [Pair]) throws -> [Bool?]? {
        let lines = pairs.map { pair in
            "[" + [pair.pattern, pair.flags, pair.text].map(quoted).joined(separator: ",") + "]"
        }
        guard let output = run("[" + lines.joined(separator: ",") + "]"), !output.isEmpty else {
            return nil
        }
        let outcomes = output.map { $0 == UInt8(ascii: "x") ? nil : $0 == UInt8(ascii: "1") }
        try #require(outcomes.count == pairs.count)
        return outcomes
    }

    private static func quoted(_ text: String) -> String {
        let units = text.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return "\"" + units.joined() + "\""
    }

    private static func run(_ input: String) -> [UInt8]? {
        var path = Array("/tmp/zg-env-node-XXXXXX\0".utf8CString)
        let file = unsafe mkstemp(&path)
        guard file >= 0 else { return nil }
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            close(file)
            unsafe unlink(name)
        }
        let bytes = Array(input.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { bytes in
                unsafe write(file, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { return nil }
            written += count
        }
        guard let pipe = unsafe popen("node -e '\(script)' < \(name) 2>/dev/null", "r") else {
            return nil
        }
        defer { unsafe pclose(pipe) }
        var output: [UInt8] = []
        while case let byte = unsafe getc(pipe), byte != EOF { output.append(UInt8(byte)) }
        return output
    }
}

/// Repeatable random numbers (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
