import CommandLineKit
import Foundation
import Testing

@testable import ZGEnvCommands

/// The pages are the commands' contract: scripts rely on their names, options, variables and exit
/// codes.
@Suite("The contract of the commands")
struct ContractTests {
    private let contract: CommandContract
    private let program = CommandTable.program

    init() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        contract = try CommandContract(documents: package.appending(path: "docs"))
    }

    private func command(_ name: String) -> CommandSpec? {
        program.commands.first { $0.name == name && !$0.isHidden }
    }

    @Test func `the descriptions of the commands have no errors`() {
        #expect(program.problems() == [])
    }

    @Test func `every page belongs to a command, and the index lists exactly the pages`() {
        // A table that is parsed wrongly would demand nothing.
        #expect(contract.pages.count > 60)
        for page in contract.pages { #expect(command(page.command) != nil, "\(page.file)") }
        let shown = program.commands.filter { !$0.isHidden }.map(\.name).sorted()
        #expect(contract.pages.map(\.command).sorted() == shown)
        #expect(contract.listed.map(\.command).sorted() == shown)
        for (name, file) in contract.listed {
            #expect(contract.pages.contains { $0.command == name && $0.file == file }, "\(file)")
        }
    }

    @Test func `every documented option exists, with its letter and value`() {
        #expect(contract.pages.map(\.options.count).reduce(0, +) > 150)
        for page in contract.pages {
            guard let spec = command(page.command) else { continue }
            let options = spec.options.filter { !$0.isHidden }.map { Self.written($0) }
            #expect(page.options == options, "\(page.file)")
        }
    }

    @Test func `every global option exists, with its letter, value and variable`() {
        let options = GlobalOptions.specs.filter { !$0.isHidden }
        #expect(options.count >= 12)
        #expect(contract.globalOptions.map(\.option) == options.map { Self.written($0) })
        #expect(contract.globalOptions.map(\.variable) == options.map(\.environmentVariable))
    }

    /// One table says what each code means; every page and error uses it.
    @Test func `every exit code exists, with its word`() {
        let words = Dictionary(contract.exitCodes.map { ($0.code, $0.word) }) { first, _ in first }
        for code in ExitCode.allCases {
            #expect(words[code.rawValue] == .some(code.name), "\(code)")
        }
        for page in contract.pages {
            #expect(page.exitCodes.first == 0, "\(page.file)")
            for code in page.exitCodes { #expect(words[code] != nil, "\(page.file): \(code)") }
        }
    }

    private static func written(_ option: OptionSpec) -> CommandContract.Option? {
        CommandContract.Option(option.usage)
    }
}
