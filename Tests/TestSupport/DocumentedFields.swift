import Foundation
import Synchronization
import Testing

/// Compares what `zg-env` prints with `--json` in the tests with the members on each command's page.
package enum DocumentedFields {
    /// The outputs of each page, by the command's name.
    package static let pages: [String: [FieldNotation.Output]] = {
        let root =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path + "/docs/commands/"
        var pages: [String: [FieldNotation.Output]] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [] {
            guard let text = try? String(contentsOfFile: root + name, encoding: .utf8),
                let title = text.firstMatch(of: /(?m)^# (?:zg-env )?(.+)$/),
                let section = text.components(separatedBy: "\n## Fields of `--json`\n").last
            else { continue }
            let blocks = section.components(separatedBy: "```text\n").dropFirst()
            pages[String(title.1)] = blocks.compactMap { block in
                let fields = block.components(separatedBy: "\n```")[0]
                return (try? FieldNotation(fields))?.outputs.first
            }
        }
        return pages
    }()

    private static let firstWords = Set(pages.keys.compactMap { $0.split(separator: " ").first })

    /// What the output of any command can have.
    private static let common = pages["Commands"]?.first?.fields ?? []

    /// A file for the members of all outputs, as `command` tab `path`.
    private static let collection = ProcessInfo.processInfo.environment["ZG_ENV_FIELDS_SEEN"]
    private static let seen = Mutex<Set<String>>([])

    private static func collect(_ value: JSONDocument, at path: String, of command: String) {
        switch value {
        case .array(let elements):
            for element in elements { collect(element, at: path + "[]", of: command) }
        case .object(let members):
            for (name, value) in members {
                collect(value, at: "\(path).\(name)", of: command)
                let line = "\(command)\t\(path).\(name)\n"
                guard let collection, seen.withLock({ $0.insert(line).inserted }),
                    let file = unsafe fopen(collection, "a")
                else { continue }
                unsafe fputs(line, file)
                unsafe fclose(file)
            }
        default: break
        }
    }

    /// Records an issue if a command's output has another form than its page says.
    static func check(_ runner: ProgramRunner, _ result: ProgramResult) {
        let words = runner.arguments.prefix { $0 != Array("--".utf8) }
            .map { String(decoding: $0, as: UTF8.self) }
        guard runner.path.hasSuffix("/zg-env"), words.contains("--json"),
            !result.standardOutput.isEmpty,
            // Global options may precede the command. An alias has no page.
            let start = words.firstIndex(where: { firstWords.contains($0[...]) }),
            let command = [2, 1].map({ words[start...].prefix($0).joined(separator: " ") })
                .first(where: { pages[$0] != nil })
        else { return }
        // Some tests end the program, or its output, in the middle of a line.
        let lines = result.standardOutput.split(separator: 0x0A)
        for value in lines.compactMap({ try? JSONDocument(Array($0)) }) {
            collect(value, at: "", of: command)
            for problem in problems(of: value, printedBy: command) {
                Issue.record(
                    "zg-env \(command): \(problem), which its page does not say: \(words.prefix(6))"
                )
            }
        }
    }

    /// Returns how a value differs from what a command's page says; empty if it does not.
    package static func problems(of value: JSONDocument, printedBy command: String) -> [String] {
        let forms = (pages[command] ?? []).map { output in
            let own = Set(output.fields.flatMap(\.names).map(\.text))
            let others = common.filter { own.isDisjoint(with: $0.names.map(\.text)) }
            return FieldNotation.Form.object(output.fields + others, comment: "")
        }
        return problems(of: value, at: "", as: .either(forms))
    }

    private static func problems(
        of value: JSONDocument, at path: String, as form: FieldNotation.Form
    ) -> [String] {
        switch (form, value) {
        case (.either(let forms), _):
            let all = forms.map { problems(of: value, at: path, as: $0) }
            return all.min { $0.count < $1.count } ?? ["\(path) has no form"]
        case (.list(let form), .array(let elements)):
            return elements.flatMap { problems(of: $0, at: path + "[]", as: form) }
        case (.object(let fields, _), .object(let members)):
            return problems(of: members, at: path.isEmpty ? "" : path + ".", as: fields)
        case (.output(let command, nil), .object):
            return problems(of: value, printedBy: command).map { "\(path).\($0)" }
        case (.output(let command, let member?), .object):
            let forms = (pages[command] ?? []).flatMap(\.fields).compactMap { field in
                if case .list(let form) = field.form, field.names.map(\.text) == [member] {
                    form
                } else {
                    nil
                }
            }
            return problems(of: value, at: path, as: .either(forms))
        case (.word(let word), _) where value.has(word): return []
        // Counts more than a member, so that another form of the same kind explains the difference.
        default: return Array(repeating: "\(path) is \(value.shortened)", count: 10)
        }
    }

    private static func problems(
        of members: [String: JSONDocument], at path: String, as fields: [FieldNotation.Field]
    ) -> [String] {
        var (rest, found) = (members, [String]())
        for field in fields {
            for name in field.names {
                if name.text.allSatisfy(\.isUppercase) {
                    for (member, value) in rest {
                        found += problems(of: value, at: path + member, as: field.form)
                    }
                    rest = [:]
                } else if let value = rest.removeValue(forKey: name.text) {
                    found += problems(of: value, at: path + name.text, as: field.form)
                } else if !name.isOptional {
                    found.append("\(path)\(name.text) is missing")
                }
            }
        }
        return found + rest.keys.sorted().map { "\(path)\($0) is there" }
    }
}

extension JSONDocument {
    /// Whether the value has a form without parts.
    fileprivate func has(_ word: String) -> Bool {
        switch (self, word) {
        case (.null, "null"), (.bool(true), "true"), (.bool(false), "false"), (.bool, "boolean"),
            (.integer, "number"), (.number, "number"), (.string, "string"), (.object, "object"):
            true
        case (.string(let text), "time"):
            text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil
        case (.string(let text), _): word == "\"\(text)\""
        default: false
        }
    }

    fileprivate var shortened: String {
        switch self {
        case .array: "an array"
        case .object: "an object"
        default: "\(self)"
        }
    }
}
