internal import CommandLineKit
internal import JSON
internal import Vault

/// `project rename`: renames a project in the vault.
struct ProjectRename: Command {
    static let spec = CommandSpec(
        ["project", "rename"], "Rename a project in the vault",
        discussion: "The project on Vercel keeps its name; links use the project's ID.",
        arguments: [
            ArgumentSpec("NAME", .one, "The project", completion: .dynamic(.project)),
            ArgumentSpec("NEW", .one, "The new name"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = "project, was: string; dryRun: boolean"

    private let name: String
    private let new: String

    init(_ command: ParsedCommand) throws {
        name = command.required("NAME")
        new = command.required("NEW")
        try ProjectResolver.check(new)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        guard name != WebhookSecrets.projectName else {
            throw CommandError(
                .usage,
                "\(name) cannot be renamed: zg-env never pushes webhook secrets, and recognizes them by this project name.",
                hint: "Copy a secret to another project with: zg-env copy")
        }
        func position(_ index: VaultIndex) throws -> Int {
            guard let position = index.projects.firstIndex(where: { $0.name == name }) else {
                throw ProjectResolver.notFound(name, in: index)
            }
            guard name == new || index.project(named: new) == nil else {
                throw CommandError(
                    .conflict, "The vault already has a project \(new).")
            }
            return position
        }
        try workspace.session.keysForWriting { _ = try position($0) }
        _ = try position(try workspace.session.table())
        if !workspace.options.dryRun {
            try workspace.session.commit { transaction, _ in
                transaction.index.projects[try position(transaction.index)].name = new
            }
            workspace.note("Renamed the project \(name) to \(new).")
        }
        return CommandResult(json: [
            "project": .string(new), "was": .string(name),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}
