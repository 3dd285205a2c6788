internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import Sealing
internal import Vault

struct Convert: Command {
    static let vaultUse = VaultUse(need: .never)
    static let spec = CommandSpec(
        ["convert"], "Print a .env file in another format",
        discussion: """
            Does not need a vault and does not store anything. Reports on stderr every place where \
            .env parsers disagree. The output is parsed again and compared with the original \
            values before it is written.
            """,
        arguments: [
            ArgumentSpec("FILE", .one, "The file, or - for stdin", completion: .file)
        ],
        options: [
            PlaintextSource.Options.dialect, ExportText.format,
            OptionSpec(flag: "strict", "Reject a file that parsers disagree about"),
            PlaintextSource.Options.expand, OutputPath.option, OutputPath.force,
        ],
        examples: [
            .init("zg-env convert .env --format json", "print one JSON object"),
            .init(
                "zg-env convert app.env --dialect docker -o .env",
                "convert a Docker env file to a .env file"),
        ],
        exitCodes: ExitCode.numbers(.conflict))
    static let fields = """
        Without -o, the converted file:
        NAME: string
        With -o or --dry-run:
        file: string | null; format: \(oneOf: DotEnvFormat.self); keys: [string]
        diagnostics: [{ \(PlaintextSource.Finding.fields) }]; dryRun: boolean
        """

    private let file: String
    private let format: DotEnvFormat
    private let path: String?
    private let replaces: Bool
    private let reading: PlaintextSource.Options
    private let isStrict: Bool

    init(_ command: ParsedCommand) throws {
        try OutputPath.checkOptions(command)
        file = command.required("FILE")
        format = command.choice("format") ?? .dotenv
        path = command.value("output")
        replaces = command.has("force")
        reading = .init(
            dialect: command.choice("dialect"), expands: command.has("expand"), isForVault: false)
        isStrict = command.has("strict")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if let path { try OutputPath.check(path, workspace) }
        if let path, !replaces, try workspace.context.files.exists(path) {
            throw CommandError(
                .conflict, "\(path) already exists.",
                hint: "Use --force to replace it, or choose another file.")
        }
        var source = PlaintextSource(reading)
        if file == "-" { try workspace.context.secretDescriptors.checkInput(for: "file") }
        try source.read(file)
        try source.report(workspace, strict: isStrict)
        let format = workspace.options.json && path == nil ? .json : self.format
        let values = source.keys.compactMap { source.value(of: $0) }
        let text = try ExportText(format: format, keys: source.keys) { index, body in
            values[index].withBytes(body)
        }
        ExportText.warn(
            text.unportable, remedy: "Use --format json, which can hold every value.", workspace)
        guard let path else {
            let output = workspace.context.output
            if workspace.options.dryRun { return result(source, format, workspace) }
            return CommandResult { try text.write(to: output) }
        }
        if !workspace.options.dryRun {
            try text.withBytes { try PrivateFile.write($0, to: path, replaces: replaces) }
            let count = DisplayText.count(source.keys.count, "variable")
            workspace.note("Wrote \(count) to \(path) in plain text.")
        }
        return result(source, format, workspace)
    }

    private func result(
        _ source: PlaintextSource, _ format: DotEnvFormat, _ workspace: Workspace
    ) -> CommandResult {
        CommandResult(
            json: [
                "file": .string(orNull: path), "format": .string(format.rawValue),
                "keys": .strings(source.keys),
                "diagnostics": .array(source.findings.map(\.json)),
                "dryRun": .bool(workspace.options.dryRun),
            ],
            text: workspace.options.dryRun
                ? source.keys.map { DisplayText.safe($0) + "\n" }.joined() : "")
    }
}
