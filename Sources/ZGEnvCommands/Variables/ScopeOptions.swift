internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Vault

/// `-t/--target` and `-b/--branch`, as most commands on variables take them.
struct ScopeOptions {
    static let target = OptionSpec(
        "target", short: "t", value: "T",
        "Name targets: production, preview, development or a custom environment",
        repeatable: true, commaSeparated: true, completion: .dynamic(.target))
    static let branch = OptionSpec(
        "branch", short: "b", value: "NAME", "Name a git branch, with preview alone")

    private let names: [String]
    private let branch: String?

    /// The scope of targets and custom environments that are named elsewhere; nil for none.
    static func scope(named names: [String]) throws -> Scope? {
        try ScopeOptions(names: names).scope()
    }

    private init(names: [String]) {
        self.names = names
        branch = nil
    }

    /// Reads both options of a command that has both.
    init(_ command: ParsedCommand) {
        names = command.values("target")
        branch = command.value("branch")
    }

    /// Reads the targets of a command that has no `--branch`.
    init(targetsOf command: ParsedCommand) {
        names = command.values("target")
        branch = nil
    }

    /// Tells whether neither option was given.
    var isEmpty: Bool { names.isEmpty && branch == nil }

    /// The scope that the options name; nil when they name none.
    ///
    /// - Throws: ``ExitCode/usage`` for a branch with anything but preview.
    func scope() throws -> Scope? {
        if isEmpty { return nil }
        var targets: Scope.Targets = []
        var custom: [String] = []
        for name in names {
            if let target = Scope.Targets(name: name) {
                targets.formUnion(target)
            } else {
                try Self.checkCustomName(name)
                custom.append(name)
            }
        }
        if let branch {
            guard names.isEmpty || (targets == .preview && custom.isEmpty) else {
                throw CommandError(
                    .usage, "A branch goes with the target preview alone.",
                    hint: "Leave out -t, or say: -t preview -b \(word: branch)")
            }
            targets = .preview
        }
        return Scope(targets: targets, customEnvironments: custom, branch: branch)
    }

    /// The one place that the options name, or development, which is then said.
    func place(_ workspace: Workspace) throws -> EffectiveVariables.Place {
        guard names.count <= 1 else {
            throw CommandError(.usage, "\(workspace.command) takes one target.")
        }
        guard let name = names.first else {
            if let branch { return .init(.target(.preview), branch: branch) }
            let name = try Settings(workspace.context)[.defaultTarget].text
            workspace.note("Using the variables of \(name); name another with -t.")
            return .init(Scope.Targets(name: name).map { .target($0) } ?? .custom(name))
        }
        if let target = Scope.Targets(name: name) {
            guard branch == nil || target == .preview else {
                throw CommandError(.usage, "A branch goes with the target preview alone.")
            }
            return .init(.target(target), branch: branch)
        }
        try Self.checkCustomName(name)
        guard branch == nil else {
            throw CommandError(.usage, "A branch goes with the target preview alone.")
        }
        return .init(.custom(name))
    }

    /// Checks one name of a target or a custom environment.
    ///
    /// - Throws: ``ExitCode/usage`` for a slip.
    static func checkTarget(_ name: String) throws {
        guard Scope.Targets(name: name) == nil else { return }
        guard !name.isEmpty, name.utf8.count <= VaultFormat.nameLimit, !name.contains(",") else {
            throw CommandError(.usage, "That is no name of one target.")
        }
        try checkCustomName(name)
    }

    /// A word that is nearly a fixed target is a slip rather than a custom environment.
    private static func checkCustomName(_ name: String) throws {
        let fixed = Scope.Targets.all.names
        let short = ["prod", "dev", "prev"].first {
            $0 == name || Slip.isOne($0, for: name, shortest: 3)
        }
        let near =
            Suggestion.nearest(to: name, among: fixed)
            ?? short.flatMap { short in fixed.first { $0.hasPrefix(short) } }
        if let near {
            throw CommandError(
                .usage, "\(name) is no target.", hint: "Did you mean \(near)?")
        }
    }
}

/// The records of one key that a command means.
enum RecordSelection {
    /// The one record in use that the options name, or the key's only one.
    ///
    /// - Throws: ``ExitCode/notFound``, or ``ExitCode/usage`` when there are several.
    static func one(
        _ key: String, in project: VaultProject, of index: VaultIndex, _ options: ScopeOptions
    ) throws -> Variable {
        let records = index.variables(of: project.id, named: key)
        guard !records.isEmpty else { throw notFound(key, project, index) }
        guard let scope = try options.scope() else {
            if records.count == 1 { return records[0] }
            throw ambiguous(key, records)
        }
        if let exact = records.first(where: { $0.attributes.scope == scope }) { return exact }
        let holding = records.filter { $0.attributes.scope.overlaps(scope) }
        if holding.count == 1 { return holding[0] }
        guard !holding.isEmpty else {
            throw CommandError(
                .notFound,
                "\(key) of \(project.name) has no value for "
                    + "\(scope.description); it has one for \(scopes(of: records)).")
        }
        throw ambiguous(key, holding)
    }

    /// The one record, removed or in use, that the options name and that has a version, or the only one that
    /// has it. Of several the one of exactly the scope that is named is meant, else the ones in use.
    ///
    /// - Parameter place: Where a program would run that sees the record; what applies there comes first.
    static func one(
        _ key: String, withVersion number: UInt64, in project: VaultProject, of index: VaultIndex,
        _ options: ScopeOptions, _ place: EffectiveVariables.Place? = nil
    ) throws -> Variable {
        let all = index.variables.filter { $0.project == project.id && $0.name == key }
        guard !all.isEmpty else { throw notFound(key, project, index) }
        var candidates = all.filter { History(of: $0, in: index).version(number) != nil }
        // One that was removed may have been replaced by a wider one with the same numbers.
        if let scope = try options.scope() {
            let exact = candidates.filter { $0.attributes.scope == scope }
            if exact.count == 1 { return exact[0] }
        }
        if let place,
            let effective = EffectiveVariables.inPlace(place, among: candidates).first
        {
            return effective
        }
        if let scope = try options.scope() {
            candidates = candidates.filter { $0.attributes.scope.overlaps(scope) }
        }
        if candidates.count > 1, candidates.contains(where: \.isLive) {
            candidates = candidates.filter(\.isLive)
        }
        guard let only = candidates.first else {
            throw CommandError(
                .notFound, "\(key) has no version \(number).",
                hint: "See what there is with: zg-env history \(key)")
        }
        guard candidates.count == 1 else { throw ambiguous(key, candidates) }
        return only
    }

    static func notFound(_ key: String, _ project: VaultProject, _ index: VaultIndex)
        -> CommandError
    {
        let names = Set(index.variables(of: project.id).map(\.name)).sorted()
        let near = Suggestion.nearest(to: key, among: names)
        return CommandError(
            .notFound,
            "There is no variable \(key) in \(project.name).",
            hint: near.map { "Did you mean \($0)?" } ?? "See what is there with: zg-env list")
    }

    static func ambiguous(_ key: String, _ records: [Variable]) -> CommandError {
        CommandError(
            .usage,
            "\(key) has several values: \(scopes(of: records)).",
            hint: "Name the one you mean with -t, or with -b for a branch.")
    }

    private static func scopes(of records: [Variable]) -> String {
        records.map { $0.attributes.scope.description }.joined(separator: "; ")
    }
}

extension EffectiveVariables.Place {
    /// The place as people name it, such as `production` or `preview@feature`.
    var title: String {
        let name =
            switch environment {
            case .target(let target): target.names.joined(separator: ",")
            case .custom(let name): name
            }
        return branch.map { "\(name)@\($0)" } ?? name
    }
}
