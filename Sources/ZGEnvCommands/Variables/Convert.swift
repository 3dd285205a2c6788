internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import Sealing
internal import Vault

/// `convert`: reads a plain file in any dialect and prints it in any format.
struct Convert: Command {
    static let vaultUse = VaultUse(need: .never)
    static let spec = CommandSpec(
        ["convert"], "Print a plain file in another format", section: "Variables",
        discussion: """
            Needs no vault and no passphrase, and stores nothing. Every place where readers of the \
            file would disagree is named on stderr. What is written is read back and compared first.
            """,
        arguments: [
            ArgumentSpec("FILE", .one, "The file, or - for stdin", completion: .file)
        ],
        options: [
            OptionSpec(
                "dialect", value: "D", "Read the file as this reader does",
                form: .oneOf(DotEnvDialect.allCases.map(\.rawValue))),
            OptionSpec(
                "format", value: "FORMAT", "What to write",
                form: .oneOf(DotEnvFormat.allCases.map(\.rawValue))),
            OptionSpec(flag: "strict", "Refuse a file that readers disagree about"),
            OptionSpec(
                flag: "expand", "Replace $NAME and ${NAME:-default} by values of the file"),
            OptionSpec(
                "output", short: "o", value: "FILE", "Write to this file", completion: .file),
            OptionSpec(flag: "force", "Replace a file that is there"),
        ],
        examples: [
            .init("zg-env convert .env --format json", "print one JSON object"),
            .init(
                "zg-env convert app.env --dialect docker -o .env", "make a .env file of docker's"),
        ],
        exitCodes: ExitCode.numbers(.conflict))

    private let file: String
    private let format: DotEnvFormat
    private let path: String?
    private let replaces: Bool
    private let reading: PlaintextSource.Options
    private let isStrict: Bool

    init(_ command: ParsedCommand) {
        file = command.required("FILE")
        format = command.choice("format") ?? .dotenv
        path = command.value("output")
        replaces = command.has("force")
        reading = .init(
            dialect: command.choice("dialect"), expands: command.has("expand"), isForVault: false,
            consequence: "Nothing was written.")
        isStrict = command.has("strict")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if let path { try ExportTarget.check(path, workspace) }
        if let path, !replaces, try workspace.context.files.exists(path) {
            throw CommandError(
                .conflict, "\(path) is there already.",
                hint: "It was left as it is. Say --force to replace it, or name another file.")
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
            text.unportable, remedy: "--format json carries every value.", workspace)
        guard let path else {
            let output = workspace.context.output
            if workspace.options.dryRun { return result(source, format, workspace) }
            return CommandResult { try text.write(to: output) }
        }
        if !workspace.options.dryRun {
            try text.withBytes { try PrivateFile.write($0, to: path, replaces: replaces) }
            workspace.note("Wrote \(source.keys.count) variables to \(path), in clear.")
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
