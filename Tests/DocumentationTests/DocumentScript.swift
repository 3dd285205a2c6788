import Foundation

/// The command lines of a page in Markdown, in the order in which they are to be run.
///
/// What is run:
///
/// - a block ` ```console `: lines that begin with `$ ` are typed, those with `> ` go on with them; the
///   lines below are what is shown. `…` stands for any text, on a line of its own for any lines.
///   A line such as `Passphrase:` is where something secret was typed, `[y/N] y` where a question was answered. A
///   command without a line below may show anything. `# exits 5` behind a command is its exit code,
///   else it is 0;
/// - a block ` ```sh `: one script, which ends with 0 unless the comment `<!-- exits: 1 -->` is before it;
/// - a block with `file=NAME` behind its language: becomes that file, in the directory where things run;
/// - the comment `<!-- run: … -->`: a script that the page does not show.
///
/// `$PACKAGE` is where the package lies, `$PASSPHRASE` the passphrase of all pages.
///
/// What is typed at a hidden prompt is the passphrase, or what the comment `<!-- types: … -->` before the
/// block says, line by line. A block after `<!-- not run: REASON -->` is not run.
struct DocumentScript {
    /// One command with all that belongs to it.
    struct Step: Equatable {
        /// Where it stands, counted from 1.
        var line: Int
        var command: String
        /// What is shown; nil where that is left open.
        var expected: [String]?
        var status: Int32
        /// What is typed, in the order of the prompts.
        var typed: [String]
    }

    /// A block that is not run.
    struct Omission: Equatable {
        var line: Int
        var reason: String
    }

    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var steps: [Step] = []
    private(set) var omissions: [Omission] = []
    /// Lines with a command of zg-env in a block that is neither run nor left out for a reason.
    private(set) var strays: [Int] = []

    private var types: [String] = []
    private var omission: String?
    private var status: Int32 = 0

    /// Reads a page.
    init(_ page: String) throws {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var index = 0
        while index < lines.count {
            let line = lines[index]
            if line.hasPrefix("<!-- ") {
                var text = line
                while !text.hasSuffix("-->"), index + 1 < lines.count {
                    index += 1
                    text += "\n" + lines[index]
                }
                try take(comment: text, at: index + 1)
            } else if line.hasPrefix("```") {
                let start = index
                while index + 1 < lines.count, !lines[index + 1].hasPrefix("```") { index += 1 }
                let end = index + 1
                guard end < lines.count else {
                    throw Problem(description: "line \(start + 1): the block has no end")
                }
                try take(block: line.dropFirst(3), Array(lines[start + 1..<end]), at: start + 2)
                index = end
            } else if line.hasPrefix("    "), Self.isCommand(line) {
                strays.append(index + 1)
            }
            index += 1
        }
    }

    private mutating func take(comment text: String, at line: Int) throws {
        let body = text.dropFirst(5).dropLast(3)
        guard let colon = body.firstIndex(of: ":") else { return }
        let value = body[body.index(after: colon)...].trimmed
        switch body[..<colon] {
        case "run": steps.append(Step(line: line, command: value, status: 0, typed: []))
        case "types": types = value.split(separator: "\n").map(\.trimmed)
        case "not run":
            guard value.count > 10 else {
                throw Problem(description: "line \(line): why is it not run?")
            }
            omission = value
        case "exits": status = Int32(value) ?? 0
        default: break
        }
    }

    private mutating func take(block head: Substring, _ lines: [String], at line: Int) throws {
        let words = head.split(separator: " ")
        defer { (types, omission, status) = ([], nil, 0) }
        if let omission {
            omissions.append(Omission(line: line, reason: omission))
            return
        }
        if let name = words.first(where: { $0.hasPrefix("file=") })?.dropFirst(5) {
            let text = lines.joined(separator: "\n")
            let command = "cat >'\(name)' <<'END OF FILE'\n\(text)\nEND OF FILE"
            steps.append(Step(line: line, command: command, status: 0, typed: []))
            return
        }
        switch words.first {
        case "console": try take(console: lines, at: line)
        case "sh":
            steps.append(
                Step(
                    line: line, command: "(set -e\n" + lines.joined(separator: "\n") + "\n)",
                    status: status, typed: types))
        default:
            for (offset, text) in lines.enumerated() where Self.isCommand(text) {
                strays.append(line + offset)
            }
        }
    }

    private mutating func take(console lines: [String], at line: Int) throws {
        var secrets = types[...]
        var step: Step?
        for (offset, text) in lines.enumerated() {
            if text.hasPrefix("$ ") {
                if let step { steps.append(step) }
                step = Step(
                    line: line + offset, command: String(text.dropFirst(2)), status: 0, typed: [])
            } else if text.hasPrefix("> "), step?.expected == nil, step != nil {
                step?.command += "\n" + text.dropFirst(2)
            } else {
                guard step != nil else {
                    throw Problem(description: "line \(line + offset): what shows this?")
                }
                let shown = step?.expected ?? []
                step?.expected = shown + [text]
                if Self.isHiddenPrompt(text) {
                    step?.typed.append(secrets.popFirst() ?? Self.passphrase)
                } else if let answer = Self.answer(text) {
                    step?.typed.append(answer)
                }
            }
        }
        if let step { steps.append(step) }
        for index in steps.indices where steps[index].line >= line {
            if let mark = steps[index].command.range(of: "# exits ") {
                steps[index].status = Int32(steps[index].command[mark.upperBound...].trimmed) ?? -1
            }
        }
    }

    /// The passphrase of all pages.
    static let passphrase = "correct horse battery staple"

    /// Whether a line is a prompt at which something secret is typed, which shows nothing.
    static func isHiddenPrompt(_ line: String) -> Bool {
        line.wholeMatch(of: #/(.*[Pp]assphrase|Value of .+|Token.*):/#) != nil
    }

    /// What was answered to the question on a line; nil for a line without.
    static func answer(_ line: String) -> String? {
        choices(line).map { String(line[$0.upperBound...]) }
    }

    /// The possible answers to the question on a line, such as `[y/N] `; nil for a line without.
    static func choices(_ line: String) -> Range<String.Index>? {
        line.ranges(of: #/\[[A-Za-z0-9](/[A-Za-z0-9])+\] /#).last
    }

    private static func isCommand(_ line: String) -> Bool {
        let text = line.trimmed
        return text.hasPrefix("zg-env ") || text.hasPrefix("$ ") || text.contains("| zg-env ")
    }
}

extension StringProtocol {
    /// Without blanks and line ends around it.
    var trimmed: String { String(trimmingCharacters(in: .whitespacesAndNewlines)) }
}
