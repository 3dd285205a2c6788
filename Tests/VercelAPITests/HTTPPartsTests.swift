import Foundation
import HTTPClient
import Testing
import VercelAPI

@Suite struct `Origins, header fields and dates` {
    @Test(arguments: [
        ("https://api.vercel.com", "https://api.vercel.com"),
        ("HTTPS://API.Vercel.Com:443/", "https://api.vercel.com"),
        ("https://example.com:8443", "https://example.com:8443"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("http://localhost", "http://localhost"),
        ("http://127.9.8.7:80/", "http://127.9.8.7"), ("http://[::1]:99", "http://[::1]:99"),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]"),
    ])
    func `an origin is read and written`(text: String, canonical: String) throws {
        let origin = try APIOrigin(text)
        #expect(origin.description == canonical)
        #expect(try APIOrigin(canonical) == origin)
    }

    @Test(
        arguments: [
            ("", .noScheme), ("api.vercel.com", .noScheme), ("ftp://x", .noScheme),
            ("http:/127.0.0.1", .noScheme), ("https://", .invalidHost),
            ("https://:443", .invalidHost),
            ("https://a b", .invalidHost), ("https://a\r\nb", .invalidHost),
            ("https://é.com", .invalidHost),
            ("https://a..b", .invalidHost), ("https://.a", .invalidHost),
            ("https://-a", .invalidHost),
            ("https://a%41", .invalidHost), ("https://[::1", .invalidHost),
            ("https://[::1]x", .invalidHost),
            ("https://[zz]", .invalidHost), ("https://::1", .invalidHost),
            ("https://user@host", .notAnOrigin), ("https://u:p@host", .notAnOrigin),
            ("https://host/path", .notAnOrigin), ("https://host//", .notAnOrigin),
            ("https://host?x", .notAnOrigin), ("https://host#x", .notAnOrigin),
            ("https://host\\x", .notAnOrigin), ("https://host:", .invalidPort),
            ("https://host:0", .invalidPort), ("https://host:65536", .invalidPort),
            ("https://host:+1", .invalidPort), ("https://host:1x", .invalidPort),
            ("http://api.vercel.com", .notSecure), ("http://127.0.0.1.evil.com", .notSecure),
            ("http://127.1", .notSecure), ("http://0127.0.0.1", .notSecure),
            ("http://127.0.0.256", .notSecure), ("http://localhost.evil.com", .notSecure),
            ("http://0.0.0.0", .notSecure), ("http://[::2]", .notSecure),
            ("http://127.0.0.01", .notSecure),
        ] as [(String, APIOrigin.Problem)])
    func `anything else is refused`(text: String, problem: APIOrigin.Problem) {
        #expect(throws: problem) { try APIOrigin(text) }
    }

    @Test func `random texts never trap`() {
        var generator = SeededGenerator(seed: 5)
        let alphabet = Array("https:/[].@?#127.0localhost%é\n")
        for _ in 0..<50_000 {
            let length = Int.random(in: 0..<12, using: &generator)
            let tail = String(
                (0..<length).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                })
            for prefix in ["http://", "https://", ""] {
                guard let origin = try? APIOrigin(prefix + tail) else { continue }
                #expect(!origin.host.isEmpty && (1...65535).contains(origin.port))
                #expect((try? APIOrigin(origin.description)) == origin)
            }
        }
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
            ("Fri, 31 Dec 2100 23:59:59 GMT", 4_133_980_799),
            ("Sun, 06 Nov 1994 08:49:37", nil), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun Nov  6 08:49:37 1994", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
            ("", nil),
            ("Sun, -1 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 9999999 08:49:37 GMT", nil),
        ] as [(String, Int64?)])
    func `HTTP dates`(text: String, seconds: Int64?) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test func `header fields are found in any case, and their number is limited`() {
        var headers = HTTPHeaders()
        let lines = ["Retry-AFTER: \t 5 \r\n", "no colon", ": no name", "bad name: x"]
        for line in lines.map({ Array($0.utf8) }) + [[0x41, 0x3A, 0xFF, 0xFE]] {
            let fits = headers.append(line: line)
            #expect(fits)
        }
        #expect(headers.count == 2)
        #expect(headers[name: "retry-after"] == "5")
        #expect(headers.number("Retry-After") == 5)
        for bad in ["-1", "1.5", "", "9999999999999999999", "1e3", " 1", "+1"] {
            #expect(HTTPHeaders([("N", bad)]).number("n") == nil)
        }
        let isHugeKept = headers.append(
            name: "x", value: String(repeating: "x", count: 64 << 10))
        #expect(!isHugeKept)
        for number in 2..<HTTPHeaders.maximumCount {
            let fits = headers.append(name: "n\(number)", value: "")
            #expect(fits)
        }
        let isOneMoreKept = headers.append(name: "one more", value: "")
        #expect(!isOneMoreKept)
    }
}
