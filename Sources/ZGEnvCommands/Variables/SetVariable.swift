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

    private let command: ParsedCommand

    init(_ command: ParsedCommand) { self.command = command }

    func run(in workspace: Workspace) throws -> CommandResult {
        let key = command.argument("KEY") ?? ""
        try VariableName.check(key)
        try PushAfterwards(command).check(workspace)
        let scopeOptions = ScopeOptions(command)
        let wanted = try scopeOptions.scope()
        let kind = command.value("type").flatMap { VariableAttributes.Kind(name: $0) }
        let keys = try workspace.session.keys(
            PushAfterwards(command).tier(workspace, otherwise: .index))
        let index = try workspace.session.index(.listing)
        let resolver = ProjectResolver(workspace)
        let (known, projectName) = try resolver.existingOrNew(in: index)
        // Told before the value is asked for: what is ambiguous now will be so then.
        if let known {
            _ = try scope(wanted, kind, index.variables(of: known.id, named: key), key)
        } else {
            _ = try scope(wanted, kind, [], key)
        }
        if !VariableName.isPortable(key) {
            workspace.context.warn(
                "name-not-portable", "\(key) is no name that every shell and the platform take.")
        }
        if let warning = CodeLoadingName.warning(about: DisplayText.safe(key)) {
            workspace.context.warn(warning.code, warning.message)
        }
        try Slip.check(key, projectName, wanted, in: index, workspace)
        let period = try RotationPeriod.seconds(command)
        if let period, let known,
            let wanted = RotationPeriod.recordsAlone(
                key, known, index, wanted, command)
        {
            return try RotationPeriod.keep(period, key, known, wanted, workspace)
        }
        let value = try ValueInput(command).value(for: key, workspace)
        if workspace.options.dryRun {
            return CommandResult(
                json: [
                    "project": .string(projectName), "key": .string(key), "dryRun": true,
                    "projectCreated": .bool(known == nil),
                    "push": .bool(command.has("push")),
                    "redeploy": .bool(command.has("redeploy")),
                ],
                text: "Would set \(DisplayText.safe(key)) of \(DisplayText.safe(projectName)).\n"
                    + PushAfterwards(command).dryRunText(projectName, workspace))
        }
        let time = workspace.context.now()
        let outcome = try workspace.session.update(with: keys) { transaction in
            try store(
                value, key, projectName, wanted, kind, command.value("comment"),
                time: time, in: &transaction)
        }
        if let period {
            try RotationPeriod.set(period, [outcome.variable.id], workspace)
        }
        try tell(outcome, workspace)
        return try PushAfterwards(command).push(
            key, workspace,
            atHand: [
                outcome.variable.id: .init(version: outcome.variable.currentVersion, value: value)
            ],
            beside: CommandResult(json: outcome.json))
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
    private func scope(
        _ wanted: Scope?, _ kind: VariableAttributes.Kind?, _ records: [Variable], _ key: String
    ) throws -> Scope {
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
        _ value: SecretSlice, _ key: String, _ projectName: String, _ wanted: Scope?,
        _ kind: VariableAttributes.Kind?, _ comment: String?, time: UInt64,
        in transaction: inout VaultTransaction
    ) throws -> Outcome {
        let (project, projectCreated) = transaction.project(named: projectName, at: time)
        let records = transaction.index.variables(of: project.id, named: key)
        let scope = try scope(wanted, kind, records, key)
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
