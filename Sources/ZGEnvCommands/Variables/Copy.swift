internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import SharedProjects
internal import Vault

struct Copy: Command {
    static let vaultUse = VaultUse(picksProject: true)
    static let spec = CommandSpec(
        ["copy"], "Copy variables to another target or project",
        discussion: """
            Asks for the passphrase unless the vault is unlocked. The destination's old value is \
            kept as an earlier version; a variable that does not exist there yet is copied with \
            its history. A missing project is created. Nothing changes on Vercel until the next \
            push.
            """,
        arguments: [VariableName.arguments],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "to-target", value: "T", "Copy the value to target T",
                completion: .dynamic(.target)),
            OptionSpec(
                "to-project", value: "P", "Copy the variables to project P",
                completion: .dynamic(.project)),
            TypeOption.spec, PlaceValues.allowMissing, EmptyValues.option,
        ],
        exclusive: [["to-target", "to-project"]],
        examples: [
            .init(
                "zg-env copy API_KEY -p web -t production --to-target preview",
                "use the production value in preview too"),
            .init(
                "zg-env copy API_KEY DSN -p web --to-project api",
                "copy two variables to another project"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict, .unauthorized))
    static let fields = """
        project, toProject: string; projectCreated: boolean
        created, updated, unchanged, skipped: [string]
        touched: [{ key: string; \(RecordEdit.Touched.fields) }] (values that gave up targets)
        dryRun?: true
        """

    private struct Route {
        let source: VaultProject
        /// The name of the destination project, which may not exist yet.
        let destination: String
        /// nil if each record keeps its scope.
        let scope: Scope?
    }

    private let names: [String]
    private let options: ScopeOptions
    private let target: String?
    private let project: String?
    private let kind: VariableAttributes.Kind?
    private let allowsMissing: Bool
    private let allowsEmpty: Bool

    init(_ command: ParsedCommand) {
        names = VariableName.arguments(of: command)
        options = ScopeOptions(command)
        target = command.value("to-target")
        project = command.value("to-project")
        kind = TypeOption.kind(command)
        allowsMissing = command.has("allow-missing")
        allowsEmpty = command.has("allow-empty")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.values) { index in
            _ = try records(of: try self.route(workspace, index), in: index)
        }
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .currentValues)
        let route = try self.route(workspace, index)
        try HeldGate.check(
            Set(records(of: route, in: index).map(\.id)), in: index, [.program, .name, .offer],
            workspace.context)
        let reader = try ValueReader.required(vault, index, keys)
        let known = index.project(named: route.destination)
        if known == nil { try TypoCheck.check(project: route.destination, in: index, workspace) }
        var empty = EmptyValues(
            "Nothing was copied.", "Copy the empty values?", isAllowed: allowsEmpty)
        var plan = try empty.asking(workspace) { try self.plan(route, index, reader, $0) }
        var touched: [(key: String, touched: RecordEdit.Touched)] = []
        if !workspace.options.dryRun {
            let time = workspace.context.now()
            try workspace.session.commit { transaction, _ in
                let values = transaction.values
                plan = try empty.planning {
                    try self.plan(route, transaction.index, values, $0)
                }
                guard plan.entries.contains(where: { $0.fate == .created || $0.fate == .updated })
                else { return }
                try ChangedMeanwhile.check(
                    known, named: route.destination, in: transaction.index, since: index)
                let project = transaction.project(named: route.destination, at: time).project
                touched = try transaction.apply(plan, to: project.id, at: time)
            }
        }
        try report(plan, touched, route, index, workspace)
        return result(
            plan, touched, route,
            projectCreated: known == nil && !plan.entries.allSatisfy { $0.fate == .skipped },
            workspace)
    }

    private func route(_ workspace: Workspace, _ index: VaultIndex) throws -> Route {
        for name in names { try VariableName.check(name) }
        let source = try ProjectResolver(workspace).existing(in: index)
        if let target {
            try TargetName.check(target)
            return Route(
                source: source, destination: source.name,
                scope: Scope(ValueTarget(named: target)))
        }
        guard let name = project else {
            throw CommandError(
                .usage, "copy needs a destination.", hint: "Add --to-target T or --to-project P.")
        }
        try ProjectResolver.check(name)
        guard name != source.name else {
            throw CommandError(
                .usage, "\(name) is both the source and the destination.",
                hint: "Choose another project, or a target with --to-target.")
        }
        return Route(source: source, destination: name, scope: try options.scope())
    }

    /// Returns the records to copy.
    private func records(of route: Route, in index: VaultIndex) throws -> [Variable] {
        try names.map { try RecordSelection.one($0, in: route.source, of: index, options) }
    }

    private func plan(
        _ route: Route, _ index: VaultIndex, _ reader: ValueReader, _ empty: EmptyValues
    ) throws -> CopyPlan {
        let records = try records(of: route, in: index).map {
            ($0, route.scope ?? $0.attributes.scope)
        }
        let destination = index.project(named: route.destination)
        let plan = try CopyPlan(
            of: records, to: destination?.id, as: kind, in: index, reader: reader)
        let missing = plan.keys(.skipped)
        guard missing.isEmpty || allowsMissing else { throw PlaceValues.missing(missing) }
        for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
            let key = entry.record.name
            let others = destination.map { index.records(of: $0.id, named: key) } ?? []
            try SensitiveScope.check(
                entry.scope, isNamed: target != nil, of: key, among: others, plan.wishes(for: entry)
            )
        }
        try empty.check(plan.entries.filter(\.isEmptied).map(\.record.name))
        return plan
    }

    private func report(
        _ plan: CopyPlan, _ touched: [(key: String, touched: RecordEdit.Touched)], _ route: Route,
        _ index: VaultIndex, _ workspace: Workspace
    ) throws {
        for entry in plan.entries where entry.fate == .created || entry.fate == .updated {
            let warning = ValueWarning.sizeWarning(
                byteCount: entry.byteCount, of: entry.record.name)
            if let warning { workspace.context.warn(warning.code.rawValue, warning.message) }
        }
        let missing = plan.keys(.skipped)
        if !missing.isEmpty { PlaceValues.warnOfSkipped(missing, workspace.context) }
        if index.project(named: route.destination) == nil,
            plan.entries.contains(where: { $0.fate != .skipped })
        {
            let verb = workspace.options.dryRun ? "Would create" : "Created"
            workspace.note("\(verb) project \(route.destination).")
        }
        for entry in touched {
            workspace.note(
                entry.touched.after.isEmpty
                    ? "Replaced the value of \(entry.key) for \(entry.touched.before.description)."
                    : "\(entry.key) keeps its previous value for \(entry.touched.after.description)."
            )
        }
    }

    private func result(
        _ plan: CopyPlan, _ touched: [(key: String, touched: RecordEdit.Touched)],
        _ route: Route, projectCreated: Bool, _ workspace: Workspace
    ) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(route.source.name)),
            .init("toProject", .string(route.destination)),
            .init("projectCreated", .bool(projectCreated)),
        ]
        for fate in CopyPlan.EntryAction.allCases {
            members.append(.init(fate.rawValue, .strings(plan.keys(fate))))
        }
        members.append(
            .init(
                "touched",
                .array(
                    touched.map {
                        .object([.init("key", .string($0.key))] + $0.touched.members)
                    })))
        if workspace.options.dryRun { members.append(.init("dryRun", true)) }
        var table = Table([.init(""), .init("", canShrink: true), .init("", canShrink: true)])
        for entry in plan.entries {
            table.append([
                .init(entry.fate.rawValue, as: entry.fate == .skipped ? .warning : .plain),
                .init(entry.record.name), .init(entry.scope.description, as: .dim),
            ])
        }
        return CommandResult(
            json: .object(members),
            text: workspace.options.quiet ? "" : TerminalStyle(workspace.context).text(table))
    }
}
