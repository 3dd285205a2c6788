internal import EnvOperations
internal import JSON
internal import Vault

/// What `set` stored for one key.
struct SetOutcome {
    let variable: Variable
    let edit: RecordEdit
    /// Whether the value was there already, perhaps for more targets.
    var isUnchanged = false

    static let fields = """
        created: boolean; key, type: string; \(Scope.fields); version: number; unchanged: boolean
        touched: [{ \(RecordEdit.Touched.fields) }] (values that gave up targets)
        """

    /// The members for the variable.
    var members: [JSONValue.Member] {
        let front: [JSONValue.Member] = [
            .init("created", .bool(edit.isNew)), .init("key", .string(variable.name)),
            .init("type", .string(variable.attributes.kind.name)),
        ]
        let back: [JSONValue.Member] = [
            .init("version", .integer(Int64(clamping: variable.currentVersion))),
            .init("unchanged", .bool(isUnchanged)),
            .init("touched", .array(edit.touched.map { .object($0.members) })),
        ]
        return front + variable.attributes.scope.members + back
    }

    /// Reports what changed.
    func report(in project: String, _ workspace: Workspace) {
        let (name, scope) = (variable.name, variable.attributes.scope.description)
        let now = variable.attributes.kind
        guard !isUnchanged else {
            return workspace.note(
                "\(name) in \(project) has this value already for \(scope), version \(variable.currentVersion)."
            )
        }
        let type = now == .encrypted ? "" : ", \(now.name)"
        workspace.note(
            "Set \(name) in \(project) for \(scope), version \(variable.currentVersion)\(type).")
        for touched in edit.touched {
            let before = touched.version > 0 ? " (version \(touched.version))" : ""
            workspace.note(
                touched.after.isEmpty
                    ? "Replaced the value for \(touched.before.description)."
                    : "The previous value\(before) remains for \(touched.after.description).")
        }
        WeakerType.warn(
            [.init(name: name, scope: variable.attributes.scope, before: edit.before)], to: now,
            workspace.context)
    }
}

extension RecordEdit.Touched {
    static let fields = "before: string; after: string | null; version: number"

    var members: [JSONValue.Member] {
        [
            .init("before", .string(before.description)),
            .init("after", .string(orNull: after.isEmpty ? nil : after.description)),
            .init("version", .integer(Int64(clamping: version))),
        ]
    }
}
