internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// The variables that `push`, `pull` and `harden` work on: `KEY…` and `-t`.
struct RecordChoice {
    /// The names; nil for all.
    let keys: Set<String>?
    /// The targets and custom environments; nil for all.
    let places: Scope?

    static func argument(to verb: String) -> ArgumentSpec {
        ArgumentSpec(
            "KEY", .zeroOrMore, "Variables to \(verb) (default: all)",
            completion: .dynamic(.variable))
    }

    /// - Throws: ``ExitCode/usage`` for an invalid variable name or target.
    init(_ command: ParsedCommand) throws {
        keys = try VariableName.selection(of: command)
        places = try ScopeOptions(targetsOf: command).scope()
    }
}

extension JSONValue {
    static let entryFields = "key: string; \(Scope.fields)"

    /// A record in a report: its key, its scope and an optional reason.
    static func entry(_ key: String, _ scope: Scope, _ reason: String? = nil) -> JSONValue {
        .object(
            [.init("key", .string(key))] + scope.members
                + (reason.map { [.init("reason", .string($0))] } ?? []))
    }

    static let noteFields = "\(entryFields); reason: string"

    /// One entry for each note.
    static func entries(_ notes: [RecordNote]) -> JSONValue {
        .array(notes.map { entry($0.key, $0.scope, $0.reason) })
    }
}

extension Variable {
    /// The record in a report.
    var entry: JSONValue { .entry(name, attributes.scope) }
}

extension PushPlan.Step {
    /// The step's record in a report.
    var entry: JSONValue { .entry(key, attributes.scope) }
}

extension PullPlan.Step {
    /// The step's record in a report.
    var entry: JSONValue { .entry(key, attributes.scope) }
}

extension Scope {
    static let fields = "targets, customEnvironments: [string]; branch: string | null"

    /// The members for a variable's scope.
    var members: [JSONValue.Member] {
        [
            .init("targets", .strings(targets.names)),
            .init("customEnvironments", .strings(customEnvironments)),
            .init("branch", .string(orNull: branch)),
        ]
    }
}
