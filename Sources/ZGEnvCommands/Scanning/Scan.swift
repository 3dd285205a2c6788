internal import CommandLineKit
internal import Searching

struct Scan: Command {
    static let spec = CommandSpec(
        ["scan"], "Search files for values from the vault",
        discussion: """
            Reports file, line and key, never the value. Also finds values that are \
            base64-encoded, URL-encoded or escaped as in JSON, and PEM blocks with different line \
            breaks. During the search, memory holds only keyed digests of the values. Skips files \
            that git ignores, values that are short or common, and those of variables that build \
            tools publish, such as NEXT_PUBLIC_*. --history adds earlier values from the vault; \
            git's own history is not searched (see the examples). Asks for the passphrase unless \
            the vault is unlocked. Exits with 1 if anything is found or cannot be scanned.
            """,
        arguments: [
            ArgumentSpec(
                "DIR", .optional, "A directory or file, or - for stdin (default: .)",
                completion: .file)
        ],
        options: [
            OptionSpec(flag: "staged", "Scan the staged content instead of files"),
            OptionSpec(flag: "all-projects", "Search for the values of every project"),
            OptionSpec(flag: "history", "Also search for the earlier values that the vault keeps"),
            OptionSpec(flag: "no-ignore", "Also scan files that git ignores"),
            OptionSpec(
                "min-length", value: "BYTES", "Skip values shorter than BYTES",
                form: .integer(SearchTable.shortest...1_048_576)),
            OptionSpec(
                "except", value: "K", "Skip these variables because they are not secret",
                repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(flag: "install-hook", "Install a pre-commit hook in this repository"),
            OptionSpec(flag: "remove-hook", "Remove the pre-commit hook"),
            OptionSpec(
                "hooks-path", value: "DIR",
                "Allow a hook in directory DIR outside the repository",
                completion: .directory),
        ],
        exclusive: [
            ["staged", "no-ignore"], ["staged", "install-hook", "remove-hook"],
            ["no-ignore", "install-hook", "remove-hook"], ["project", "all-projects"],
        ],
        examples: [
            .init("zg-env scan -p web", "scan this directory"),
            .init("zg-env scan --staged -p web", "scan the staged content"),
            .init("npm run build 2>&1 | zg-env scan - -p web", "scan the output of a program"),
            .init(
                "git log -p --all | zg-env scan - --history -p web", "scan git's history"),
            .init("zg-env scan --install-hook -p web", "scan before each commit"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = """
        \(ScanReport.fields)
        With --install-hook:
        path, hook: string; installed, dryRun: boolean
        """

    private let root: String?
    private let choice: ScanOptions
    private let isStaged: Bool
    private let respectsIgnore: Bool
    private let installs: Bool
    private let removes: Bool
    private let hooksPath: String?

    init(_ command: ParsedCommand) throws {
        root = command.argument("DIR")
        choice = ScanOptions(command)
        isStaged = command.has("staged")
        respectsIgnore = !command.has("no-ignore")
        installs = command.has("install-hook")
        removes = command.has("remove-hook")
        hooksPath = command.value("hooks-path")
        guard root == nil || !(isStaged || installs || removes) else {
            throw CommandError(
                .usage, "DIR cannot be combined with --staged, --install-hook or --remove-hook.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if root == "-" { try workspace.context.secretDescriptors.checkInput(for: "text") }
        guard installs || removes || hooksPath == nil else {
            throw CommandError(.usage, "--hooks-path needs --install-hook or --remove-hook.")
        }
        if installs { return try CommitHook(choice, hooksPath: hooksPath, workspace).install() }
        if removes { return try CommitHook(choice, hooksPath: hooksPath, workspace).remove() }
        // Reports paths that cannot be scanned before it asks for the passphrase.
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
                root ?? ".", ignoring: respectsIgnore ? IgnoredPaths(workspace) : nil)
            try work.readFiles(walk.entries, workspace.session.turns, progress)
        }
        return ScanReport(work, selection, isStaged: isStaged, hasHistory: choice.history)
            .result(workspace)
    }

    /// Opens the values, and drops the keys when it returns.
    private func selected(_ workspace: Workspace) throws -> ScanSelection {
        do {
            let selection = try ScanSelection(choice, workspace)
            workspace.session.dropKeys()
            return selection
        } catch var error as CommandError
            where error.code == .locked && isStaged
        {
            // Usually read by someone whose commit was rejected.
            error.hint = "The staged content was not scanned. Unlock first with: zg-env unlock"
            throw error
        }
    }
}
