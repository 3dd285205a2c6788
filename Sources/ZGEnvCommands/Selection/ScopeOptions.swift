internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// The options `-t/--target` and `-b/--branch` of most commands on variables.
struct ScopeOptions {
    static let target = OptionSpec(
        "target", short: "t", value: "T",
        "Select production, preview, development or a custom environment",
        repeatable: true, commaSeparated: true, completion: .dynamic(.target))
    static let branch = OptionSpec(
        "branch", short: "b", value: "NAME", "Select a git branch of the preview target")

    private let names: [String]
    private let branch: String?

    /// Returns the scope of the given targets and custom environments; nil for none.
    static func scope(named names: [String]) throws -> Scope? {
        try ScopeOptions(names: names).scope()
    }

    private init(names: [String], branch: String? = nil) {
        (self.names, self.branch) = (names, branch)
    }

    /// Selects exactly this scope; nil for none.
    init(_ scope: Scope?) {
        self.init(
            names: scope.map { $0.targets.names + $0.customEnvironments } ?? [],
            branch: scope?.branch)
    }

    /// Selects one place in which a variable of this scope applies.
    init(placeIn scope: Scope) {
        self.init(
            names: scope.branch == nil
                ? Array((scope.targets.names + scope.customEnvironments).prefix(1)) : [],
            branch: scope.branch)
    }

    /// Reads both options of a command that has both.
    init(_ command: ParsedCommand) {
        self.init(names: command.values("target"), branch: command.value("branch"))
    }

    /// Reads the targets of a command that has no `--branch`.
    init(targetsOf command: ParsedCommand) {
        self.init(names: command.values("target"))
    }

    /// Whether neither option was given.
    var isEmpty: Bool { names.isEmpty && branch == nil }

    /// Returns the targets and custom environments by name, and the branch; nil for those not given.
    ///
    /// - Throws: ``ExitCode/usage`` for a branch with another target than preview.
    func targetNames() throws -> (names: [String]?, branch: String?) {
        guard try scope() != nil else { return (nil, nil) }
        var found: [String] = []
        for name in branch == nil ? names : ["preview"] where !found.contains(name) {
            found.append(name)
        }
        return (found, branch)
    }

    /// Refuses a record that also applies outside of the scope of the options, before a change of the
    /// whole record.
    func checkContains(_ record: Variable) throws {
        guard let scope = try scope(), !scope.contains(record.attributes.scope) else { return }
        throw CommandError(
            .usage,
            "\(record.name) has a single value for \(record.attributes.scope.description), so it cannot be changed for \(scope.description) alone.",
            hint: "Leave out -t and -b to change it for all of them.")
    }

    /// Returns the scope of the options; nil without any.
    ///
    /// - Throws: ``ExitCode/usage`` for a branch with a target other than preview.
    func scope() throws -> Scope? {
        if isEmpty { return nil }
        var targets: Scope.Targets = []
        var custom: [String] = []
        for name in names {
            if let target = Scope.Targets(name: name) {
                targets.formUnion(target)
            } else {
                try TargetName.checkCustom(name)
                custom.append(name)
            }
        }
        if let branch {
            guard names.isEmpty || (targets == .preview && custom.isEmpty) else {
                throw CommandError(
                    .usage, "A branch can be used only if preview is the only target.",
                    hint: "Leave out -t, or use: -t preview -b \(word: branch)")
            }
            targets = .preview
        }
        let scope = Scope(targets: targets, customEnvironments: custom, branch: branch)
        try Self.check(scope)
        return scope
    }

    /// Refuses a scope that no record can have.
    static func check(_ scope: Scope) throws {
        guard VariableAttributes(kind: .encrypted, scope: scope).fitsIndex(id: "-", key: "-") else {
            throw CommandError(
                .usage,
                "The targets or the branch are too long: a branch may have 1,024 bytes, a custom environment 4,096."
            )
        }
    }

    /// Returns the one place of the options, or the default target, which a note then mentions.
    func place(_ workspace: Workspace) throws -> ValueTarget {
        guard names.count <= 1 else {
            throw CommandError(.usage, "\(workspace.command) takes only one target.")
        }
        guard let name = names.first else {
            if let branch { return .init(.target(.preview), branch: branch) }
            let name = try Settings(workspace.context)[.defaultTarget].text
            workspace.note("Using the \(name) variables (choose others with -t).")
            return .init(named: name)
        }
        let target = Scope.Targets(name: name)
        if target == nil { try TargetName.checkCustom(name) }
        guard branch == nil || target == .preview else {
            throw CommandError(.usage, "A branch can be used only with the preview target.")
        }
        return .init(named: name, branch: branch)
    }
}

extension Scope {
    /// The command options for this scope, with a leading space.
    var optionText: String {
        let places = (targets.names + customEnvironments).joined(separator: ",")
        return (places.isEmpty ? "" : " -t \(word: places)")
            + (branch.map { " -b \(word: $0)" } ?? "")
    }
}
