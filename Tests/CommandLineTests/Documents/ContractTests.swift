import CommandLineKit
import Foundation
import Testing

@testable import ZGEnvCommands

private let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
private let contractFile = package.appending(path: "../shared/cli.md")

/// The description of the commands against the contract's tables, word for word.
@Suite(
    "The commands of the contract",
    .enabled(
        if: FileManager.default.fileExists(atPath: contractFile.path),
        "the contract lies beside the repository, and not beside every checkout"))
struct ContractTests {
    private let contract: CommandContract
    private let commands = CommandTable.program.commands

    /// Commands of the contract that are still being made. Each is to be struck out once it is there.
    private static let unfinished: Set<String> = []
    private static let unfinishedOptions: Set<String> = ["reveal --remote"]

    init() throws {
        contract = CommandContract(
            try String(contentsOf: contractFile, encoding: .utf8),
            groups: Set(CommandTable.program.groups.flatMap(\.path) + ["history"]))
    }

    private func command(_ path: [String]) -> CommandSpec? {
        commands.first { $0.path == path || $0.aliases.contains(path) }
    }

    @Test func `every command of the tables is there`() {
        let paths = contract.rows.flatMap(\.paths)
        // A table that is read wrongly would ask for nothing.
        #expect(paths.count > 60)
        for path in paths where !Self.unfinished.contains(path.joined(separator: " ")) {
            #expect(command(path) != nil, "\(path.joined(separator: " "))")
        }
    }

    @Test func `every option of the tables is there, with the same value`() {
        var count = 0
        for row in contract.rows {
            for path in row.paths {
                guard let spec = command(path) else { continue }
                for wanted in row.options {
                    count += 1
                    let what: Comment = "\(spec.name) --\(wanted.name) \(wanted.value ?? "")"
                    let option = CommandTable.program.options(of: spec).first {
                        $0.name == wanted.name || $0.short.map(String.init) == wanted.name
                    }
                    if Self.unfinishedOptions.contains("\(spec.name) --\(wanted.name)") { continue }
                    guard let option else {
                        Issue.record(what)
                        continue
                    }
                    guard let value = wanted.value else { continue }
                    #expect(Self.takes(option, value), what)
                }
            }
        }
        #expect(count > 90)
    }

    @Test func `every global option is there, with its letter, value and variable`() {
        #expect(contract.globalOptions.count >= 12)
        for wanted in contract.globalOptions {
            let found = GlobalOptions.specs.first { $0.name == wanted.option.name }
            let what: Comment = "--\(wanted.option.name)"
            #expect(found != nil, what)
            #expect(found?.valueName == wanted.option.value, what)
            if let letter = wanted.letter { #expect(found?.short == letter, what) }
            if let variable = wanted.variable {
                #expect(found?.environmentVariable == variable, what)
            }
        }
    }

    /// Whether an option takes what the contract writes for its value: a name, words, or an example.
    private static func takes(_ option: OptionSpec, _ value: String) -> Bool {
        guard let name = option.valueName else { return false }
        if value.first?.isNumber == true {
            // Text where a word is taken too, such as never.
            return [.duration, .text].contains(option.form) && DurationText.duration(value) != nil
        }
        if value.contains("|") {
            let words = value.split(separator: "|").map(String.init)
            guard case .oneOf(let known) = option.form else {
                return words.contains { $0.contains { $0.isUppercase } }
            }
            return Set(words).isSubset(of: known)
        }
        // A single letter stands for any name.
        return value.count == 1 || name == value.replacingOccurrences(of: ",", with: "")
    }
}
