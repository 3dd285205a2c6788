import DesktopNotifications
import Testing

@Suite("Safe text for notifications")
struct SafeTextTests {
    @Test func `markup in a commit message is shown literally, and has no effect`() {
        let hostile = "<b>x</b><a href=\"https://evil\">&amp;</a>'"
        #expect(
            SafeText.body(hostile, escapingMarkup: true)
                == "&lt;b&gt;x&lt;/b&gt;&lt;a href=&quot;https://evil&quot;&gt;&amp;amp;&lt;/a&gt;&#39;"
        )
        #expect(SafeText.body(hostile, escapingMarkup: false) == hostile)
    }

    @Test func `control, invisible and direction characters are removed`() {
        #expect(SafeText.line("a\u{1B}[31mb\u{7}\r\nc") == "a [31mb c")
        #expect(SafeText.line("x\u{202E}fdp.exe\u{2066}\u{FEFF}\u{E0041}") == "xfdp.exe")
        #expect(SafeText.line("👩\u{200D}💻") == "👩\u{200D}💻")
        #expect(SafeText.line("\n\t\0") == "")
    }

    @Test func `lines and bodies are limited`() {
        let long = SafeText.line(String(repeating: "ä", count: 100_000))
        #expect(long.unicodeScalars.count == SafeText.lineLimit + 1 && long.hasSuffix("…"))
        let body = SafeText.body(String(repeating: "x\n", count: 100_000), escapingMarkup: true)
        #expect(body.split(separator: "\n").count == SafeText.lineCount)
    }
}
