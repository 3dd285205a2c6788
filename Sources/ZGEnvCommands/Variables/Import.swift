internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

struct Import: Command {
    static let changesVariables = true
    static let spec = CommandSpec(
        ["import"], "Import .env, JSON or YAML files into the vault",
        discussion: """
            Parses the files the way motdotla/dotenv does and reports every place where other \
            parsers disagree. Files that end in .json, .yaml or .yml hold names and values without \
            nesting. Imports everything or nothing. Without -t, the first line (# vercel-env: \
            target=…) or the file's name chooses the targets; files from Vercel's CLI are for \
            development. Asks about any other file; without a terminal, new variables get all \
            targets. Skips placeholders, and what Vercel's CLI adds to its files. --comments \
            leaves out comments that look like assignments or contain a value from the file, \
            because comments can be read without the passphrase. --expand and --dialect next use \
            no values from the environment.
            """,
        arguments: [
            ArgumentSpec(
                "FILE", .oneOrMore, "The files, or - for stdin; later ones win in the same target",
                completion: .file)
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            TypeOption.spec,
            PlaintextSource.Options.dialect,
            OptionSpec(
                "on-conflict", value: "RULE",
                "What to do with existing keys (default overwrite)",
                form: .oneOf(ImportPlan.ConflictRule.allCases.map(\.rawValue))),
            OptionSpec(
                flag: "strict",
                "Reject suspicious values and files that parsers disagree about"),
            EmptyValues.option,
            OptionSpec(flag: "comments", "Import the comments above keys"),
            OptionSpec(
                flag: "expand",
                "Replace $NAME and ${NAME:-default} with values from the same file"
            ),
            OptionSpec(
                flag: "remove",
                "Delete the files once their values have been read back from the vault"),
        ],
        examples: [
            .init("zg-env import .env -p web -t preview", "import a file for one target"),
            .init(
                "zg-env import .env .env.local -p web --dry-run", "preview the import of two files"),
            .init("zg-env import secrets.yaml -p web", "import flat YAML"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        project: string; projectCreated: boolean; created, updated, unchanged, skipped: [string]
        compared: boolean (whether values were compared)
        diagnostics: [{ \(PlaintextSource.Finding.fields) }]
        files: [{ file: string; chosenBy: \(oneOf: ImportTargets.Choice.self); \(Scope.fields) }]
        leftOut: {
            \(FileStandIns.Group.allCases.map(\.rawValue).joined(separator: ", ")): [string]
        }
        stillMissing?: [string]; dryRun?: true
        """

    private let paths: [String]
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private var reading: PlaintextSource.Options
    private let conflictRule: ImportPlan.ConflictRule
    private let isStrict: Bool
    private let allowsEmpty: Bool
    private let removes: Bool

    init(_ command: ParsedCommand) {
        paths = command.arguments("FILE")
        options = ScopeOptions(command)
        kind = TypeOption.kind(command)
        reading = .init(
            dialect: command.choice("dialect"), expands: command.has("expand"),
            takesComments: command.has("comments"))
        conflictRule = command.choice("on-conflict") ?? .overwrite
        isStrict = command.has("strict")
        allowsEmpty = command.has("allow-empty")
        removes = command.has("remove")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try check(workspace)
        let wanted = try options.scope()
        _ = try ProjectResolver(workspace).reference(warns: false)
        let keys = try workspace.session.keysForWriting()
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let (known, projectName) = try ProjectResolver(workspace).existingOrNew(in: index)
        let progress = WorkProgress(workspace)
        defer { progress.finish() }
        let variables = known.map { index.variables(of: $0.id) } ?? []
        var content = try read(
            besides: variables, wanted, in: projectName, progress, workspace)
        if known == nil { try TypoCheck.check(project: projectName, in: index, workspace) }
        let advice = try known.flatMap { try SchemaAdvice.find(for: $0, in: index, workspace) }
        try check(content, advice, workspace)
        if kind == .sensitive { SensitiveScope.warn(content.keys, workspace.context) }
        var work = ImportWork(
            content: content, projectName: projectName, kind: kind, rule: conflictRule,
            time: workspace.context.now(), declared: advice?.items ?? [:],
            empty: EmptyValues(
                "Nothing was imported.", "Import the empty values?", isAllowed: allowsEmpty),
            progress: { progress.update("Encrypted \($0) of \($1) variables…") })
        try content.targets.ask(
            workspace,
            matters: { work.changesOpenFiles(try workspace.session.opened(), keys) },
            environments: Self.environments(of: variables))
        work.content = content
        if work.content.items.contains(where: { $0.value.count == 0 }) {
            let vault = try workspace.session.opened()
            var empty = work.empty
            _ = try empty.asking(workspace) { empty in
                work.empty = empty
                return try work.planned(in: vault, with: keys)
            }
        }
        let plan: ImportPlan
        var written: [Variable] = []
        var failure: CommandError?
        if workspace.options.dryRun {
            plan = try work.planned(in: try workspace.session.opened(), with: keys)
            if known == nil { workspace.note("Would create project \(projectName).") }
        } else {
            (plan, written) = try workspace.session.commit { [work] transaction, news in
                try ChangedMeanwhile.check(
                    known, named: projectName, in: transaction.index, since: index)
                let plan = try work.apply(to: &transaction)
                news.add(report(plan, work.content, projectName, transaction.index))
                news.add(LinkableProject(name: projectName))
                return (plan, transaction.index.variables)
            }
            progress.finish()
            if known == nil { workspace.note("Created project \(projectName).") }
            failure = try PlaintextFiles(paths, content, remove: removes)
                .finish(plan, workspace) {
                    try work.verify(try workspace.session.opened(), with: keys)
                }
        }
        return try finished(plan, content, known, projectName, written, failure, workspace)
    }

    /// Shows the result, and sends it if `--push` was given.
    private func finished(
        _ plan: ImportPlan, _ content: ImportContent, _ known: VaultProject?,
        _ projectName: String, _ written: [Variable], _ failure: CommandError?,
        _ workspace: Workspace
    ) throws -> CommandResult {
        content.targets.report(workspace)
        if !plan.compared, !plan.keys(.updated).isEmpty {
            workspace.note(
                "Values are locked and were not compared: existing keys are reported as updated.")
        }
        if let kind {
            WeakerType.warn(
                plan.entries.map { .init(name: $0.key, scope: $0.scope, before: $0.before) },
                to: kind, workspace.context)
        }
        var result = result(plan, content, projectName, projectCreated: known == nil, workspace)
        result.failure = failure
        if workspace.options.dryRun {
            if removes { workspace.note("Would delete the files once the vault has their values.") }
        }
        if let known, !workspace.options.dryRun {
            let created = Set(plan.keys(.created))
            ReadableNotice.note(
                written.filter { $0.isLive && $0.project == known.id && created.contains($0.name) },
                in: known, workspace)
        }
        if let known, !workspace.options.dryRun,
            let missing = try missing(in: known, content, workspace)
        {
            if let list = missing.list { workspace.note("\(list).") }
            result = result.with("stillMissing", .strings(missing.names))
        }
        return result
    }

    /// Refuses options that do not go together.
    private func check(_ workspace: Workspace) throws {
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
    }

    /// Reads the files, and reports what is odd about them.
    private func read(
        besides variables: [Variable], _ wanted: Scope?, in project: String,
        _ progress: WorkProgress, _ workspace: Workspace
    ) throws -> ImportContent {
        var reading = reading
        reading.environments = Set(Self.environments(of: variables))
        var source = PlaintextSource(reading)
        for path in paths {
            try source.read(path) { progress.update("Read \($0) variables…") }
        }
        try source.removeValuesFromComments()
        progress.finish()
        let standard = ImportWork.standard(kind, try workspace.session.index(.listing))
        let content = ImportContent(
            source, try ImportTargets(of: source, wanted: wanted, standard: standard))
        let scopes = Dictionary(grouping: variables, by: \.name).compactMapValues {
            $0.count == 1 ? $0[0].attributes.scope : nil
        }
        try content.report(workspace, strict: isStrict) { scopes[$0] ?? standard }
        let files = paths.map { $0 == "-" ? "stdin" : $0 }.joined(separator: ", ")
        guard !source.keys.isEmpty else {
            throw CommandError(
                .usage, "No variables found in \(files).",
                hint: paths.contains("-") && reading.dialect == nil
                    ? "For JSON or YAML on stdin, add --dialect json or --dialect yaml." : nil)
        }
        guard !content.items.isEmpty else {
            throw CommandError(
                .usage, "Nothing to import: every variable in \(files) is skipped.")
        }
        return content
    }

    /// Returns the custom environments of some variables.
    private static func environments(of variables: [Variable]) -> [String] {
        Set(variables.flatMap(\.attributes.scope.customEnvironments)).sorted()
    }

    /// Returns the imported keys, with the values by record.
    private func report(
        _ plan: ImportPlan, _ content: ImportContent, _ projectName: String, _ index: VaultIndex
    ) -> WrittenVariables {
        let project = index.project(named: projectName)
        let records = Dictionary(
            grouping: index.variables.filter { $0.project == project?.id && $0.isLive },
            by: \.name)
        var written = WrittenVariables(keys: [])
        for entry in plan.entries where entry.fate != .skipped {
            written.keys.insert(entry.key)
            for record in records[entry.key]?.holding(entry.scope) ?? [] {
                written.atHand[record.id] = .init(
                    version: record.currentVersion, value: content.items[entry.number].value)
            }
        }
        return written
    }

    /// Reports what does not fit the schema, and throws for it with `--strict`.
    private func check(
        _ content: ImportContent, _ advice: SchemaAdvice?, _ workspace: Workspace
    ) throws {
        guard let advice else { return }
        var seen: Set<String> = []
        for item in content.items {
            if seen.insert(item.key).inserted { try advice.warn(about: item.key, workspace) }
            try advice.check(item.value, of: item.key, isStrict: isStrict, workspace)
        }
    }

    /// Returns the required variables that the project still lacks in the targets of the import; nil
    /// without a schema.
    private func missing(
        in project: VaultProject, _ content: ImportContent, _ workspace: Workspace
    ) throws -> MissingVariables? {
        let index = try workspace.session.index(.listing)
        let targets = content.targets.all ?? VaultLook(of: project, in: index, nil).targets
        return try MissingVariables(of: project, in: index, targets: targets, workspace)
    }

    private func result(
        _ plan: ImportPlan, _ content: ImportContent, _ project: String, projectCreated: Bool,
        _ workspace: Workspace
    ) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(project)), .init("projectCreated", .bool(projectCreated)),
            .init("created", .strings(plan.keys(.created))),
            .init("updated", .strings(plan.keys(.updated))),
            .init("unchanged", .strings(plan.keys(.unchanged))),
            .init("skipped", .strings(plan.keys(.skipped))),
            .init("compared", .bool(plan.compared)),
            .init("diagnostics", .array(content.source.findings.map(\.json))),
        ]
        members += content.members
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
