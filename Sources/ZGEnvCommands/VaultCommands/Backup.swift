internal import CommandLineKit
internal import JSON
internal import Vault

/// `backup`: writes a verified copy of the vault.
struct Backup: Command {
    static let spec = CommandSpec(
        ["backup"], "Write a verified copy of the vault",
        discussion: """
            The copy is encrypted like the vault and opens with the current passphrases and recovery codes: \
            changing them later does not affect the copy. The copy is read back and checked before it \
            is renamed to FILE.
            """,
        arguments: [ArgumentSpec("FILE", .one, "The copy to write", completion: .file)],
        options: [OptionSpec(flag: "force", "Replace an existing file")],
        examples: [
            .init("zg-env backup /media/stick/vault.zgv", "copy the vault to a USB stick")
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields =
        "file: string; generation, bytes, versions: number; valuesOpened: boolean; dryRun?: true"

    private let path: String
    private let replaces: Bool

    init(_ command: ParsedCommand) {
        path = command.required("FILE")
        replaces = command.has("force")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (session, context) = (workspace.session, workspace.context)
        let vault = try session.opened()
        guard !FileKind.areSame(path, vault.path), !FileKind.areSame(path, vault.path + ".lock")
        else {
            throw CommandError(
                .usage, "\(path) is the vault itself.", hint: "Choose another file.")
        }
        try OutputPath.checkIsNotVaultFile(path, workspace)
        let taken = CommandError(
            .conflict, "\(path) already exists.",
            hint: "Use --force to replace it, or choose another file.")
        if FileKind.isTaken(path) {
            guard replaces else { throw taken }
            // A device or a pipe would be replaced by a file, and a link would lose its target.
            guard FileKind.isRegularItself(path) else {
                throw CommandError(
                    .usage,
                    "\(path) is not a regular file, so it was not replaced.",
                    hint: "Choose another file.")
            }
        }
        let keys = try session.bestKeysWithoutPrompt()
        let inspection: VaultInspection
        if workspace.options.dryRun {
            inspection = try vault.inspection(with: keys)
            try inspection.throwFirstProblem()
        } else {
            do {
                inspection = try vault.writeCopy(
                    to: path, in: context.files, replaces: replaces, keys: keys)
            } catch let error as VaultError where error.code == .exists {
                throw taken
            } catch let error as VaultError where error.code == .notFound {
                throw CommandError(
                    .notFound, CommandError.sentence(error.reason),
                    hint: "Create the directory first, or choose another file.")
            }
            workspace.note("Wrote and checked \(path), generation \(vault.header.generation).")
        }
        var members: [JSONValue.Member] = [
            .init("file", .string(path)),
            .init("generation", .integer(Int64(clamping: vault.header.generation))),
            .init("bytes", .integer(Int64(clamping: inspection.byteCount))),
            .init("versions", .integer(Int64(inspection.versionCount))),
            .init("valuesOpened", .bool(inspection.opensValues)),
        ]
        if workspace.options.dryRun { members.append(.init("dryRun", true)) }
        let text =
            workspace.options.dryRun ? "Would write \(DisplayText.safe(path)).\n" : ""
        return CommandResult(json: .object(members), text: text)
    }
}
