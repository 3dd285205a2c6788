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
                try TargetName.checkCustom(name)
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
        try TargetName.checkCustom(name)
        guard branch == nil else {
            throw CommandError(.usage, "A branch goes with the target preview alone.")
        }
        return .init(.custom(name))
    }
}
