internal import EnvOperations
internal import JSON
internal import Vault

/// What `set` stored for one key.
struct SetOutcome {
    let variable: Variable
    let edit: RecordEdit

    /// The members for the variable.
    var members: [JSONValue.Member] {
        let front: [JSONValue.Member] = [
            .init("created", .bool(edit.isNew)), .init("key", .string(variable.name)),
            .init("type", .string(variable.attributes.kind.name)),
        ]
        let back: [JSONValue.Member] = [
            .init("version", .integer(Int64(clamping: variable.currentVersion))),
            .init("touched", .array(edit.touched.map { .object($0.members) })),
        ]
        return front + variable.attributes.scope.members + back
    }

    /// Reports what changed.
    func report(in project: String, _ workspace: Workspace) {
        workspace.note(
            "Set \(variable.name) in \(project) for \(variable.attributes.scope.description), "
                + "version \(variable.currentVersion).")
        for touched in edit.touched {
            workspace.note(
                touched.after.isEmpty
                    ? "Replaced the value for \(touched.before.description)."
                    : "The previous value remains for \(touched.after.description).")
        }
    }
}

extension RecordEdit.Touched {
    var members: [JSONValue.Member] {
        [
            .init("before", .string(before.description)),
            .init("after", .string(orNull: after.isEmpty ? nil : after.description)),
        ]
    }
}
