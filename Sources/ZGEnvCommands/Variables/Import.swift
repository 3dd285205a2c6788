internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

struct Import: Command {
    static let spec = CommandSpec(
        ["import"], "Import .env files into the vault",
        discussion: """
            Parses the files the way motdotla/dotenv does and reports every place where other parsers \
            disagree. Imports everything or nothing. If values are locked, import asks for the \
            passphrase on a terminal (not with --yes) so that it can skip unchanged values. \
            Without the passphrase, every existing key counts as updated. With --comments, comments \
            that look like assignments or contain a value from the file are still left out, because \
            comments can be read without the passphrase. --expand and --dialect next do \
            not use values from the environment.
            """,
        arguments: [
            ArgumentSpec(
                "FILE", .oneOrMore, "The files, or - for stdin; later ones win", completion: .file)
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "type", value: "TYPE", "Set the type on Vercel",
                form: .oneOf(["encrypted", "sensitive", "plain"])),
            OptionSpec(
                "dialect", value: "D", "Parse the files as dialect D",
                form: .oneOf(DotEnvDialect.allCases.map(\.rawValue))),
            OptionSpec(
                "on-conflict", value: "RULE",
                "What to do with existing keys (default overwrite)",
                form: .oneOf(ImportPlan.ConflictRule.allCases.map(\.rawValue))),
            OptionSpec(flag: "strict", "Reject files that parsers disagree about"),
            OptionSpec(flag: "comments", "Import the comments above keys"),
            OptionSpec(
                flag: "expand",
                "Replace $NAME and ${NAME:-default} with values from the same file"
            ),
            OptionSpec(
                flag: "remove",
                "Delete the files once their values have been read back from the vault"),
        ] + PushOption.options,
        examples: [
            .init("zg-env import .env -p web", "import a file for all targets"),
            .init(
                "zg-env import .env .env.local -p web --dry-run", "preview the import of two files"),
        ],
        exitCodes: ExitCode.ofVercel)

    private let paths: [String]
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private let reading: PlaintextSource.Options
    private let conflictRule: ImportPlan.ConflictRule
    private let isStrict: Bool
    private let removes: Bool
    private let afterwards: PushOption

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
        afterwards = PushOption(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try afterwards.check(workspace)
        guard paths.filter({ $0 == "-" }).count <= 1 else {
            throw CommandError(
                .usage, "stdin can be read only once.", hint: "Use - as FILE only once.")
        }
        guard !removes || paths.contains(where: { $0 != "-" }) else {
            throw CommandError(
                .usage, "--remove deletes files, and cannot delete stdin.",
                hint: "Leave out --remove, or name the file.")
        }
        if paths.contains("-") { try workspace.context.secretDescriptors.checkInput(for: "file") }
        let wanted = try options.scope()
        _ = try ProjectResolver(workspace).reference(warns: false)
        var keys = try workspace.session.keys(
            afterwards.tier(workspace, otherwise: workspace.session.unattendedTier))
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let (known, projectName) = try ProjectResolver(workspace).existingOrNew(in: index)
        let progress = WorkProgress(workspace)
        defer { progress.finish() }
        var source = PlaintextSource(reading)
        for path in paths {
            try source.read(path) { progress.update("Read \($0) variables…") }
        }
        try source.removeValuesFromComments()
        progress.finish()
        try report(source, workspace)
        guard !source.keys.isEmpty else {
            let files = paths.map { $0 == "-" ? "stdin" : $0 }.joined(separator: ", ")
            throw CommandError(.usage, "No variables found in \(files).")
        }
        if known == nil { try TypoCheck.check(project: projectName, in: index, workspace) }
        let advice = try known.flatMap { try SchemaAdvice.find(for: $0, in: index, workspace) }
        try check(source, advice, workspace)
        if let known {
            keys = try keysForComparison(with: known, of: index, source, keys, workspace)
        }
        let work = ImportWork(
            source: source, projectName: projectName, kind: kind, wanted: wanted,
            rule: conflictRule, time: workspace.context.now(),
            declared: advice?.items ?? [:],
            progress: { progress.update("Encrypted \($0) of \($1) variables…") })
        let plan: ImportPlan
        var written: [Variable] = []
        var failure: CommandError?
        if workspace.options.dryRun {
            plan = try work.planned(in: try workspace.session.opened(), with: keys)
            if known == nil { workspace.note("Would create project \(projectName).") }
        } else {
            (plan, written) = try workspace.session.update(with: keys) { transaction in
                let plan = try work.apply(to: &transaction)
                return (plan, transaction.index.variables)
            }
            progress.finish()
            if known == nil { workspace.note("Created project \(projectName).") }
            failure = try PlaintextFiles(paths, source: source, remove: removes)
                .finish(plan, workspace) {
                    try work.verify(try workspace.session.opened(), with: keys)
                }
        }
        if !plan.compared, !plan.keys(.updated).isEmpty {
            workspace.note(
                "Values are locked and were not compared: existing keys are reported as updated.")
        }
        if let kind {
            WeakerType.warn(
                plan.entries.map { .init(name: $0.key, scope: $0.scope, before: $0.before) },
                to: kind, workspace.context)
        }
        var result = result(plan, source, projectName, projectCreated: known == nil, workspace)
        result.failure = failure
        if workspace.options.dryRun {
            result = afterwards.planned(after: result, projectName)
            if removes { workspace.note("Would delete the files once the vault has their values.") }
        }
        if let known, !workspace.options.dryRun,
            let missing = try missing(in: known, wanted, workspace)
        {
            if let list = missing.list { workspace.note("\(list).") }
            result = result.with("stillMissing", .strings(missing.names))
        }
        if afterwards.pushes, !workspace.options.dryRun {
            result = try afterwards.push(
                Set(plan.entries.filter { $0.fate != .skipped }.map(\.key)), workspace,
                atHand: try atHand(plan, source, projectName, written, workspace), beside: result)
        }
        if result.failure == nil { DirectoryLink.offer(projectName, workspace, after: &result) }
        return result
    }

    /// Returns keys that open the values if a person can be asked for the passphrase and the vault
    /// has some of the keys: unchanged values then get no new version.
    private func keysForComparison(
        with project: VaultProject, of index: VaultIndex, _ source: PlaintextSource,
        _ keys: VaultKeys, _ workspace: Workspace
    ) throws -> VaultKeys {
        let options = workspace.options
        guard !keys.opensValues, !options.yes, !options.json, workspace.interaction.canConfirm
        else { return keys }
        let known = Set(index.variables(of: project.id).map(\.name))
        let count = source.keys.count { known.contains($0) }
        guard count > 0 else { return keys }
        workspace.note(
            "\(project.name) has \(count == 1 ? "1 of these variables" : "\(count) of these variables"). The passphrase lets import compare the values."
        )
        return try workspace.session.keys(.values)
    }

    /// Returns the imported values by record, for the push.
    ///
    /// - Parameter written: The vault's records after the import.
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

    /// Reports what does not fit the schema, and throws for it with `--strict`.
    private func check(
        _ source: PlaintextSource, _ advice: SchemaAdvice?, _ workspace: Workspace
    ) throws {
        guard let advice else { return }
        for key in source.keys {
            try advice.warn(about: key, workspace)
            guard let value = source.value(of: key) else { continue }
            try advice.check(value, of: key, isStrict: isStrict, workspace)
        }
    }

    /// Returns the required variables that the project still lacks in the targets of the import; nil
    /// without a schema.
    private func missing(
        in project: VaultProject, _ wanted: Scope?, _ workspace: Workspace
    ) throws -> MissingVariables? {
        let index = try workspace.session.index(.listing)
        let targets =
            wanted.map { $0.targets.names + $0.customEnvironments }
            ?? VaultLook(of: project, in: index, nil).targets
        return try MissingVariables(of: project, in: index, targets: targets, workspace)
    }

    /// Reports what is odd about the files, and throws for it with `--strict`.
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
                    "Dropped a line that looks like an assignment from the comment above \(key).")
            }
            if comment.valuesLeftOut > 0 {
                workspace.context.warn(
                    "comment-left-out",
                    "Dropped a line that contains a value from the file, in the comment above \(key)."
                )
            }
            if comment.text.utf8.count > VaultFormat.commentLimit {
                workspace.context.warn(
                    "comment-too-long",
                    "Dropped the comment above \(key): it is longer than 4 KiB.")
            }
        }
        try source.report(workspace, strict: isStrict)
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
        return CommandResult(
            json: .object(members),
            text: workspace.options.quiet ? "" : TerminalStyle(workspace.context).text(table))
    }
}
