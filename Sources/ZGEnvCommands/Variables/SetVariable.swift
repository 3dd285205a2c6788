internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import JSON
internal import Sealing
internal import Vault

struct SetVariable: Command {
    static let spec = CommandSpec(
        ["set"], "Create or change a variable",
        discussion: """
            Reads the value at a hidden prompt, or from stdin if stdin is not a terminal. Does not \
            accept the value as an argument, because other programs can read arguments. Works \
            while values are locked.
            """,
        arguments: [
            ArgumentSpec("KEY", .one, "The variable", completion: .dynamic(.variable))
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "type", value: "TYPE", "Set the type on Vercel",
                form: .oneOf(["encrypted", "sensitive", "plain"])),
            OptionSpec(
                "comment", value: "C", "Set a comment; an empty one removes it", allowsEmpty: true),
            RotationPeriod.option,
        ] + ValueInput.options + PushOption.options,
        exclusive: [["from-file", "generate", "prompt"]],
        examples: [
            .init("zg-env set DATABASE_URL -p web", "type the value at a hidden prompt"),
            .init("zg-env set TLS_KEY -p web -t production < key.pem", "read the value from stdin"),
            .init("zg-env set SESSION_KEY -p web --generate hex:32", "generate a random value"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel)

    private let key: String
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private let comment: String?
    private let period: String?
    private let input: ValueInput
    private let afterwards: PushOption

    /// Asks for the value of a variable.
    ///
    /// - Parameter scope: nil as without `-t`.
    init(_ key: String, in scope: Scope?) throws {
        self.key = key
        try VariableName.check(key)
        options = ScopeOptions(scope)
        (kind, comment, period) = (nil, nil, nil)
        input = ValueInput()
        afterwards = PushOption()
    }

    init(_ command: ParsedCommand) throws {
        key = command.required("KEY")
        try VariableName.check(key)
        options = ScopeOptions(command)
        kind = command.value("type").flatMap { VariableAttributes.Kind(name: $0) }
        comment = command.value("comment")
        period = command.value(RotationPeriod.option.name)
        input = ValueInput(command)
        afterwards = PushOption(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try afterwards.check(workspace)
        let wanted = try options.scope()
        let keys = try workspace.session.keys(
            afterwards.tier(workspace, otherwise: .index))
        let index = try workspace.session.index(.listing)
        let (known, projectName) = try ProjectResolver(workspace).existingOrNew(in: index)
        // Fails for an ambiguous scope before it asks for the value.
        _ = try scope(wanted, known.map { index.variables(of: $0.id, named: key) } ?? [])
        if !VariableName.isPortable(key) {
            workspace.context.warn(
                "name-not-portable",
                "\(key) is not a portable variable name: some shells, or Vercel, will reject it.")
        }
        if let warning = CodeLoadingName.warning(about: key) {
            workspace.context.warn(warning.code, warning.message)
        }
        try TypoCheck.check(key, projectName, wanted, in: index, workspace)
        let advice = try known.flatMap { try SchemaAdvice.find(for: $0, in: index, workspace) }
        try advice?.warn(about: key, workspace)
        let item = advice?.item(key)
        let period = try RotationPeriod.seconds(period)
        if let period, let known, !hasOtherOptions,
            let records = RotationPeriod.recordsWithoutNewValue(key, known, index, wanted)
        {
            return try RotationPeriod.keep(period, key, known, records, workspace)
        }
        if input.isTyped, let remark = item?.remark { workspace.note("\(key): \(remark)") }
        let value = try input.value(for: key, workspace)
        try advice?.check(value, of: key, isStrict: input.isStrict, workspace)
        if workspace.options.dryRun {
            return CommandResult(
                json: [
                    "project": .string(projectName), "key": .string(key), "dryRun": true,
                    "projectCreated": .bool(known == nil),
                    "push": .bool(afterwards.pushes),
                    "redeploy": .bool(afterwards.redeploys),
                ],
                text: "Would set \(DisplayText.safe(key)) in \(DisplayText.safe(projectName)).\n"
                    + afterwards.dryRunText(projectName, workspace))
        }
        let time = workspace.context.now()
        let outcome = try workspace.session.update(with: keys) { transaction in
            try store(value, projectName, wanted, item, time: time, in: &transaction)
        }
        if let period {
            try RotationPeriod.set(period, [outcome.variable.id], workspace)
        }
        try report(outcome, workspace)
        var result = CommandResult(json: outcome.json)
        result = try afterwards.push(
            [key], workspace,
            atHand: [
                outcome.variable.id: .init(version: outcome.variable.currentVersion, value: value)
            ],
            beside: result)
        if outcome.projectCreated, result.failure == nil {
            DirectoryLink.offer(projectName, workspace, after: &result)
        }
        return result
    }

    /// Whether the options ask for more than a period.
    private var hasOtherOptions: Bool {
        input.isNamed || afterwards.pushes || kind != nil || comment != nil
    }

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

    /// Returns the scope to set: the one given, that of the only record, or the default.
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
        _ value: SecretSlice, _ projectName: String, _ wanted: Scope?, _ item: SchemaItem?,
        time: UInt64, in transaction: inout VaultTransaction
    ) throws -> Outcome {
        let (project, projectCreated) = transaction.project(named: projectName, at: time)
        let records = transaction.index.variables(of: project.id, named: key)
        let scope = try scope(wanted, records)
        let all = transaction.index.variables.filter {
            $0.project == project.id && $0.name == key
        }
        let edit = transaction.assign(
            scope, to: key, of: project.id, records: all,
            kind: kind ?? item?.kind(in: scope) ?? .encrypted, at: time)
        if edit.isNew, let text = item?.comment {
            transaction.index.variables[edit.position].attributes.comment = text
        }
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

    private func report(_ outcome: Outcome, _ workspace: Workspace) throws {
        let (variable, project) = (outcome.variable, outcome.project)
        if outcome.projectCreated { workspace.note("Created project \(project.name).") }
        workspace.note(
            "Set \(variable.name) in \(project.name) for \(variable.attributes.scope.description), "
                + "version \(variable.currentVersion).")
        for touched in outcome.edit.touched {
            workspace.note(
                touched.after.isEmpty
                    ? "Replaced the value for \(touched.before.description)."
                    : "The previous value remains for \(touched.after.description).")
        }
    }
}
