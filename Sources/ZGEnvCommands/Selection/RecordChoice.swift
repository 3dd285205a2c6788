internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// Which variables `push`, `pull` and `harden` are about: `KEY…` and `-t`.
struct RecordChoice {
    /// Their names; nil for all.
    let keys: Set<String>?
    /// Their targets and custom environments; nil for all.
    let places: Scope?

    static func argument(to verb: String) -> ArgumentSpec {
        ArgumentSpec(
            "KEY", .zeroOrMore, "Variables to \(verb); all by default",
            completion: .dynamic(.variable))
    }

    /// - Throws: ``ExitCode/usage`` for a word that is no name of a variable, or no target.
    init(_ command: ParsedCommand) throws {
        let keys = command.arguments("KEY")
        for key in keys { try VariableName.check(key) }
        self.keys = keys.isEmpty ? nil : Set(keys)
        places = try ScopeOptions(targetsOf: command).scope()
    }
}

extension JSONValue {
    /// A record as reports name it: its key, its scope and, where something is to be said, what.
    static func entry(_ key: String, _ scope: Scope, _ reason: String? = nil) -> JSONValue {
        .object(
            [.init("key", .string(key))] + scope.members
                + (reason.map { [.init("reason", .string($0))] } ?? []))
    }

    /// One entry a note.
    static func entries(_ notes: [RecordNote]) -> JSONValue {
        .array(notes.map { entry($0.key, $0.scope, $0.reason) })
    }
}

extension Scope {
    /// The members that say where a variable is.
    var members: [JSONValue.Member] {
        [
            .init("targets", .strings(targets.names)),
            .init("customEnvironments", .strings(customEnvironments)),
            .init("branch", .string(orNull: branch)),
        ]
    }
}
