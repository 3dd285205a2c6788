import Foundation

/// The contract in `docs/commands` and `docs/exit-codes.md`: commands, their options and values,
/// variables and exit codes. Parsed from the tables, without the code that generates the pages.
struct CommandContract {
    /// An option as its table writes it: `-t, --target T`.
    struct Option: Hashable {
        var name: String
        var letter: Character?
        /// Nil for a flag.
        var value: String?

        init?(_ usage: String) {
            // `-- CMD` is the end of the options, not an option.
            guard usage.hasPrefix("-"), !usage.hasPrefix("-- "),
                let dashes = usage.range(of: "--")
            else { return nil }
            letter = usage.hasPrefix("--") ? nil : usage.dropFirst().first
            let words = usage[dashes.upperBound...].split(separator: " ", maxSplits: 1)
            name = String(words.first ?? "")
            value = words.count > 1 ? String(words[1]) : nil
        }
    }

    /// A command's page.
    struct Page {
        var file: String
        var command: String
        var options: [Option] = []
        var exitCodes: [Int32] = []
    }

    private(set) var pages: [Page] = []
    /// Commands in the index, with the file that each row links to.
    private(set) var listed: [(command: String, file: String)] = []
    private(set) var globalOptions: [(option: Option, variable: String?)] = []
    /// Rows of `docs/exit-codes.md`; the word is nil if the page has none for a code.
    private(set) var exitCodes: [(code: Int32, word: String?)] = []

    /// - Parameter documents: The `docs` directory.
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
        for item in Self.items(text) {
            if let link = item.text.range(of: "](") {
                let file = item.text[link.upperBound...].prefix { $0 != ")" }
                listed.append((item.code, String(file)))
            } else if let option = Option(item.code) {
                let variable = item.text.split { "();".contains($0) }.last {
                    $0.hasPrefix("ZG_ENV_") || $0.hasPrefix(" ZG_ENV_")
                }
                globalOptions.append(
                    (option, variable.map { $0.trimmingCharacters(in: .whitespaces) }))
            }
        }
    }

    private static func page(_ text: String, file: String) -> Page {
        let title = text.prefix { $0 != "\n" }.drop { "# ".contains($0) }
        var page = Page(file: file, command: String(title.dropFirst("zg-env ".count)))
        page.options = items(text).compactMap { Option($0.code) }
        let codes = text.split(separator: "\n").last { $0.hasPrefix("[Exit codes]") } ?? ""
        page.exitCodes = codes.split { !$0.isNumber }.compactMap { Int32($0) }
        return page
    }

    /// The items of all lists that begin with code: that code, and the whole line.
    private static func items(_ text: String) -> [(code: String, text: String)] {
        text.split(separator: "\n").filter { $0.hasPrefix("- `") || $0.hasPrefix("- [`") }
            .compactMap { line in
                codeSpans(String(line)).first.map { ($0, String(line)) }
            }
    }

    /// The rows of all tables. An escaped bar belongs to its cell's text.
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
