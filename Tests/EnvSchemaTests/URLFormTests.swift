import EnvSchema
import Testing

/// Which URLs are valid, by the URL Standard.
@Suite struct URLFormTests {
    private func fit(_ text: String, _ options: [String: OptionValue] = [:]) -> ValueFit {
        ValueType(.url, options: options).fit(of: text)
    }

    @Test(arguments: [
        "https:example.com", "https:/example.com", "https:\\\\example.com", "HTTPS://a",
        "http://a:",
        "http://a:80", "http://a:65535/", "http://a:00080", "http://user:pass@a", "http://@a",
        "http://a@b@c", "http://u:p:q@h:1?x", "http://a?b", "http://a#b", "http://a.",
        "http://a..b",
        "http://1.2.3.4", "http://0x7f.1", "http://127.1", "http://4294967295", "http://1.2.3.4.",
        "http://[::1]", "http://[::1.2.3.4]", "http://[1:2:3:4:5:6:7:8]:8", "http://%61",
        " http://a ", "ht\ntp://a", "http://a\t.b", "http://a_b!$&'()*+,;=`{}~", "http://\"a\"",
        "file:", "file:x", "file://", "file://host/x", "file:///c:/x", "file://c:/x",
        "file:\\\\h\\x",
        "ws://a", "wss://a", "ftp://a", "a:", "a+b-c.1:anything at all", "mongodb://a:1,b:2/db",
        "data:,x", "foo://%zz:99999", "http://a:80#", "http://1.2.3.a",
        "http://a b@c",
        "https:///a", "http://0x", "http://256.a",
    ])
    func absolute(_ text: String) { #expect(fit(text) == .fits) }

    @Test(arguments: [
        "http://", "http:", "http:///", "https://?x", "http://:80", "http://@", "http://a@",
        "http://u:p@:80", "http://a:65536", "http://a:8x", "http://a:-1", "http://a: 80",
        "http://a b", "http://a<b", "http://a>b", "http://a^b", "http://a|b", "http://a%",
        "http://%",
        "http://%zz", "http://%00", "http://a%20b", "http://%2f", "http://a%3a80", "http://a\u{7F}",
        "http://1.2.3.4.5", "http://256.1.1.1.", "http://1.2.3.256", "http://4294967296",
        "http://09", "http://1.08", "http://0xg.1", "http://1..2", "http://a.1", "http://a.0x1",
        "http://a.09", "http://a.0x", "http://[::1", "http://::1]", "http://[]", "http://[::1]x",
        "http://[::1%25a]",
        "http://[1:2]", "http://[::1.2.3]", "http://[::01.2.3.4]", "http://[::1]:99999",
        "file://a b",
        "file://a:80", "file://[x]", "1a:b", "-a:b", "a b:c", "://a", ":a", "a", "/a", "?a", "#a",
        "é:a", "http://a[b", "http://a]b", "http://]", "http://\\\\", "http://0x100000000",
        "http://99999999999999999999999", "http://1.1.1.0x1ff",
    ])
    func notAbsolute(_ text: String) {
        #expect(fit(text) == .misfit("not an absolute URL"))
    }

    @Test(arguments: [
        "http://ä.de", "http://xn--a.de", "http://b.XN--a", "http://%C3%A4", "http://%ff",
    ])
    func international(_ text: String) {
        #expect(fit(text) == .unchecked("its host is not plain ASCII"))
    }

    @Test func allowedHostsCountWithThePort() {
        func allows(_ url: String, _ domain: String) -> Bool {
            fit(url, ["allowedDomains": .list(["other.org", domain])]) == .fits
        }
        #expect(allows("https://a.b:443/x", "a.b"))
        #expect(!allows("https://a.b:443/x", "a.b:443"))
        #expect(allows("http://a.b:443/x", "a.b:443"))
        #expect(allows("http://u:p@A%2Eb:081", "a.b:81"))
        #expect(!allows("https://a.b", "A.B"))
        #expect(!allows("https://a.b.evil.com", "a.b"))
        #expect(!allows("https://a.b@evil.com", "a.b"))
        #expect(!allows("https://evil.com#@a.b", "a.b"))
        #expect(!allows("https://evil.com\\@a.b", "a.b"))
        #expect(allows("http://0x7f.1", "127.0.0.1"))
        #expect(allows("http://[0:0::1]:8080", "[::1]:8080"))
        #expect(!allows("http://[0:0::1]:8080", "[::1]"))
        #expect(allows("postgres://u:p@H:5432/db", "h:5432"))
        #expect(!allows("postgres://u:p@h:5432/db", "h"))
        #expect(!allows("mailto:a@b.c", "b.c"))
        #expect(!allows("file:///x", "x"))
        #expect(allows("file://h/x", "h"))
    }

    @Test func optionsOfURLs() {
        let https: [String: OptionValue] = ["prependHttps": .flag(true)]
        #expect(fit("a b", https) == .misfit("not an absolute URL"))
        #expect(fit("HTTPS://a", https).word == "coerced")
        #expect(
            fit("a.b", https.merging(["matches": .text("^https://a")]) { $1 }).word == "coerced")
        #expect(
            fit("a.b", https.merging(["allowedDomains": .list(["a.b"])]) { $1 }).word == "coerced")
        #expect(fit("https://a/?x=/", ["noTrailingSlash": .flag(true)]).word == "misfit")
        #expect(fit("https://a", ["matches": .text("(?=a)")]).word == "unchecked")
    }
}
