internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

/// `set`: creates or changes one variable.
struct SetVariable: Command {
    static let spec = CommandSpec(
        ["set"], "Create or change a variable", section: "Variables",
        discussion: """
            The value is typed at a hidden prompt, or read from stdin when that is not a terminal. \
            It never stands on the command line, where other programs could read it. Works while \
            values are locked.
            """,
        arguments: [
            ArgumentSpec("KEY", .one, "The variable", completion: .dynamic(.variable))
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "type", value: "TYPE", "How the platform keeps it",
                form: .oneOf(["encrypted", "sensitive", "plain"])),
            OptionSpec("comment", value: "C", "Keep a note for people", allowsEmpty: true),
            RotationPeriod.option,
        ] + ValueInput.options + PushAfterwards.options,
        exclusive: [["from-file", "generate", "prompt"]],
        examples: [
            .init("zg-env set DATABASE_URL -p web", "type the value at a hidden prompt"),
            .init("zg-env set TLS_KEY -p web -t production < key.pem", "take it from stdin"),
            .init("zg-env set SESSION_KEY -p web --generate hex:32", "make a random one"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofPlatform)

    private let key: String
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private let comment: String?
    private let period: String?
    private let input: ValueInput
    private let afterwards: PushAfterwards

    init(_ command: ParsedCommand) throws {
        key = command.required("KEY")
        try VariableName.check(key)
        options = ScopeOptions(command)
        kind = command.value("type").flatMap { VariableAttributes.Kind(name: $0) }
        comment = command.value("comment")
        period = command.value(RotationPeriod.option.name)
        input = ValueInput(command)
        afterwards = PushAfterwards(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try afterwards.check(workspace)
        let wanted = try options.scope()
        let keys = try workspace.session.keys(
            afterwards.tier(workspace, otherwise: .index))
        let index = try workspace.session.index(.listing)
        let (known, projectName) = try ProjectResolver(workspace).existingOrNew(in: index)
        // Told before the value is asked for: what is ambiguous now will be so then.
        _ = try scope(wanted, known.map { index.variables(of: $0.id, named: key) } ?? [])
        if !VariableName.isPortable(key) {
            workspace.context.warn(
                "name-not-portable", "\(key) is no name that every shell and the platform take.")
        }
        if let warning = CodeLoadingName.warning(about: key) {
            workspace.context.warn(warning.code, warning.message)
        }
        try Slip.check(key, projectName, wanted, in: index, workspace)
        let period = try RotationPeriod.seconds(period)
        if let period, let known, !bringsMore,
            let records = RotationPeriod.recordsAlone(key, known, index, wanted)
        {
            return try RotationPeriod.keep(period, key, known, records, workspace)
        }
        let value = try input.value(for: key, workspace)
        if workspace.options.dryRun {
            return CommandResult(
                json: [
                    "project": .string(projectName), "key": .string(key), "dryRun": true,
                    "projectCreated": .bool(known == nil),
                    "push": .bool(afterwards.pushes),
                    "redeploy": .bool(afterwards.redeploys),
                ],
                text: "Would set \(DisplayText.safe(key)) of \(DisplayText.safe(projectName)).\n"
                    + afterwards.dryRunText(projectName, workspace))
        }
        let time = workspace.context.now()
        let outcome = try workspace.session.update(with: keys) { transaction in
            try store(value, projectName, wanted, time: time, in: &transaction)
        }
        if let period {
            try RotationPeriod.set(period, [outcome.variable.id], workspace)
        }
        try tell(outcome, workspace)
        return try afterwards.push(
            key, workspace,
            atHand: [
                outcome.variable.id: .init(version: outcome.variable.currentVersion, value: value)
            ],
            beside: CommandResult(json: outcome.json))
    }

    /// Whether the options say more than a period.
    private var bringsMore: Bool {
        input.isNamed || afterwards.pushes || kind != nil || comment != nil
    }

    /// What was done.
    private struct Outcome {
        let project: VaultProject
        let projectCreated: Bool
        let variable: Variable
        let edit: RecordEdit

        var json: JSONValue {
            let front: [JSONValue.Member] = [
                .init("project", .string(project.name)),
                .init("projectCreated", .bool(projectCreated)),
                .init("created", .bool(edit.isNew)),
                .init("key", .string(variable.name)),
                .init("type", .string(variable.attributes.kind.name)),
            ]
            let back: [JSONValue.Member] = [
                .init("version", .integer(Int64(clamping: variable.currentVersion))),
                .init(
                    "touched",
                    .array(
                        edit.touched.map {
                            [
                                "before": .string($0.before.description),
                                "after": $0.after.isEmpty ? .null : .string($0.after.description),
                            ]
                        })),
            ]
            return .object(front + variable.attributes.scope.members + back)
        }
    }

    /// The scope to set: the one named, the only record's, or the default of a new one.
    private func scope(_ wanted: Scope?, _ records: [Variable]) throws -> Scope {
        let scope: Scope
        if let wanted {
            scope = wanted
        } else if records.count > 1 {
            throw RecordSelection.ambiguous(key, records)
        } else if let only = records.first {
            scope = only.attributes.scope
        } else {
            scope = Scope(targets: kind == .sensitive ? [.production, .preview] : .all)
        }
        try SensitiveScope.check(scope, kind, among: records)
        return scope
    }

    private func store(
        _ value: SecretSlice, _ projectName: String, _ wanted: Scope?, time: UInt64,
        in transaction: inout VaultTransaction
    ) throws -> Outcome {
        let (project, projectCreated) = transaction.project(named: projectName, at: time)
        let records = transaction.index.variables(of: project.id, named: key)
        let scope = try scope(wanted, records)
        let all = transaction.index.variables.filter {
            $0.project == project.id && $0.name == key
        }
        let edit = transaction.assign(
            scope, to: key, of: project.id, records: all, kind: kind ?? .encrypted, at: time)
        if let kind { transaction.index.variables[edit.position].attributes.kind = kind }
        if let comment {
            transaction.index.variables[edit.position].attributes.comment =
                comment.isEmpty ? nil : comment
        }
        try value.withBytes { bytes in
            _ = try transaction.store(bytes, forVariableAt: edit.position, at: time)
        }
        return Outcome(
            project: project, projectCreated: projectCreated,
            variable: transaction.index.variables[edit.position], edit: edit)
    }

    private func tell(_ outcome: Outcome, _ workspace: Workspace) throws {
        let (variable, project) = (outcome.variable, outcome.project)
        if outcome.projectCreated { workspace.note("Made the project \(project.name).") }
        workspace.note(
            "Set \(variable.name) of \(project.name) for \(variable.attributes.scope.description), "
                + "version \(variable.currentVersion).")
        for touched in outcome.edit.touched {
            workspace.note(
                touched.after.isEmpty
                    ? "The value for \(touched.before.description) was replaced by it."
                    : "The other value stays for \(touched.after.description).")
        }
    }
}
