/// The members of JSON objects, in the notation that `docs/commands/README.md` explains.
package struct FieldNotation {
    package indirect enum Form: Sendable {
        /// `string`, `number`, `boolean`, `time`, `null`, `true`, `false` or `object`, or a text.
        case word(String)
        case list(Form)
        case object([Field], comment: String)
        /// What a command prints, or an element of one of its members.
        case output(command: String, member: String?)
        case either([Form])
    }

    /// Members of one form.
    package struct Field: Sendable {
        package struct Name: Sendable {
            package let text: String
            package let isOptional: Bool
        }

        /// A name in capitals is any name.
        package let names: [Name]
        package let form: Form
        package let comment: String
    }

    /// An object that a command prints.
    package struct Output: Sendable {
        /// When it prints it; empty for the first or only one.
        package let heading: String
        package let fields: [Field]
    }

    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    package let outputs: [Output]

    /// Parses a text. Lines that end in a colon are headings.
    package init(_ text: String) throws {
        var outputs: [(heading: String, lines: [Substring])] = [("", [])]
        for line in text.split(separator: "\n") {
            if line.first?.isUppercase == true, line.last == ":" {
                outputs.append((String(line.dropLast()), []))
            } else {
                outputs[outputs.count - 1].lines.append(line)
            }
        }
        self.outputs = try outputs.filter { !$0.lines.isEmpty }.map {
            var parser = Parser($0.lines.joined(separator: "\n"))
            return Output(heading: $0.heading, fields: try parser.fields(until: nil))
        }
    }
}

/// Reads one output from its tokens: words, texts in quotes, comments in parentheses, and signs.
private struct Parser {
    private var tokens: [Substring]

    init(_ text: String) {
        tokens = text.matches(
            of: #/"[^"]*"|\([^)]*\)|\{zg-env [^}]*\}|[A-Za-z]+|[^\s]/#
        ).map { text[$0.range] }.reversed()
    }

    private mutating func take(_ token: Substring) -> Bool {
        guard tokens.last == token else { return false }
        tokens.removeLast()
        return true
    }

    private mutating func expect(_ token: Substring) throws {
        guard take(token) else { throw wrong("\(token) expected") }
    }

    private func wrong(_ what: String) -> FieldNotation.Problem {
        .init(description: "\(what) before: \(tokens.suffix(8).reversed().joined(separator: " "))")
    }

    private mutating func word() throws -> String {
        guard let token = tokens.last, token.allSatisfy(\.isLetter) else {
            throw wrong("A word expected")
        }
        return String(tokens.removeLast())
    }

    private mutating func comment() -> String {
        guard let token = tokens.last, token.hasPrefix("(") else { return "" }
        return String(tokens.removeLast().dropFirst().dropLast())
    }

    mutating func fields(until end: Substring?) throws -> [FieldNotation.Field] {
        var fields: [FieldNotation.Field] = []
        while end.map({ !take($0) }) ?? !tokens.isEmpty {
            var names: [FieldNotation.Field.Name] = []
            repeat {
                let name = try word()
                names.append(.init(text: name, isOptional: take("?")))
            } while take(",")
            try expect(":")
            let form = try form()
            fields.append(.init(names: names, form: form, comment: comment()))
            _ = take(";")
        }
        return fields
    }

    private mutating func form() throws -> FieldNotation.Form {
        var forms: [FieldNotation.Form] = []
        repeat { forms.append(try single()) } while take("|")
        return forms.count == 1 ? forms[0] : .either(forms)
    }

    private mutating func single() throws -> FieldNotation.Form {
        if take("[") {
            let form = try form()
            try expect("]")
            return .list(form)
        }
        if take("{") {
            let comment = comment()
            return .object(try fields(until: "}"), comment: comment)
        }
        guard let token = tokens.last else { throw wrong("A form expected") }
        if token.hasPrefix("{zg-env ") {
            let words = tokens.removeLast().dropFirst("{zg-env ".count).dropLast()
                .split(separator: ", ")
            return .output(
                command: String(words[0]), member: words.count > 1 ? String(words[1]) : nil)
        }
        if token.hasPrefix("\"") { return .word(String(tokens.removeLast())) }
        let word = try word()
        guard
            ["string", "number", "boolean", "time", "null", "true", "false", "object"]
                .contains(word)
        else { throw wrong("Unknown form \(word)") }
        return .word(word)
    }
}

extension FieldNotation.Output {
    /// The notation with one member, or several of one form, on a line.
    package var lines: [String] { fields.flatMap { $0.lines("") } }
}

extension FieldNotation.Output {
    /// The paths of all members, such as `.variables[].key`, but not of another command's.
    package var paths: [String] { fields.flatMap { $0.paths("") } }
}

extension FieldNotation.Field {
    fileprivate func paths(_ front: String) -> [String] {
        names.flatMap { name -> [String] in
            let path = "\(front).\(name.text)"
            return [path] + form.paths(path)
        }
    }
}

extension FieldNotation.Form {
    fileprivate func paths(_ front: String) -> [String] {
        switch self {
        case .word, .output: []
        case .list(let form): form.paths(front + "[]")
        case .object(let fields, _): fields.flatMap { $0.paths(front) }
        case .either(let forms): forms.flatMap { $0.paths(front) }
        }
    }
}

extension FieldNotation.Field {
    fileprivate func lines(_ indentation: String) -> [String] {
        let front = names.map { $0.text + ($0.isOptional ? "?" : "") }.joined(separator: ", ")
        let text = "\(front): \(form.text(indentation, comment))"
        let shown = text.contains("\n") || comment.isEmpty ? text : "\(text) (\(comment))"
        return (indentation + shown).split(separator: "\n").map(String.init)
    }
}

extension FieldNotation.Form {
    /// - Parameter comment: For the line on which an object opens.
    fileprivate func text(_ indentation: String, _ comment: String = "") -> String {
        switch self {
        case .word(let word): return word
        case .list(let form): return "[\(form.text(indentation, comment))]"
        case .output(let command, let member):
            return "{zg-env \(command)\(member.map { ", \($0)" } ?? "")}"
        case .either(let forms):
            return forms.map { $0.text(indentation, comment) }.joined(separator: " | ")
        case .object(let fields, let own):
            let note = own.isEmpty ? comment : own
            return
                (["{" + (note.isEmpty ? "" : " (\(note))")]
                + fields.flatMap { $0.lines(indentation + "  ") } + ["\(indentation)}"])
                .joined(separator: "\n")
        }
    }
}
