internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import JSON
internal import Sealing
internal import SharedProjects
internal import Vault

struct SetVariable: Command {
    static let changesVariables = true
    static let spec = CommandSpec(
        ["set"], "Create or change variables",
        discussion: """
            Prompts for the value without showing it, or reads it from stdin if stdin is not a \
            terminal. Does not accept the value as an argument, because other programs can read \
            arguments. The values of several keys are typed or \
            generated one by one, and stored together.
            """,
        arguments: [VariableName.arguments],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            TypeOption.spec,
            OptionSpec(
                "comment", value: "C", "Set a comment; an empty one removes it", allowsEmpty: true),
            RotationPeriod.option,
        ] + ValueInput.options,
        exclusive: [["from-file", "generate", "prompt"]],
        examples: [
            .init("zg-env set DATABASE_URL -p web", "type the value at a prompt"),
            .init("zg-env set TLS_KEY -p web -t production < key.pem", "read the value from stdin"),
            .init("zg-env set SESSION_KEY -p web --generate hex:32", "generate a random value"),
            .init("zg-env set DB_USER DB_PASSWORD -p web", "type two values, store both or none"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel)
    static let fields = """
        project: string; projectCreated: boolean; \(SetOutcome.fields)
        For several keys:
        project: string; projectCreated: boolean; variables: [{ \(SetOutcome.fields) }]
        With --dry-run:
        project: string; projectCreated: boolean; key: string; keys: [string]
        dryRun: true
        With --rotate-every, without a value:
        \(RotationPeriod.fields)
        """

    private let keys: [String]
    private let options: ScopeOptions
    private let kind: VariableAttributes.Kind?
    private let comment: String?
    private let period: String?
    private let input: ValueInput
    /// Whether to say what Vercel will show; a screen's push says it.
    private let saysReadable: Bool

    /// Asks for the value of a variable.
    ///
    /// - Parameter scope: nil as without `-t`.
    init(_ key: String, in scope: Scope?) throws {
        keys = [key]
        try VariableName.check(key)
        options = ScopeOptions(scope)
        (kind, comment, period) = (nil, nil, nil)
        input = ValueInput()
        saysReadable = false
    }

    init(_ command: ParsedCommand) throws {
        keys = VariableName.arguments(of: command)
        input = ValueInput(command)
        period = command.value(RotationPeriod.option.name)
        options = ScopeOptions(command)
        kind = TypeOption.kind(command)
        comment = command.value("comment")
        saysReadable = true
        // A period needs no value.
        if period == nil { try checkInput() }
        for key in keys { try VariableName.check(key) }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let wanted = try options.scope()
        try workspace.session.keysForWriting()
        let resolver = ProjectResolver(workspace)
        let index = try workspace.session.index(.listing) {
            try resolver.existingOrNew(in: $0).project
        }
        let (known, projectName) = try resolver.existingOrNew(in: index)
        // Fails for an ambiguous scope before it asks for the values.
        for key in keys {
            let records = known.map { index.records(of: $0.id, named: key) } ?? []
            try checkName(key, records.filter(\.isLive))
        }
        let planned = Planned(try plan(wanted, in: projectName, index), in: index)
        if kind == .sensitive { SensitiveScope.warn(keys, workspace.context) }
        for key in keys {
            VariableName.warnUnlessPortable(key, workspace.context)
            if let warning = CodeLoadingName.warning(about: key) {
                workspace.context.warn(warning.code, warning.message)
            }
        }
        try TypoCheck.check(keys, projectName, wanted, in: index, workspace)
        let advice = try known.flatMap { try SchemaAdvice.find(for: $0, in: index, workspace) }
        for key in keys { try advice?.warn(about: key, workspace) }
        let period = try RotationPeriod.seconds(period)
        if let period, let known, !hasOtherOptions(workspace),
            let records = try RotationPeriod.recordsWithoutNewValue(keys, known, index, options)
        {
            return try RotationPeriod.keep(period, keys, known, records, workspace)
        }
        try checkInput()
        var values: [SecretSlice] = []
        for key in keys {
            if input.isTyped, let remark = advice?.items[key]?.remark {
                workspace.note("\(key): \(remark)")
            }
            let value = try input.value(
                for: key, in: planned.plan[values.count][0], workspace)
            try advice?.check(value, of: key, isStrict: input.isStrict, workspace)
            values.append(value)
        }
        if workspace.options.dryRun {
            return dryRun(projectName, projectCreated: known == nil)
        }
        let time = workspace.context.now()
        let change = Change(
            project: { $0.project(named: projectName) },
            plan: { [before = index] index, _ in
                try ChangedMeanwhile.check(known, named: projectName, in: index, since: before)
                return try plan(wanted, in: projectName, index)
            },
            apply: { [values] transaction, scopes, news in
                let (project, isNew) = transaction.project(named: projectName, at: time)
                let outcomes = try keys.indices.map { number in
                    try store(
                        values[number], as: keys[number], in: project, scopes[number],
                        advice?.items[keys[number]], time: time, &transaction)
                }
                if let period {
                    transaction.setRotationPeriod(
                        period, of: Set(outcomes.flatMap(\.records).map(\.variable.id)))
                }
                let held = zip(outcomes, values).flatMap { outcome, value in
                    outcome.records.map {
                        (
                            $0.variable.id,
                            PushValues.Held(version: $0.variable.currentVersion, value: value)
                        )
                    }
                }
                news.add(
                    WrittenVariables(
                        keys: Set(keys), atHand: Dictionary(uniqueKeysWithValues: held)))
                if isNew { news.add(LinkableProject(name: project.name)) }
                return (project, isNew, outcomes)
            })
        let (project, projectCreated, outcomes) = try workspace.session.commit(
            change, as: planned)
        if projectCreated { workspace.note("Created project \(project.name).") }
        for outcome in outcomes { outcome.report(in: project.name, workspace) }
        if saysReadable {
            ReadableNotice.note(
                outcomes.flatMap(\.records).filter { $0.isNew && $0.before == nil }
                    .map(\.variable), in: project, workspace)
        }
        return CommandResult(json: json(project.name, projectCreated, outcomes))
    }

    /// Whether the options ask for more than a period.
    private func hasOtherOptions(_ workspace: Workspace) -> Bool {
        input.hasOptions || workspace.goesOn || kind != nil || comment != nil
    }

    /// Refuses several keys with one value. The second word could be a value, so it is not repeated.
    private func checkInput() throws {
        guard keys.count == 1 || input.canRepeat else {
            throw CommandError(
                .usage,
                "Only one variable can be set from stdin or a file, and a value is not accepted on the command line, where other programs can read it.",
                hint:
                    "Pass the value on stdin to: zg-env set KEY. For several keys, type the values with --prompt, or use --generate."
            )
        }
    }

    /// Refuses a new name that could be a value, as in `set KEY VALUE`.
    private func checkName(_ key: String, _ records: [Variable]) throws {
        guard keys.count > 1, records.isEmpty, VariableName.couldBeValue(key) else { return }
        throw CommandError(
            .usage,
            "set takes only names, because other programs can read the command line, and one of these words could be a value.",
            hint: VariableName.couldBeValue(keys[0])
                ? "If it is a name, create that variable on its own: zg-env set KEY"
                : "Run: zg-env set \(word: keys[0]), and type the value or pass it on stdin. If the word is a name, create that variable on its own."
        )
    }

    private func dryRun(_ project: String, projectCreated: Bool) -> CommandResult {
        let names = keys.map { DisplayText.safe($0) }.joined(separator: ", ")
        return CommandResult(
            json: [
                "project": .string(project), "key": .string(keys[0]), "keys": .strings(keys),
                "dryRun": true, "projectCreated": .bool(projectCreated),
            ],
            text: "Would set \(names) in \(DisplayText.safe(project)).\n")
    }

    /// The members of the variable for one key, and a list of variables for several.
    private func json(
        _ project: String, _ projectCreated: Bool, _ outcomes: [SetOutcome]
    ) -> JSONValue {
        let front: [JSONValue.Member] = [
            .init("project", .string(project)), .init("projectCreated", .bool(projectCreated)),
        ]
        guard outcomes.count > 1 else { return .object(front + outcomes[0].members) }
        let variables = outcomes.map { JSONValue.object($0.members) }
        return .object(front + [.init("variables", .array(variables))])
    }

    /// Returns the scopes of each key, which differ by their branch.
    private func plan(
        _ wanted: Scope?, in project: String, _ index: VaultIndex
    ) throws -> [[Scope]] {
        let known = index.project(named: project)
        return try keys.map { key in
            let records = known.map { index.records(of: $0.id, named: key) } ?? []
            return try scopes(of: key, wanted, records, in: project, index)
        }
    }

    /// Returns the scopes to set: the one given, those that have a value if it is the same one, or
    /// the default.
    ///
    /// - Parameter records: All records of the key, including removed ones.
    private func scopes(
        of key: String, _ wanted: Scope?, _ records: [Variable], in project: String,
        _ index: VaultIndex
    ) throws -> [Scope] {
        let live = records.filter(\.isLive)
        let scopes =
            if let wanted { [wanted] } else if live.isEmpty {
                [Scope.standard(kind, among: records, standard: DefaultType.deployed(key, index))]
            } else { try RecordSelection.scopesOfOneValue(key, live, in: project) }
        for scope in scopes {
            try SensitiveScope.check(
                scope, isNamed: wanted != nil, of: key, among: records,
                AssignmentWishes(kind: kind))
        }
        return scopes
    }

    private func store(
        _ value: SecretSlice, as key: String, in project: VaultProject, _ scopes: [Scope],
        _ item: SchemaItem?, time: UInt64, _ transaction: inout VaultTransaction
    ) throws -> SetOutcome {
        let records = transaction.index.records(of: project.id, named: key)
        if let outcome = try unchanged(value, scopes, records, at: time, &transaction) {
            return outcome
        }
        var outcome = SetOutcome()
        for scope in scopes {
            let edits = try value.withBytes { bytes in
                try transaction.assign(
                    bytes, as: outcome.records.first?.variable.currentVersion, to: scope, of: key,
                    in: project.id,
                    AssignmentWishes(
                        kind: kind, comment: comment, declared: item?.kind(in: scope)), at: time)
            }
            for edit in edits {
                if edit.isNew, edit.before == nil, comment == nil, let text = item?.comment {
                    transaction.index.variables[edit.position].attributes.comment = text
                }
                outcome.add(edit, transaction.index.variables[edit.position])
            }
        }
        return outcome
    }

    /// Returns the outcome if all of the scopes have this value already; nil if one has another value or
    /// another type.
    private func unchanged(
        _ value: SecretSlice, _ scopes: [Scope], _ records: [Variable], at time: UInt64,
        _ transaction: inout VaultTransaction
    ) throws -> SetOutcome? {
        var outcome = SetOutcome(isUnchanged: true)
        let live = records.filter(\.isLive)
        for scope in scopes {
            guard
                let holders = try transaction.values.holders(of: value, in: scope, among: live),
                holders.allSatisfy({ kind ?? $0.attributes.kind == $0.attributes.kind })
            else { return nil }
            let positions = holders.compactMap { transaction.position(of: $0.id) }
            transaction.revise(positions, in: scope, AssignmentWishes(comment: comment), at: time)
            for position in positions { outcome.add(nil, transaction.index.variables[position]) }
        }
        return outcome
    }
}
