internal import CommandLineKit
internal import JSON
internal import Release

/// `__manual`: writes the manual pages, for building packages.
struct ManualPages: Command {
    static let vaultUse = VaultUse(need: .never)
    static let spec = CommandSpec(
        ["__manual"], "Write the manual pages into a directory",
        arguments: [
            ArgumentSpec("DIRECTORY", .one, "Existing directory", completion: .directory)
        ], hidden: true)

    private let directory: String

    init(_ command: ParsedCommand) { directory = command.required("DIRECTORY") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let pages = ManPageGenerator(workspace.context.program, date: Release.date).pages()
        for page in pages {
            try PrivateFile.write(
                Array(page.text.utf8), to: "\(directory)/\(page.fileName)", replaces: true,
                durably: false)
        }
        return CommandResult(json: ["pages": .array(pages.map { .string($0.fileName) })])
    }
}
