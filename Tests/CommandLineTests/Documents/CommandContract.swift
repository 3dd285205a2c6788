import Foundation

/// What the pages below `docs/commands` and `docs/exit-codes.md` promise: commands, their options and
/// values, variables, and exit codes. Read from the tables, without the code that generates the pages.
struct CommandContract {
    /// An option as its table spells it: `-t, --target T`.
    struct Option: Hashable {
        var name: String
        var letter: Character?
        /// Nil for a flag.
        var value: String?

        init?(_ usage: String) {
            // `-- CMD` is the end of the options, and none itself.
            guard let dashes = usage.range(of: "--"), !usage.hasPrefix("-- ") else { return nil }
            letter = usage.hasPrefix("--") ? nil : usage.dropFirst().first
            let words = usage[dashes.upperBound...].split(separator: " ", maxSplits: 1)
            name = String(words.first ?? "")
            value = words.count > 1 ? String(words[1]) : nil
        }
    }

    /// The page of one command.
    struct Page {
        var file: String
        var command: String
        var options: [Option] = []
        var exitCodes: [Int32] = []
    }

    private(set) var pages: [Page] = []
    /// Commands that the index lists, with the file that each row links.
    private(set) var listed: [(command: String, file: String)] = []
    private(set) var globalOptions: [(option: Option, variable: String?)] = []
    private(set) var indexExitCodes: [Int32] = []
    /// Rows of `docs/exit-codes.md`; the word is nil where the page has none for a code.
    private(set) var exitCodes: [(code: Int32, word: String?)] = []

    /// - Parameter documents: The directory `docs`.
    init(documents: URL) throws {
        let directory = documents.appending(path: "commands")
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() {
            let text = try String(contentsOf: directory.appending(path: file), encoding: .utf8)
            file == "README.md" ? readIndex(text) : pages.append(Self.page(text, file: file))
        }
        let codes = try String(
            contentsOf: documents.appending(path: "exit-codes.md"), encoding: .utf8)
        for cells in Self.rows(codes) where cells.count == 3 {
            let word = Self.codeSpans(cells[1]).first
            for code in cells[0].split(separator: ",") {
                guard let code = Int32(code.trimmingCharacters(in: .whitespaces)) else { continue }
                exitCodes.append((code, word))
            }
        }
    }

    private mutating func readIndex(_ text: String) {
        for cells in Self.rows(text) {
            guard let code = Self.codeSpans(cells[0]).first else {
                if let code = Int32(cells[0]) { indexExitCodes.append(code) }
                continue
            }
            if let link = cells[0].range(of: "](") {
                listed.append((code, String(cells[0][link.upperBound...].dropLast())))
            } else if let option = Option(code) {
                let variable = cells[1].split { "()".contains($0) }.last { $0.hasPrefix("ZG_ENV_") }
                globalOptions.append((option, variable.map(String.init)))
            }
        }
    }

    private static func page(_ text: String, file: String) -> Page {
        let title = text.prefix { $0 != "\n" }.drop { "# ".contains($0) }
        var page = Page(file: file, command: String(title.dropFirst("zg-env ".count)))
        for cells in rows(text) {
            if let code = Int32(cells[0]) {
                page.exitCodes.append(code)
            } else if let usage = codeSpans(cells[0]).first, let option = Option(usage) {
                page.options.append(option)
            }
        }
        return page
    }

    /// The rows of all tables. A bar behind a backslash belongs to the text of its cell.
    private static func rows(_ text: String) -> [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.replacingOccurrences(of: "\\|", with: "\u{1}").split(separator: "|").map {
                $0.replacingOccurrences(of: "\u{1}", with: "|").trimmingCharacters(in: .whitespaces)
            }
        }
    }

    static func codeSpans(_ text: String) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }
}
