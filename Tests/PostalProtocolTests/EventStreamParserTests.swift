import PostalProtocol
import Testing

@Suite("Event streams") struct EventStreamParserTests {
    typealias Event = EventStreamParser.Event

    static func events(_ pieces: [[UInt8]]) -> (events: [Event], parser: EventStreamParser) {
        var parser = EventStreamParser()
        var events: [Event] = []
        for piece in pieces { parser.take(piece) { events.append($0) } }
        return (events, parser)
    }

    static func events(_ text: String) -> [Event] { events([Array(text.utf8)]).events }

    static func event(_ data: String) -> Event { event("message", nil, data) }

    static func event(_ name: String, _ id: String?, _ data: String) -> Event {
        Event(name: name, id: id, data: Array(data.utf8))
    }

    @Test(
        "are read as the standard has it",
        arguments: [
            ("data: a\n\n", [event("a")]), ("data:a\r\n\r\n", [event("a")]),
            ("data: a\r\r", [event("a")]), ("data\n\n", [event("")]),
            ("data:  a\n\n", [event(" a")]), ("data: a\ndata: b\n\n", [event("a\nb")]),
            ("\u{FEFF}data: a\n\n", [event("a")]), ("data: \u{FEFF}\n\n", [event("\u{FEFF}")]),
            (": word\n\n", []), ("event: x\n\n", []), ("data: a", []), ("data: a\n", []),
            ("id: 5\nevent: sealed\ndata: x\n\n", [event("sealed", "5", "x")]),
            ("id: 5\ndata: x\n\ndata: y\n\n", [event("message", "5", "x"), event("y")]),
            ("event: a\nevent: b\ndata: x\n\n", [event("b", nil, "x")]),
            ("id: 1\u{0}\ndata: x\n\n", [event("x")]),
            ("retry: 9\nother: 1\ndata: x\n\n", [event("x")]),
            ("\n\n\r\r\n", []), ("dataa: x\n dat: y\n\n", []),
        ])
    func standard(text: String, expected: [Event]) {
        #expect(Self.events(text) == expected)
    }

    @Test("are the same wherever their bytes are cut")
    func cuts() {
        var random = SystemRandomNumberGenerator()
        let parts = [
            "data: a", "id: 17", "event: sealed", ": keep-alive", "", "", "data", "\u{FEFF}",
            "data: " + String(repeating: "x", count: 5_000),
            String(repeating: "y", count: 9_000), ":" + String(repeating: "z", count: 9_000),
        ]
        for _ in 0..<400 {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<20, using: &random) {
                text += Array((parts.randomElement(using: &random) ?? "").utf8)
                text += Array((["\n", "\r", "\r\n"].randomElement(using: &random) ?? "").utf8)
            }
            if !text.isEmpty, Bool.random() {
                text[Int.random(in: text.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            let (whole, parser) = Self.events([text])
            var pieces: [[UInt8]] = []
            var rest = text[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...max(rest.count / 3, 1), using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let (cut, other) = Self.events(pieces)
            #expect(whole == cut, "\(text)")
            #expect(parser.lostCount == other.lostCount && parser.signCount == other.signCount)
        }
    }

    @Test("that are too long are dropped and counted, and the next ones are read")
    func bounds() {
        let limit = EventStreamParser.byteLimit
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let longest = "data:" + text(limit - 5)
        #expect(Self.events(longest + "\n\n").first?.data.count == limit - 5)
        for broken in [
            longest + "x", "data:" + text(limit / 2) + "\ndata:" + text(limit / 2),
            text(limit + 1), text(20 * limit), "id:" + text(limit - 10) + "\ndata:" + text(100),
            (0..<9_000).map { _ in "data" }.joined(separator: "\n"),
        ] {
            let (events, parser) = Self.events([
                Array((broken + "\n\nid: 2\ndata: after\n\n").utf8)
            ])
            #expect(events == [Self.event("message", "2", "after")], "\(broken.prefix(9))")
            #expect(parser.lostCount == 1)
        }
        let (events, parser) = Self.events([Array((":" + text(3 * limit) + "\ndata: a\n\n").utf8)])
        #expect(events == [Self.event("a")] && parser.lostCount == 0)
    }

    @Test("are relay messages if they have the form of one")
    func messages() {
        func message(_ name: String, _ id: String?, _ data: String) -> RelayMessage? {
            RelayMessage(Self.event(name, id, data))
        }
        let box = String(repeating: "AAAA", count: 20)
        #expect(
            message("sealed", "7", box) == .sealed(number: 7, box: [UInt8](repeating: 0, count: 60))
        )
        #expect(message("missed", "7", #"{"count":12}"#) == .missed(number: 7, count: 12))
        #expect(message("removed", nil, "{}") == .removed)
        #expect(message("message", "7", box) == nil && message("later", "7", "") == nil)
        for wrong in [
            "AAA", "!!!!", "", "AAAA", box + "\n" + box, String(repeating: "A", count: 8_000),
        ] {
            #expect(message("sealed", "7", wrong) == .unreadable(number: 7), "\(wrong.prefix(9))")
        }
        for number in ["0", "-1", "+1", "1.0", " 1", "", "x", "99999999999999999999"] {
            #expect(message("sealed", number, box) == .unreadable(number: nil), "\(number)")
            #expect(message("missed", number, "{}") == .unreadable(number: nil), "\(number)")
        }
        // A gap counts, whatever its text.
        for data in ["", "{}", #"{"count":-3}"#, #"{"count":"x"}"#, #"{"count":1e99}"#, "[["] {
            #expect(message("missed", "7", data) == .missed(number: 7, count: 0), "\(data)")
        }
        #expect(
            message("missed", "7", #"{"count":9000000000}"#) == .missed(number: 7, count: 1_000_000)
        )
    }
}
