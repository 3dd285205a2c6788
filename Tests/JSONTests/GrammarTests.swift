import Foundation
import JSON
import Testing

/// Valid and invalid JSON by a public list of cases, compared with Python's parser.
@Suite struct `The grammar of JSON` {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let isAccepted: Bool
        /// Whether RFC 8259 leaves it to the parser.
        let isFree: Bool
        let bytes: [UInt8]
        var testDescription: String { name }
    }

    static let cases: [Case] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let file = folder.appendingPathComponent("Cases/grammar.txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
            guard !line.hasPrefix("#"), parts.count == 3 else { return nil }
            return Case(
                name: String(parts[1]), isAccepted: parts[0].hasSuffix("y"),
                isFree: parts[0].hasPrefix("i"), bytes: bytes(parts[2]))
        }
    }()

    /// The bytes of a line of the list.
    private static func bytes(_ text: Substring) -> [UInt8] {
        if let match = text.firstMatch(of: #/^\*(\d+) /#), let count = Int(match.1) {
            return Array(
                repeatElement(bytes(text[match.range.upperBound...]), count: count).joined())
        }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            guard next == UInt8(ascii: "x") else {
                bytes.append(next)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            rest = rest.dropFirst(2)
            bytes.append(UInt8(digits, radix: 16) ?? 0)
        }
        return bytes
    }

    @Test func `the list is complete`() {
        #expect(Self.cases.count == 318)
        #expect(Self.cases.count { !$0.isFree && $0.isAccepted } == 95)
        #expect(Self.cases.count { !$0.isFree && !$0.isAccepted } == 188)
    }

    @Test(arguments: cases)
    func `a case is accepted or refused as it should be`(one: Case) throws {
        let isJSON = unsafe JSONTree.isJSON(one.bytes.span.bytes)
        #expect(isJSON == one.isAccepted)
        guard isJSON else {
            #expect(throws: JSONError.self) { try JSONValue(parsing: one.bytes) }
            return
        }
        // The result is written and read again unchanged; a number may be too large for any type.
        if let value = try? JSONValue(parsing: one.bytes) {
            let again = try JSONValue(parsing: value.encoded)
            #expect(again == value)
        } else {
            #expect(one.isFree && one.name.hasPrefix("number_"))
        }
    }

    @Test func `Python agrees wherever there is one right answer`() throws {
        let program = """
            import json, sys
            def refuse(word): raise ValueError(word)
            for line in sys.stdin:
                try:
                    json.loads(bytes.fromhex(line).decode("utf-8"), parse_constant=refuse)
                    print("y")
                except (ValueError, RecursionError):
                    print("n")
            """
        let cases = Self.cases.filter { !$0.isFree }
        let lines = cases.map { one in
            one.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                + "\n"
        }
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", "-c", program]
        let (input, output) = (Pipe(), Pipe())
        (python.standardInput, python.standardOutput) = (input, output)
        try python.run()
        let writer = Thread {
            try? input.fileHandleForWriting.write(contentsOf: Data(lines.joined().utf8))
            try? input.fileHandleForWriting.close()
        }
        writer.start()
        let answers = String(
            decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        python.waitUntilExit()
        let verdicts = answers.split(separator: "\n").map { $0 == "y" }
        try #require(verdicts.count == cases.count)
        for (one, isAccepted) in zip(cases, verdicts) {
            #expect(one.isAccepted == isAccepted, "\(one.name)")
        }
    }
}
