internal import CommandLineKit
internal import Searching

/// `scan`: finds values of the vault in files, in what is staged, or in a stream.
struct Scan: Command {
    static let spec = CommandSpec(
        ["scan"], "Find values of the vault in files", section: "Variables",
        discussion: """
            Names file, line and key, and never the value. Values are also found in base64, URL-encoded, \
            with backslashes as in JSON, and a PEM block with its lines broken differently. Of the \
            values only digests under a random key are kept while it searches. What git ignores is left \
            out, and so are values that are short or common. Asks for the passphrase. Ends with 1 where \
            something was found, or could not be looked at.
            """,
        arguments: [
            ArgumentSpec(
                "DIR", .optional, "A directory or a file, or - for stdin", completion: .file)
        ],
        options: [
            OptionSpec(flag: "staged", "Look at what is staged in git, as git has it"),
            OptionSpec(flag: "all-projects", "Look for the values of every project"),
            OptionSpec(flag: "history", "Look for earlier versions and removed variables too"),
            OptionSpec(flag: "no-ignore", "Look at what git ignores too"),
            OptionSpec(
                "min-length", value: "BYTES", "Leave out values shorter than this",
                form: .integer(SearchTable.shortest...1_048_576)),
            OptionSpec(
                "except", value: "K", "Leave out these variables", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(flag: "install-hook", "Have git look before each commit of this repository"),
            OptionSpec(flag: "remove-hook", "Take that hook out"),
            OptionSpec(
                "hooks-path", value: "DIR",
                "Let the hook be here, where this repository's settings place it outside of it",
                completion: .directory),
        ],
        exclusive: [
            ["staged", "no-ignore"], ["staged", "install-hook", "remove-hook"],
            ["no-ignore", "install-hook", "remove-hook"], ["project", "all-projects"],
        ],
        examples: [
            .init("zg-env scan -p web", "look at this directory"),
            .init("zg-env scan --staged -p web", "look at what the next commit would hold"),
            .init("npm run build 2>&1 | zg-env scan - -p web", "look at what a program writes"),
            .init("zg-env scan --install-hook -p web", "look before each commit"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let root: String?
    private let choice: ScanChoice
    private let isStaged: Bool
    private let heedsIgnore: Bool
    private let installs: Bool
    private let removes: Bool
    private let hooksPath: String?

    init(_ command: ParsedCommand) throws {
        root = command.argument("DIR")
        choice = ScanChoice(command)
        isStaged = command.has("staged")
        heedsIgnore = !command.has("no-ignore")
        installs = command.has("install-hook")
        removes = command.has("remove-hook")
        hooksPath = command.value("hooks-path")
        guard root == nil || !(isStaged || installs || removes) else {
            throw CommandError(
                .usage, "A directory is named, and an option that looks at no directory.",
                hint: "Leave one of them out.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if root == "-" { try workspace.context.secretDescriptors.checkInput(for: "text") }
        guard installs || removes || hooksPath == nil else {
            throw CommandError(.usage, "--hooks-path goes with --install-hook or --remove-hook.")
        }
        if installs { return try CommitHook(choice, hooksPath: hooksPath, workspace).install() }
        if removes { return try CommitHook(choice, hooksPath: hooksPath, workspace).remove() }
        // What cannot be looked at is told before anybody is asked for a passphrase.
        let staged = isStaged ? try StagedBlobs(workspace.context) : nil
        if staged == nil, let root, root != "-" { try FileWalk.check(root) }
        let selection = try selected(workspace)
        let work = ScanWork(selection.table)
        let progress = WorkProgress(workspace)
        if let staged {
            try work.readStaged(staged)
        } else if root == "-" {
            try work.readStream(0)
        } else {
            let walk = try FileWalk(
                root ?? ".", ignoring: heedsIgnore ? IgnoredPaths(workspace) : nil)
            try work.readFiles(walk.entries, workspace.session.turns, progress)
        }
        return ScanReport(work, selection, isStaged: isStaged).result(workspace)
    }

    /// The values are open in here alone.
    private func selected(_ workspace: Workspace) throws -> ScanSelection {
        do {
            let selection = try ScanSelection(choice, workspace)
            workspace.session.forgetKeys()
            return selection
        } catch var error as CommandError
            where error.code == .locked && isStaged
        {
            // Mostly read by somebody whose commit was stopped.
            error.hint = "What is staged was not looked at. Unlock first, with: zg-env unlock"
            throw error
        }
    }
}
