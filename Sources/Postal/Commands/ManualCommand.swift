internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Release

/// `__manual`: writes the manual pages for packages.
enum ManualCommand: PostalCommand {
    static let spec = CommandSpec(
        ["__manual"], "Write the manual pages into a directory",
        arguments: [
            ArgumentSpec("DIRECTORY", .one, "An existing directory", completion: .directory)
        ], hidden: true)

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        let directory = command.argument("DIRECTORY") ?? "."
        // Section 8, because `zg-env postal status` has the page zg-env-postal-status(1).
        let pages = ManPageGenerator(PostalTable.program, section: 8, date: Release.date)
            .pages()
        for page in pages {
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
            let file = unsafe open("\(directory)/\(page.fileName)", flags, 0o644)
            guard file >= 0 else {
                throw PostalError(.failed, "Cannot write \(page.fileName) to the directory.")
            }
            defer { Glibc.close(file) }
            try OutputStream.write(page.text, to: file)
        }
        return PostalResult(
            json: ["pages": .array(pages.map { .string($0.fileName) })], text: "")
    }
}
