internal import EnvOperations
internal import JSON
internal import Vault

/// What `set` stored for one key.
struct SetOutcome {
    /// A record that has the value.
    struct Record {
        let variable: Variable
        let isNew: Bool
        /// The strictest type that a value had there before.
        let before: VariableAttributes.Kind?
    }

    /// Those that have the value, the heaviest target first; several if their types, comments or
    /// branches differ.
    private(set) var records: [Record] = []
    /// Other records that lost targets.
    private var touched: [RecordEdit.Touched] = []
    /// Whether the value was there already, perhaps for more targets.
    var isUnchanged = false

    init(isUnchanged: Bool = false) { self.isUnchanged = isUnchanged }

    /// - Parameter edit: What changed; nil for nothing.
    mutating func add(_ edit: RecordEdit?, _ variable: Variable) {
        records.append(
            Record(variable: variable, isNew: edit?.isNew == true, before: edit?.before))
        touched += edit?.touched ?? []
    }

    static let fields = """
        key: string; version: number; created, unchanged: boolean
        type: string; \(Scope.fields)
        values: [{ type: string; \(Scope.fields) }] (one for each type, comment and branch)
        touched: [{ \(RecordEdit.Touched.fields) }] (values that gave up targets)
        """

    /// The members for the variable.
    var members: [JSONValue.Member] {
        let first = records[0].variable
        let values = records.map { record in
            JSONValue.object(
                [.init("type", .string(record.variable.attributes.kind.name))]
                    + record.variable.attributes.scope.members)
        }
        return [
            .init("key", .string(first.name)),
            .init("version", .integer(Int64(clamping: first.currentVersion))),
            .init("created", .bool(records.contains(where: \.isNew))),
            .init("unchanged", .bool(isUnchanged)),
            .init("type", .string(first.attributes.kind.name)),
        ] + first.attributes.scope.members + [
            .init("values", .array(values)),
            .init("touched", .array(touched.map { .object($0.members) })),
        ]
    }

    /// Reports what changed.
    func report(in project: String, _ workspace: Workspace) {
        for record in records {
            let (name, attributes) = (record.variable.name, record.variable.attributes)
            let (scope, version) = (attributes.scope, record.variable.currentVersion)
            guard !isUnchanged else {
                workspace.note(
                    "\(name) in \(project) has this value already for \(scope.description), version \(version)."
                )
                continue
            }
            let type = attributes.kind == .encrypted ? "" : ", \(attributes.kind.name)"
            workspace.note(
                "Set \(name) in \(project) for \(scope.description), version \(version)\(type).")
            WeakerType.warn(
                [.init(name: name, scope: scope, before: record.before)], to: attributes.kind,
                workspace.context)
        }
        for touched in touched {
            let before = touched.version > 0 ? " (version \(touched.version))" : ""
            workspace.note(
                touched.after.isEmpty
                    ? "Replaced the value for \(touched.before.description)."
                    : "The previous value\(before) remains for \(touched.after.description).")
        }
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
