import CommandLineKit
import Foundation
import TestSupport
import Testing

@testable import ZGEnvCommands

/// The members that commands print with `--json`. The test runner compares each output with the
/// pages; these tests hold what it relies on.
@Suite("Fields of --json on the pages") struct FieldPageTests {
    private static let root = DocumentationTests.root

    @Test("are there for every command that people run, with options that it has")
    func complete() {
        let shown = CommandTable.commands.filter { !$0.spec.isHidden }
        #expect(shown.count > 80 && DocumentedFields.pages.count == shown.count + 1)
        for command in shown {
            #expect(
                DocumentedFields.pages[command.spec.name]?.isEmpty == false, "\(command.spec.name)")
            let options = (command.spec.options + GlobalOptions.specs).map { "--\($0.name)" }
            for option in command.fields.matches(of: /--[a-z][a-z-]+/) {
                #expect(options.contains(String(option.0)), "\(command.spec.name) \(option.0)")
            }
        }
    }

    @Test(
        "are compared with an output",
        arguments: [
            (#"{"project":"a","was":"b","dryRun":false}"#, []),
            (#"{"project":"a","was":"b","dryRun":false,"new":1}"#, ["new is there"]),
            (#"{"project":"a","dryRun":false}"#, ["was is missing"]),
            (#"{"project":"a","was":null,"dryRun":false}"#, ["was is null"]),
            (
                #"{"project":"a","was":"b","dryRun":true,"warnings":[{"code":"c"}]}"#,
                ["warnings[].message is missing"]
            ),
        ])
    func compared(_ output: String, _ problems: [String]) throws {
        let value = try JSONDocument(Array(output.utf8))
        let found = DocumentedFields.problems(of: value, printedBy: "project rename")
        #expect(Set(found) == Set(problems))
    }

    /// Members whose output no test has: it needs a log that Vercel cuts, or more events than are kept.
    private static let unseen: Set<String> = [
        "deployment logs .count", "deployment logs .code", "deployment logs .message",
        "notify run .untold", "notify run .cutLists",
    ]

    /// `Tests/run-all` runs this after all other tests, whose outputs the runner has collected.
    @Test(
        "are in an output of a test",
        .enabled(if: ProcessInfo.processInfo.environment["ZG_ENV_FIELDS_TO_CHECK"] != nil))
    func seen() throws {
        let file = try #require(ProcessInfo.processInfo.environment["ZG_ENV_FIELDS_TO_CHECK"])
        let seen = Set(
            try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
                .map { String($0).replacing("\t", with: " ") })
        // A member without a value with members is reported itself, and they are not.
        let objects = Set(seen.map { $0[..<($0.lastIndex(of: ".") ?? $0.startIndex)] })
        var missing: [String] = []
        for (command, outputs) in DocumentedFields.pages where command != "Commands" {
            for path in outputs.flatMap(\.paths).map({ "\(command) \($0)" }) {
                guard let dot = path.lastIndex(of: "."), path[dot...] != ".NAME",
                    path[..<dot].last == " " || objects.contains(path[..<dot]),
                    !Self.unseen.contains(path)
                else { continue }
                if !seen.contains(path) { missing.append(path) }
            }
        }
        #expect(missing.sorted() == [], "Nothing prints them, or no test runs it")
    }
}
