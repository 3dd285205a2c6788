import Foundation
import Glibc
import TestSupport
import Testing

/// A text or a number, unquoted.
func text(_ document: JSONDocument?) -> String {
    switch document {
    case .string(let text): text
    case .integer(let number): "\(number)"
    default: "?"
    }
}

/// `scan` of directories and streams.
@Suite("Finding values in files")
struct ScanTests {
    private static let token = "tok_9fK/2+x?Lm&41zQ"
    private static let pem = (["-----BEGIN KEY-----"] + lines + ["-----END KEY-----\n"])
        .joined(separator: "\n")
    private static let lines = (0..<8).map { line in
        Data((0..<48).map { UInt8(truncatingIfNeeded: $0 * 37 + line * 101 + $0 * $0) })
            .base64EncodedString()
    }

    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["TOKEN": Self.token, "PEM": Self.pem, "MODE": "production"])
    }

    private let scan = ["scan", "-p", "web"]

    private func write(_ text: String, to name: String) throws {
        let path = home.directory.path("work/" + name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func git(_ arguments: String...) throws {
        try Git(home).run(arguments)
    }

    private func found(
        _ result: ProgramResult, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let document = try JSONDocument(result.standardOutput)
        let found = (document["findings"]?.elements ?? []).map { finding in
            "\(text(finding["file"])):\(text(finding["line"])) \(text(finding["key"])) "
                + text(finding["form"])
        }
        let isClean = found.isEmpty && document["skipped"] == []
        #expect(
            result.end == .exited(isClean ? 0 : 1), "\(result.error)",
            sourceLocation: sourceLocation)
        return found
    }

    @Test func `scan prints file, line and key, and never the value`() throws {
        try write("clean\n", to: "a.txt")
        let clean = done(try home.run(scan))
        #expect(clean.output == "")
        #expect(clean.error.contains("Skipped 1 short or common value: MODE."))
        #expect(clean.error.contains("Found none of 2 values in 1 file.\n"))
        let history = done(try home.run(scan + ["--history"]))
        #expect(history.error.contains("git's history was not searched."))
        try write("one\nkey = \(Self.token)\nproduction\n", to: "sub/b.txt")
        let result = try home.run(scan)
        #expect(result.end == .exited(1))
        #expect(result.output == "sub/b.txt:2: TOKEN (project web, plain text)\n")
        #expect(result.error.contains("--except KEY"))
        let object = try home.run(scan + ["--json"])
        #expect(try found(object) == ["sub/b.txt:2 TOKEN plain"])
        let document = try JSONDocument(object.standardOutput)
        #expect(document["filesScanned"] == 2)
        #expect(document["skipped"] == [])
        #expect(document["leftOut"]?.elements.first?["key"] == "MODE")
        #expect(try JSONDocument(object.standardError)["error"]?["code"] == "failed")
        for run in [result, object] {
            #expect(!(run.output + run.error).contains(Self.token))
            #expect(!(run.output + run.error).contains("key ="))
        }
        #expect(done(try home.run(["log", "--json"])).output.contains("searched for"))
    }

    @Test func `a value that is public by its name is skipped, unless it looks like a secret`()
        throws
    {
        let (site, shared, secret) = ("https://shop.example", "shared-value-1", "secret-value-1")
        try home.store([
            "NEXT_PUBLIC_SITE": site, "NEXT_PUBLIC_SHARED": shared, "SHARED": shared,
            "NEXT_PUBLIC_SECRET": secret,
        ])
        try write("\(site)\n\(shared)\n\(secret)\n", to: "a.txt")
        let result = try home.run(scan + ["--json"])
        #expect(try found(result) == ["a.txt:2 SHARED plain", "a.txt:3 NEXT_PUBLIC_SECRET plain"])
        let skipped = try JSONDocument(result.standardOutput)["leftOut"]?.elements ?? []
        #expect(
            Set(skipped.compactMap { $0["key"]?.text })
                == ["MODE", "NEXT_PUBLIC_SITE", "NEXT_PUBLIC_SHARED"])
        let text = try home.run(scan + ["--history"])
        #expect(
            text.error.contains("Skipped 2 public values: NEXT_PUBLIC_SHARED, NEXT_PUBLIC_SITE."))
        #expect(!text.output.contains("NEXT_PUBLIC_S "), "\(text.output)")
    }

    @Test func `a file in UTF-16 is searched`() throws {
        let text = "\u{FEFF}A=b\r\nTOKEN=\(Self.token)\r\n".data(using: .utf16LittleEndian)
        try home.directory.write(Array(#require(text)), to: "work/.env")
        #expect(try found(home.run(scan + ["--json"])) == [".env:2 TOKEN utf-16"])
    }

    @Test func `every planted value in thousands of files is found, and nothing else`() throws {
        var expected: Set<String> = []
        let encoded = Data("user:\(Self.token)".utf8).base64EncodedString()
        let plants: [(String, String, String)] = [
            ("k=\(Self.token)\n", "TOKEN", "plain"),
            ("Authorization: Basic \(encoded)\n", "TOKEN", "base64"),
            ("?t=tok_9fK%2F2%2Bx%3FLm%2641zQ\n", "TOKEN", "url-encoded"),
            (
                "    \(Self.lines.joined().prefix(100))\r\n    \(Self.lines.joined().dropFirst(100))\r\n",
                "PEM", "pem"
            ),
            ("{\"k\":\"\(Self.pem.replacing("\n", with: "\\n"))\"}\n", "PEM", "escaped"),
        ]
        let count = Proof.count(short: 2_000, full: 10_000)
        for number in 0..<100 { try home.directory.makeDirectory("work/d\(number)") }
        for number in 0..<count {
            let name = "d\(number / 100)/f\(number).txt"
            let noise = "tok_9fK/2+x?Lm&41z \(number)\nAuthorization: Basic dXNlcjo=\n"
            if number % 97 == 5 {
                let (text, key, form) = plants[number / 97 % plants.count]
                try home.directory.write(noise + text + noise, to: "work/" + name)
                expected.insert("\(name):3 \(key) \(form)")
            } else {
                try home.directory.write(noise, to: "work/" + name)
            }
        }
        let result = try home.run(scan + ["--json"])
        let found = try found(result)
        #expect(Set(found) == expected && found.count == expected.count)
        #expect(expected.count == (count - 6) / 97 + 1)
        #expect(try JSONDocument(result.standardOutput)["filesScanned"] == .integer(count))
    }

    @Test(arguments: [true, false])
    func `files that git ignores are skipped`(inRepository: Bool) throws {
        if inRepository { try git("init", "-q", ".") }
        try write("*.log\n!keep.log\n/build/\n**/deep/x\nonly/\n", to: ".gitignore")
        try write("inner\n", to: "sub/.gitignore")
        for name in [
            "a.log", "keep.log", "build/a", "sub/build/a", "q/deep/x", "sub/inner", "inner",
            "only/a", "tracked.log", "x",
        ] {
            try write(Self.token, to: name)
        }
        if inRepository {
            try git("add", "-f", "tracked.log")
            try write("x\n", to: ".git/info/exclude")
        }
        let expected =
            ["inner", "keep.log", "sub/build/a"] + (inRepository ? ["tracked.log"] : ["x"])
        let paths = expected.map { "\($0):1 TOKEN plain" }
        #expect(try found(home.run(scan + ["--json"])).sorted() == paths)
        #expect(try found(home.run(scan + ["--json", "--no-ignore"])).count == 10)
        // For a given directory, its rules and those above it apply.
        #expect(try found(home.run(scan + ["sub", "--json"])) == ["sub/build/a:1 TOKEN plain"])
        #expect(try found(home.run(scan + ["only", "--json"])).count == 1)
    }

    @Test func `a nested repository has its own rules`() throws {
        try git("init", "-q", ".")
        try git("init", "-q", "inner")
        try write("out\n", to: "inner/.gitignore")
        try write(Self.token, to: "inner/out")
        try write(Self.token, to: "inner/seen")
        #expect(try found(home.run(scan + ["--json"])) == ["inner/seen:1 TOKEN plain"])
    }

    @Test func `unreadable files are named, and the result is not clean`() throws {
        try write("nothing", to: "open")
        try write("nothing", to: "dir/file")
        let paths = ["closed", "dir"].map { home.directory.path("work/" + $0) }
        try write("nothing", to: "closed")
        // Root may read everything.
        for path in paths { #expect(unsafe chmod(path, 0) == 0) }
        defer { for path in paths { _ = unsafe chmod(path, 0o700) } }
        guard geteuid() != 0 else { return try whatRootCannotRead() }
        // Its entries can be listed, but not examined.
        try write("nothing", to: "names/file")
        #expect(unsafe chmod(home.directory.path("work/names"), 0o400) == 0)
        defer { _ = unsafe chmod(home.directory.path("work/names"), 0o700) }
        let result = try home.run(scan + ["--json"])
        #expect(try found(result) == [])
        #expect(result.end == .exited(1))
        let skipped = try JSONDocument(result.standardOutput)["skipped"]?.elements ?? []
        #expect(skipped.map { text($0["file"]) } == ["closed", "dir", "names/file"])
        #expect(skipped.allSatisfy { $0["reason"] == "Permission denied" })
    }

    /// Permissions do not stop root; a path that is too long does.
    private func whatRootCannotRead() throws {
        let name = String(repeating: "d", count: 250)
        var directory = unsafe open(home.directory.path("work"), O_RDONLY)
        for _ in 0..<20 {
            #expect(unsafe mkdirat(directory, name, 0o700) == 0)
            let next = unsafe openat(directory, name, O_RDONLY)
            close(directory)
            directory = next
        }
        close(directory)
        let result = try home.run(scan + ["--json"])
        #expect(result.end == .exited(1), "\(result.error)")
        let skipped = try JSONDocument(result.standardOutput)["skipped"]
        #expect(skipped?.elements.count == 1)
        let told = try home.run(scan)
        #expect(told.end == .exited(1) && told.error.contains("was not scanned"))
    }

    @Test func `pipes, sockets and symbolic links are skipped`() throws {
        #expect(unsafe mkfifo(home.directory.path("work/pipe"), 0o600) == 0)
        try write(Self.token, to: "dir/real")
        for (name, target) in [
            ("dir/loop", ".."), ("link", "dir/real"), ("gone", "nowhere"), ("outside", "/etc"),
        ] {
            #expect(unsafe symlink(target, home.directory.path("work/" + name)) == 0)
        }
        #expect(try found(home.run(scan + ["--json"])) == ["dir/real:1 TOKEN plain"])
    }

    @Test func `a given link is followed, and a dangling one is not a clean result`()
        throws
    {
        try write(Self.token, to: "dir/real")
        for (name, target) in [("file", "dir/real"), ("directory", "dir"), ("gone", "nowhere")] {
            #expect(unsafe symlink(target, home.directory.path("work/" + name)) == 0)
        }
        #expect(try found(home.run(scan + ["file", "--json"])) == ["file:1 TOKEN plain"])
        #expect(
            try found(home.run(scan + ["directory", "--json"])) == ["directory/real:1 TOKEN plain"])
        failed(try home.run(scan + ["gone"]), 2, "gone")
        // While the passphrase is typed, the given path disappears.
        for name in ["dir/real", "dir"] {
            try write(Self.token, to: "dir/real")
            var runner = home.terminalRunner(scan + [name, "-q"])
            let path = home.directory.path("work/" + name)
            runner.script = [
                (
                    .terminal("Passphrase"),
                    .call { _, _ in try? FileManager.default.removeItem(atPath: path) }
                ), (.now, .line(CommandHome.passphrase)),
            ]
            failed(try runner.run(), 2, "\(name) is not a file or directory")
        }
    }

    @Test func `files that appear and disappear meanwhile are not a failure`() throws {
        for number in 0..<60 { try write("nothing", to: "d\(number)/f") }
        let paths = (0..<60).map { home.directory.path("work/d\($0)") }
        let loop = BackgroundLoop {
            for path in paths {
                for name in ["/f", "/g", "/h"] {
                    unsafe close(open(path + name, O_CREAT | O_WRONLY, 0o600))
                }
                for name in ["/h", "/g", "/f"] { unsafe unlink(path + name) }
                unsafe rmdir(path)
                unsafe mkdir(path, 0o700)
            }
            usleep(1_000)
        }
        defer { loop.end() }
        for _ in 0..<12 { done(try home.run(scan + ["--no-ignore"])) }
    }

    @Test func `a file that keeps growing is searched up to a limit, with a warning`() throws {
        // Reading its initial content takes a while.
        let front = [UInt8](repeating: 0x41, count: 32 << 20)
        try home.directory.write(front, to: "work/grows")
        let path = home.directory.path("work/grows")
        // A sparse file: it takes no space.
        let loop = BackgroundLoop {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return }
            unsafe truncate(path, status.st_size + 32 << 20)
            usleep(5_000)
        }
        defer { loop.end() }
        let result = try home.run(scan)
        #expect(result.end == .exited(1))
        #expect(
            result.error.contains("grows was not scanned completely: it keeps growing."),
            "\(result.error)")
    }

    @Test func `holes in a file take no time, and the data between them is searched`() throws {
        let size: off_t = 1 << 40
        let descriptor = unsafe open(
            home.directory.path("work/sparse"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let whole = "\n" + Self.token + "\n"
        // At the front, across the border of a hole, and at the very end.
        for place in [0, 5 << 30 - 7, size - off_t(whole.utf8.count)] as [off_t] {
            #expect(unsafe pwrite(descriptor, whole, whole.utf8.count, place) == whole.utf8.count)
        }
        // Two halves with a hole between them are not a value.
        #expect(unsafe pwrite(descriptor, String(Self.token.prefix(9)), 9, (9 << 30) - 9) == 9)
        #expect(unsafe pwrite(descriptor, String(Self.token.dropFirst(9)), 10, 10 << 30) == 10)
        let start = ContinuousClock.now
        let result = try home.run(scan + ["--json"])
        #expect(
            try found(result) == [
                "sparse:2 TOKEN plain", "sparse:4 TOKEN plain", "sparse:6 TOKEN plain",
            ])
        #expect(try JSONDocument(result.standardOutput)["bytesScanned"] == .integer(size))
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `control characters in file names do not reach the terminal`() throws {
        try write(Self.token, to: "a\u{1B}[31m\nb.txt")
        try write(Self.token, to: "plain")
        let raw = Array(home.directory.path("work").utf8) + Array("/bad-\u{1}".utf8) + [0xFF, 0]
        let path = raw.map { CChar(bitPattern: $0) }
        #expect(unsafe rename(home.directory.path("work/plain"), path) == 0)
        let result = try home.run(scan)
        #expect(result.end == .exited(1))
        #expect(result.output.split(separator: "\n").count == 2)
        #expect(!result.standardOutput.contains(0x1B) && !result.standardOutput.contains(1))
        #expect(try found(home.run(scan + ["--json"])).count == 2)
    }

    @Test func `scan reads a stream and a file, and refuses anything else`() throws {
        let text = ProgramRunner.Input.text("one\n\(Self.token)")
        #expect(
            try home.run(scan + ["-"], input: text).output
                == "-:2: TOKEN (project web, plain text)\n")
        done(try home.run(scan + ["-"], input: .text("nothing")))
        try write(Self.token, to: "file")
        #expect(try found(home.run(scan + ["file", "--json"])) == ["file:1 TOKEN plain"])
        failed(try home.run(scan + ["none"]), 2, "none")
        failed(try home.run(scan + ["-", "--passphrase-fd", "0"]), 2)
        failed(try home.run(scan + [".", "--staged"]), 2)
        failed(try home.run(["scan", "-p", "other"]), 4, "other")
        failed(try home.run(scan, unlocked: false), 3)
    }

    @Test func `a stream that pauses has not ended`() throws {
        var runner = home.runner(scan + ["-"], input: .terminal)
        runner.terminal = .init()
        runner.script = [
            (
                .now,
                .call { _, terminal in
                    guard let device = terminal?.device else { return }
                    // The open file description is shared with the program.
                    _ = fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK)
                }
            ), (.error("short or common"), .call { _, _ in usleep(300_000) }),
            (.now, .line("one \(Self.token)")), (.now, .type([4])),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(1), "\(result.error)")
        #expect(result.output == "-:1: TOKEN (project web, plain text)\n")
    }

    @Test func `many findings end the search of a file, with a warning`() throws {
        try write(String(repeating: Self.token + "\n", count: 1_200), to: "file")
        let result = try home.run(scan)
        #expect(result.end == .exited(1))
        #expect(result.output.split(separator: "\n").count == 1_000)
        #expect(
            result.error.contains(
                "file was not scanned completely: scanning stopped after 1000 findings."),
            "\(result.error)")
        let document = try JSONDocument(home.run(scan + ["--json"]).standardOutput)
        #expect(document["skipped"]?.elements.first?["begun"] == true)
    }

    @Test func `a large file has a value across every buffer border`() throws {
        var text = String(repeating: "0123456789abcdef\n", count: 40_000)
        text += Self.token + "\n" + text + Self.pem
        try write(text, to: "large")
        #expect(
            try found(home.run(scan + ["--json"])) == [
                "large:40001 TOKEN plain", "large:80002 PEM plain",
            ])
    }

    @Test func `options select projects, earlier versions and variables`() throws {
        done(try home.run(["set", "TOKEN", "-p", "web"], input: .text("another-value-2")))
        try home.store(["OTHER": "of-the-other-project-7"], in: "more")
        try write("\(Self.token)\nof-the-other-project-7\nanother-value-2\n", to: "file")
        #expect(try found(home.run(scan + ["--json"])) == ["file:3 TOKEN plain"])
        #expect(
            try found(home.run(scan + ["--json", "--history"])) == [
                "file:1 TOKEN plain", "file:3 TOKEN plain",
            ])
        #expect(
            try found(home.run(["scan", "--json", "--all-projects"])) == [
                "file:2 OTHER plain", "file:3 TOKEN plain",
            ])
        #expect(try found(home.run(scan + ["--json", "--except", "TOKEN"])) == [])
        #expect(try found(home.run(scan + ["--json", "--min-length", "16"])) == [])
        failed(try home.run(scan + ["--min-length", "7"]), 2)
        done(try home.run(["rm", "TOKEN", "-p", "web", "--yes"]))
        #expect(
            try found(home.run(scan + ["--json", "--history"])).count == 2)
    }

    @Test func `an unlocked vault is enough unless the settings forbid it`() throws {
        done(try home.run(["config", "set", "cache-for", "run,scan"]))
        failed(try home.run(["config", "set", "cache-for", "scans"]), 2)
    }

    @Test func `an interrupt ends it, and nothing is left behind`() throws {
        let temporary = try home.directory.makeDirectory("temporary")
        let pipe = home.directory.path("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        var runner = home.runner(
            scan + ["-"], input: .terminal, environment: ["TMPDIR": temporary])
        runner.terminal = .init()
        runner.script = [(.error("short or common"), .signal(SIGINT))]
        #expect(try runner.run().end == .signalled(SIGINT))
        done(try home.run(scan, environment: ["TMPDIR": temporary]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    }
}
