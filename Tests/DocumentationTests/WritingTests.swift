import Foundation
import Testing

/// What people read: messages, pages and comments, in plain English and not too much of it.
@Suite("Writing") struct WritingTests {
    private static let root = DocumentationTests.root

    /// Phrases of a literal translation, or words that the glossary replaces. They match as whole words
    /// in any case.
    private static let phrases = [
        "is none", "is no name", "is no value", "is no address", "is no variable",
        "is no project", "is no file", "is no number", "is no time", "is no target", "is no kind",
        "names none", "names no", "anew", "looked at", "is told", "are told", "was told",
        "tells of",
        "told of", "whoever", "whatever is wrong", "the same again", "made a vault",
        "nothing was made", "mend", "mends", "mended", "mending", "has to do with", "is asked for",
        "be told of", "of its own accord", "by and by", "is said here", "was said",
        "says nothing of",
        "answer cache", "the platform's",
        "kernel's keyring", "kernel's keyrings", "settings file", "by the rules of",
        "does not fit the type", "what arrived", "change of the vault", "lower-case", "white space",
        "declared schema", "declared schemas", "asks you to wait",
    ]

    /// Words that plain English does without, in what users read: messages, help, recipes, scripts.
    private static let tics = [
        "somebody", "anybody", "everybody", "nobody", ", else", "at once", "in the meantime",
        "void",
        "lacks", "beside", "counts as", "names a", "names an", "names the", "names which",
    ]

    /// Scripts without an ending, by which their kind is known.
    private static let scripts =
        [".ci/run", ".ci/set-up", "Tests/run-all"]
        + ((try? FileManager.default.contentsOfDirectory(atPath: "\(root)/Packaging")) ?? [])
        .filter { $0 != "copyright" }.map { "Packaging/\($0)" }

    /// The texts in which a phrase may not come back: sources, tests, pages, scripts.
    private static let files: [String] = {
        let ours = ["Sources", "Tests", "docs"].flatMap { directory in
            (FileManager.default.enumerator(atPath: "\(root)/\(directory)")?.compactMap {
                $0 as? String
            } ?? []).map { "\(directory)/\($0)" }
        }
        let endings = ["swift", "h", "c", "py", "sh", "md"]
        return
            (ours.filter { endings.contains(($0 as NSString).pathExtension) }
            + [
                "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Makefile",
            ] + scripts)
            // The list itself, and the words that the glossary warns of.
            .filter {
                !$0.hasSuffix("WritingTests.swift") && $0 != "docs/glossary.md"
                    && !$0.contains("/Vectors/") && !$0.contains("/Samples/")
            }.sorted()
    }()

    @Test("No phrase of the list comes back", arguments: phrases)
    func phrase(_ phrase: String) throws {
        #expect(Self.files.count > 800)
        let wanted = Data(phrase.utf8)
        for file in Self.files {
            let text = Self.lowercased[file] ?? Data()
            for found in Self.places(of: wanted, in: text) {
                // "There is no file" is English.
                let front = text[max(text.startIndex, found - 6)..<found]
                if phrase.hasPrefix("is no "), front == Data("there ".utf8) { continue }
                let line = text[..<found].count { $0 == UInt8(ascii: "\n") } + 1
                Issue.record("\(file):\(line): \"\(phrase)\"")
            }
        }
    }

    @Test("No message, help, recipe, script or page has a word of the list", arguments: tics)
    func tic(_ word: String) {
        #expect(Self.messages.count > 2500 && Self.shownFiles.count > 15)
        let wanted = Data(word.utf8)
        for (place, text) in Self.messages {
            if !Self.words(wanted, in: Data(text.lowercased().utf8)).isEmpty {
                Issue.record("\(place): \"\(word)\" in: \(text.prefix(200))")
            }
        }
        for file in Self.shownFiles {
            let text = Self.lowercased[file] ?? Data()
            for found in Self.words(wanted, in: text) {
                let line = text[..<found].count { $0 == UInt8(ascii: "\n") } + 1
                Issue.record("\(file):\(line): \"\(word)\"")
            }
        }
    }

    /// Files of which users read every line.
    private static let shownFiles = files.filter {
        scripts.contains($0) || $0 == "Makefile" || $0 == "Tests/Demo/demo.sh"
            || $0.hasPrefix("docs/recipes/") || $0.hasSuffix(".md") && !openPages.contains($0)
    }

    /// Pages that are still to be rewritten.
    private static let openPages = [
        "docs/vault-format.md", "docs/group-format.md", "docs/threat-model.md", "docs/sync.md",
        "docs/groups.md",
    ]

    /// All messages with their places. The sandbox repeats Vercel's own.
    private static let messages: [(place: String, text: String)] = files.filter {
        $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") && !$0.hasPrefix("Sources/Sandbox/")
    }.flatMap { file in
        let source = try? String(contentsOfFile: "\(root)/\(file)", encoding: .utf8)
        return MessageList(source ?? "").messages.map { ("\(file):\($0.line)", $0.text) }
    }

    /// The places of a word, without those where it is a value, as in `by=nobody`.
    private static func words(_ word: Data, in text: Data) -> [Int] {
        places(of: word, in: text).filter { $0 == 0 || !"`|=".utf8.contains(text[$0 - 1]) }
    }

    /// Where `wanted` begins in `text`, as whole words.
    private static func places(of wanted: Data, in text: Data) -> [Int] {
        var places: [Int] = []
        var start = text.startIndex
        while let found = text.range(of: wanted, in: start..<text.endIndex) {
            start = found.upperBound
            let before = found.lowerBound > 0 ? text[found.lowerBound - 1] : 0x20
            let after = start < text.endIndex ? text[start] : 0x20
            // What begins with a comma follows a letter.
            guard wanted.first == UInt8(ascii: ",") || !isLetter(before), !isLetter(after)
            else { continue }
            places.append(found.lowerBound)
        }
        return places
    }

    private static let lowercased: [String: Data] = files.reduce(into: [:]) { texts, file in
        let data = FileManager.default.contents(atPath: "\(root)/\(file)") ?? Data()
        // `is None` is Python.
        texts[file] =
            file.hasSuffix(".py")
            ? data : Data(data.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    /// Writes `.build/messages.txt`: every message with its place, one a line, for someone to read.
    @Test("All messages are in one file")
    func messageFile() throws {
        var lines: [String] = []
        for file in Self.files where file.hasPrefix("Sources/") && file.hasSuffix(".swift") {
            let source = try String(contentsOfFile: "\(Self.root)/\(file)", encoding: .utf8)
            lines += MessageList(source).messages.map { "\(file):\($0.line): \($0.text)" }
        }
        #expect(lines.count > 2500)
        try lines.joined(separator: "\n").write(
            toFile: "\(Self.root)/.build/messages.txt", atomically: true, encoding: .utf8)
    }

    @Test("A literal is read whole: joined parts, interpolations, escapes, raw and long ones")
    func literals() {
        let source = ##"""
            // "a comment is none"
            let one = "It \(word("a", of: x)) failed: "
                + "try again."
            let two = #"say "zg-env \#(name) x" here"#
            let three = """
                First line \
                goes on.
                """, four = "short"
            """##
        #expect(
            MessageList(source).messages == [
                .init(line: 2, text: "It {…} failed: try again."),
                .init(line: 4, text: "say \"zg-env {…} x\" here"),
                .init(line: 5, text: "First line goes on. "),
            ])
    }

    /// Words of hand-written pages that a reader sees, as `wc -w` counts them: of the guides with the
    /// tutorial, and of all others. Formats, the relay's protocol, the pages of commands and the change
    /// log have no limit.
    @Test("Pages stay short")
    func words() throws {
        let unlimited = [
            "docs/vault-format.md", "docs/group-format.md", "docs/file-formats.md",
            "docs/postal-protocol.md",
        ]
        var guides: [String: Int] = [:]
        var others: [String: Int] = [:]
        for page in DocumentationTests.pages
        where !unlimited.contains(page) && !page.hasPrefix("docs/commands/") {
            let count = try DocumentationTests.wordCount(page)
            let isGuide = page.hasPrefix("docs/guides/") || page == "docs/tutorial.md"
            if isGuide { guides[page] = count } else { others[page] = count }
        }
        for (pages, limit) in [(guides, 10_000), (others, 25_500)] {
            let count = pages.values.reduce(0, +)
            let longest = pages.sorted { $0.value > $1.value }.prefix(8)
                .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            #expect(count <= limit, "\(count) words of \(limit); the longest: \(longest)")
        }
    }
}
