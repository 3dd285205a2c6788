internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Vault

/// What the linked directory's schema says of a project, for a command whose work is something else.
///
/// There, a schema that cannot be read is a warning and what it declares is advice, unless the command's
/// option or the vault's setting `schema-check` requires it. A schema itself cannot require anything.
struct SchemaAdvice {
    let schema: ProjectSchema
    /// Whether the command must fail if the project does not fit.
    let isRequired: Bool
    private let isStrict: Bool
    private let mapping: EnvironmentMapping
    /// What is declared, by key.
    let items: [String: SchemaItem]

    /// - Parameters:
    ///   - requires: Whether the command's option requires a check.
    ///   - mayLack: Whether it then still may have no schema.
    ///   - isWork: Whether the vault's setting applies: for commands that give out or send values.
    /// - Returns: Nil without a schema that can be read.
    /// - Throws: ``ExitCode/usage`` if a check is required and there is no such schema.
    static func find(
        for project: VaultProject, in index: VaultIndex, requires: Bool = false,
        mayLack: Bool = false, isWork: Bool = false, _ workspace: Workspace
    ) throws -> SchemaAdvice? {
        let setting = isWork ? index.schemaCheck : .off
        let isRequired = requires || setting != .off
        do {
            let schema =
                (requires && !mayLack) || setting == .strict
                ? try ProjectSchema.required(SchemaOptions(), for: project, in: index, workspace)
                : try ProjectSchema.find(SchemaOptions(), for: project, in: index, workspace)
            guard let schema else { return nil }
            // A profile of secretspec may be for one target alone.
            let targets: [String?] =
                schema.notation == .secretspec ? [nil] + Scope.Targets.all.names : [nil]
            let items = try targets.flatMap { try schema.schema(for: $0).items }
            return SchemaAdvice(
                schema: schema, isRequired: isRequired, isStrict: setting == .strict,
                mapping: EnvironmentMapping(
                    customEnvironments: VaultLook(of: project, in: index, nil).customEnvironments,
                    settings: index.schemaEnvironments),
                items: Dictionary(
                    items.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first }))
        } catch let error as CommandError where !isRequired {
            workspace.context.warn("schema-unreadable", error.message)
            return nil
        }
    }

    var name: String { schema.fileName }

    /// Returns what was found for each variable.
    func results(_ look: SchemaLook) throws -> [SchemaResult] {
        try look.results(schema, mapping, isStrict: isStrict)
    }

    /// Returns what is wrong.
    func problems(_ looks: [SchemaLook], only: Set<String>? = nil) throws -> [SchemaResult] {
        try looks.flatMap { try $0.results(schema, mapping, only: only, isStrict: isStrict) }
            .filter { $0.level == .problem }
    }

    /// Refuses the work if a check is required and something is wrong.
    ///
    /// - Parameter nothing: What was not done: "Nothing was sent."
    /// - Throws: ``ExitCode/usage`` with the names.
    func require(
        _ problems: [SchemaResult], of project: String, _ nothing: String
    ) throws {
        guard isRequired, !problems.isEmpty else { return }
        let targets = Set(problems.map(\.target)).sorted()
        throw CommandError(
            .usage,
            "\(project) does not satisfy \(name) for \(targets.joined(separator: ", ")) (\(Self.phrase(problems))).",
            hint:
                "\(nothing) See the details with: zg-env check\(targets.map { " -t \(word: $0)" }.joined())"
        )
    }

    /// Checks a new value against the type that is declared, and throws if a check is required.
    func check(
        _ value: SecretSlice, of key: String, isStrict: Bool = false, _ workspace: Workspace
    ) throws {
        guard let item = items[key], let type = item.type,
            case .read(.misfit(let why)) = SchemaLook.content(of: value, item)
        else { return }
        let message =
            "The value of \(key) does not match the type \(type.name.rawValue) in \(name): \(why)."
        guard isStrict || (isRequired && !item.typeIsInferred) else {
            return workspace.context.warn("schema-type", message)
        }
        throw CommandError(
            .usage, message, hint: "Fix the value or the schema.")
    }

    /// Warns of a variable that is deprecated, or not declared while a similar one is.
    func warn(about key: String, _ workspace: Workspace) throws {
        if let item = items[key] {
            if item.makesSensitive, ValueWarning.hasPublicPrefix(key) {
                workspace.context.warn(
                    "public-prefix",
                    "\(name) declares \(key) as sensitive, but its prefix makes it public.")
            }
            guard let deprecation = item.deprecation else { return }
            let advice = deprecation.advice.map { ": \($0)" } ?? ""
            return workspace.context.warn(
                "deprecated", "\(name) declares \(key) as deprecated\(advice).")
        }
        // A search among thousands of names for each of thousands of keys takes too long.
        guard items.count <= 2_000,
            let near = Suggestion.nearest(to: key, among: items.keys.sorted())
        else { return }
        workspace.context.warn(
            "not-declared", "\(name) does not declare \(key). Did you mean \(near)?")
    }

    /// "missing: A, B; invalid: C".
    static func phrase(_ problems: [SchemaResult]) -> String {
        SchemaResult.State.allCases.compactMap { state in
            let keys = Set(problems.filter { $0.state == state }.map(\.key)).sorted()
            return keys.isEmpty ? nil : "\(state.rawValue): \(VariableName.list(keys))"
        }.joined(separator: "; ")
    }

    /// Returns a line for what is wrong, by target; nil if nothing is.
    func line(_ problems: [SchemaResult]) -> String? {
        guard !problems.isEmpty else { return nil }
        let targets = Dictionary(grouping: problems, by: \.target).sorted { $0.key < $1.key }
        let parts = targets.map { "in \($0.key), \(Self.phrase($0.value))" }
        return "According to \(name), " + parts.joined(separator: "; ")
    }
}

extension SchemaItem {
    /// Whether a value of this variable may be stored as sensitive without being asked for it: only a
    /// written statement may do that, because a sensitive value cannot be read again.
    var makesSensitive: Bool {
        isSensitive == true && sensitivitySource.map { $0 != .implicit } ?? true
    }

    /// The type on Vercel that a new variable gets; nil if the schema does not decide it. Never changes
    /// where the variable goes: Vercel has no sensitive variables in development.
    func kind(in scope: Scope) -> VariableAttributes.Kind? {
        makesSensitive && !scope.targets.contains(.development) ? .sensitive : nil
    }

    /// The comment that a new variable gets; nil without a description, or one that Vercel would not
    /// accept.
    var comment: String? {
        description.map { text in
            text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { DisplayText.safe(String($0)) }.joined(separator: "\n")
        }.flatMap { $0.isEmpty || $0.utf8.count > 500 ? nil : $0 }
    }

    /// The first line of the description and the links; nil if there is nothing to say.
    var remark: String? {
        var parts: [String] = []
        if let line = description?.split(separator: "\n").first { parts.append(String(line)) }
        if let example, isSensitive != true { parts.append("for example \(example)") }
        parts += documentation.map(\.url)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
