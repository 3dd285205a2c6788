internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

/// `import`: brings whole `.env` files in, all or nothing.
struct Import: Command {
    static let spec = CommandSpec(
        ["import"], "Bring whole .env files into the vault", section: "Variables",
        discussion: """
            Reads the files as the program's own reader does (motdotla/dotenv) and reports every \
            place where other readers would disagree. All or nothing. With values locked nothing can \
            be compared, so keys that are there count as updated. Comments open without the \
            passphrase, so of those above keys (--comments) lines that look like settings or hold a \
            value of the file are left out. Nothing is taken from the environment, also not with --expand \
            or --dialect next, which expands as Next.js does.
            """,
        arguments: [
            ArgumentSpec(
                "FILE", .oneOrMore, "The files, or - for stdin; later ones win", completion: .file)
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "type", value: "TYPE", "How the platform keeps them",
                form: .oneOf(["encrypted", "sensitive", "plain"])),
            OptionSpec(
                "dialect", value: "D", "Read the files as this reader does",
                form: .oneOf(DotEnvDialect.allCases.map(\.rawValue))),
            OptionSpec(
                "on-conflict", value: "RULE", "What to do with keys that are there",
                form: .oneOf(ImportPlan.ConflictRule.allCases.map(\.rawValue))),
            OptionSpec(flag: "strict", "Refuse files that readers disagree about"),
            OptionSpec(flag: "comments", "Keep the comments above keys as those of variables"),
            OptionSpec(
                flag: "expand",
                "Replace $NAME and ${NAME:-default} by values of the same file, as dotenv-expand does"
            ),
            OptionSpec(flag: "remove", "Delete the files once the vault was read back"),
        ] + PushAfterwards.options,
        examples: [
            .init("zg-env import .env -p web", "bring in a file for all targets"),
            .init("zg-env import .env .env.local -p web --dry-run", "see what two would do"),
        ],
        exitCodes: ExitCode.ofPlatform)

    private let paths: [String]
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private let reading: PlaintextSource.Options
    private let conflictRule: ImportPlan.ConflictRule
    private let isStrict: Bool
    private let removes: Bool
    private let afterwards: PushAfterwards

    init(_ command: ParsedCommand) {
        paths = command.arguments("FILE")
        options = ScopeOptions(command)
        kind = command.value("type").flatMap { VariableAttributes.Kind(name: $0) }
        reading = .init(
            dialect: command.choice("dialect"), expands: command.has("expand"),
            takesComments: command.has("comments"))
        conflictRule = command.choice("on-conflict") ?? .overwrite
        isStrict = command.has("strict")
        removes = command.has("remove")
        afterwards = PushAfterwards(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try afterwards.check(workspace)
        guard paths.filter({ $0 == "-" }).count <= 1 else {
            throw CommandError(
                .usage, "stdin can be read once.", hint: "Nothing was imported.")
        }
        if paths.contains("-") { try workspace.context.secretDescriptors.checkInput(for: "file") }
        let wanted = try options.scope()
        let keys = try workspace.session.keys(
            afterwards.tier(workspace, otherwise: workspace.session.unattendedTier))
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let (known, projectName) = try ProjectResolver(workspace).existingOrNew(in: index)
        let progress = WorkProgress(workspace)
        defer { progress.finish() }
        var source = PlaintextSource(reading)
        for path in paths {
            try source.read(path) { progress.update("Read \($0) variables …") }
        }
        try source.takeValuesOutOfComments()
        progress.finish()
        try report(source, workspace)
        guard !source.keys.isEmpty else {
            let files = paths.map { $0 == "-" ? "stdin" : $0 }.joined(separator: ", ")
            throw CommandError(
                .usage, "\(files): there is no variable in it.",
                hint: "Nothing was imported.")
        }
        if known == nil { try Slip.check(project: projectName, in: index, workspace) }
        let work = ImportWork(
            source: source, projectName: projectName, kind: kind, wanted: wanted,
            rule: conflictRule, time: workspace.context.now(),
            progress: { progress.update("Sealed \($0) of \($1) variables …") })
        let plan: ImportPlan
        var written: [Variable] = []
        var failure: CommandError?
        if workspace.options.dryRun {
            plan = try work.planned(in: try workspace.session.opened(), with: keys)
        } else {
            (plan, written) = try workspace.session.update(with: keys) { transaction in
                let plan = try work.apply(to: &transaction)
                return (plan, transaction.index.variables)
            }
            progress.finish()
            failure = try PlaintextFiles(paths, source: source, remove: removes)
                .finish(plan, workspace) {
                    try work.verify(try workspace.session.opened(), with: keys)
                }
        }
        if !plan.compared, !plan.keys(.updated).isEmpty {
            workspace.note(
                "The values are locked, so nothing was compared: keys that were there count as updated."
            )
        }
        if known == nil { try noteNewProject(projectName, index, workspace) }
        var result = result(plan, source, projectName, projectCreated: known == nil, workspace)
        result.failure = failure
        if workspace.options.dryRun || !afterwards.pushes { return result }
        return try afterwards.push(
            Set(plan.entries.filter { $0.fate != .skipped }.map(\.key)), workspace,
            atHand: try atHand(plan, source, projectName, written, workspace), beside: result)
    }

    /// The values of the file by the records that hold them: what is pushed.
    ///
    /// - Parameter written: The records as this command left them.
    private func atHand(
        _ plan: ImportPlan, _ source: PlaintextSource, _ projectName: String,
        _ written: [Variable], _ workspace: Workspace
    ) throws -> [Identifier: PushValues.Held] {
        let index = try workspace.session.index(.listing)
        guard let project = index.project(named: projectName) else { return [:] }
        let records = Dictionary(
            grouping: written.filter { $0.project == project.id && $0.isLive }, by: \.name)
        var values: [Identifier: PushValues.Held] = [:]
        for entry in plan.entries where entry.fate != .skipped {
            let record = records[entry.key]?.first { $0.attributes.scope == entry.scope }
            if let record, let value = source.value(of: entry.key) {
                values[record.id] = .init(version: record.currentVersion, value: value)
            }
        }
        return values
    }

    /// Shows what the files' owner should know, and stops there with `--strict`.
    private func report(_ source: PlaintextSource, _ workspace: Workspace) throws {
        for key in source.keys {
            let byteCount = source.value(of: key)?.count ?? 0
            if byteCount == 0 {
                workspace.context.warn("empty-value", "\(key) has an empty value.")
            }
            if let warning = ValueWarning.sizeWarning(byteCount: byteCount, of: key) {
                workspace.context.warn(warning.code.rawValue, warning.message)
            }
            if let warning = CodeLoadingName.warning(about: key) {
                workspace.context.warn(warning.code, warning.message)
            }
            guard let comment = source.comments[key] else { continue }
            if comment.leftOut > 0 {
                workspace.context.warn(
                    "comment-left-out",
                    "A line of the comment above \(key) looks like a setting and was left out.")
            }
            if comment.valuesLeftOut > 0 {
                workspace.context.warn(
                    "comment-left-out",
                    "A line of the comment above \(key) holds a value of the file and was left out."
                )
            }
            if comment.text.utf8.count > VaultFormat.commentLimit {
                workspace.context.warn(
                    "comment-too-long",
                    "The comment above \(key) is longer than 4 KiB and was left out.")
            }
        }
        try source.report(workspace, strict: isStrict)
    }

    private func noteNewProject(
        _ name: String, _ index: VaultIndex, _ workspace: Workspace
    ) throws {
        let verb = workspace.options.dryRun ? "Would make" : "Made"
        workspace.note("\(verb) the project \(name).")
    }

    private func result(
        _ plan: ImportPlan, _ source: PlaintextSource, _ project: String, projectCreated: Bool,
        _ workspace: Workspace
    ) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(project)), .init("projectCreated", .bool(projectCreated)),
            .init("created", .strings(plan.keys(.created))),
            .init("updated", .strings(plan.keys(.updated))),
            .init("unchanged", .strings(plan.keys(.unchanged))),
            .init("skipped", .strings(plan.keys(.skipped))),
            .init("compared", .bool(plan.compared)),
            .init("diagnostics", .array(source.findings.map(\.json))),
        ]
        if workspace.options.dryRun { members.append(.init("dryRun", true)) }
        var table = Table([.init(""), .init("", canShrink: true), .init("", canShrink: true)])
        for entry in plan.entries {
            table.append([
                .init(entry.fate.rawValue, as: entry.fate == .skipped ? .warning : .plain),
                .init(entry.key), .init(entry.scope.description, as: .dim),
            ])
        }
        let look = OutputLook(workspace.context)
        return CommandResult(
            json: .object(members),
            text: workspace.options.quiet ? "" : table.text(width: look.width, style: look.style))
    }
}
