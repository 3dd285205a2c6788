internal import CommandLineKit
internal import Vault

/// What was changed while the values were locked, for people and for scripts.
struct ChangesText {
    /// Most lines of one list.
    static let lineLimit = 10

    private let changes: [CheckpointComparison.Change]
    private let projects: [Identifier: String]
    private let isChecked: Bool

    /// - Parameter isChecked: Whether the checkpoint's code was checked, which takes the values open.
    init(_ comparison: CheckpointComparison, in index: VaultIndex, isChecked: Bool = true) {
        self.isChecked = isChecked
        changes = comparison.changes
        projects = Dictionary(
            index.projects.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    }

    /// How many there are.
    var count: Int { changes.count }

    /// One line for each variable, as many as fit; not made safe yet.
    func lines(limit: Int = lineLimit) -> [String] {
        var lines = changes.prefix(limit).map { change in
            let project = change.project.flatMap { projects[$0] }.map { "\($0)  " } ?? ""
            let scope = change.scope?.description ?? ""
            return "\(project)\(change.name)  \(scope): \(Self.text(change.kind))"
        }
        if changes.count > limit { lines.append("and \(changes.count - limit) more") }
        return lines
    }

    /// Follows ``sentence`` where nobody could check.
    var remark: String { isChecked ? "" : " (not checked: they are locked)" }

    /// `[{"key","project","targets",…,"changes"}]`.
    var json: JSONValue {
        .array(
            changes.map { change in
                [
                    "key": .string(change.name),
                    "project": .string(orNull: change.project.flatMap { projects[$0] }),
                    "targets": .strings(change.scope?.targets.names ?? []),
                    "customEnvironments": .strings(change.scope?.customEnvironments ?? []),
                    "branch": .string(orNull: change.scope?.branch),
                    "changes": .strings(Self.words(change.kind)),
                ]
            })
    }

    /// "1 variable was changed", "3 variables were changed".
    var sentence: String {
        count == 1
            ? "1 variable was changed while the values were locked"
            : "\(count) variables were changed while the values were locked"
    }

    private static func words(_ kind: CheckpointComparison.Kind) -> [String] {
        switch kind {
        case .added: ["added"]
        case .removed: ["removed"]
        case .changed(let fields): fields.map(\.rawValue)
        }
    }

    private static func text(_ kind: CheckpointComparison.Kind) -> String {
        switch kind {
        case .added: "added"
        case .removed: "removed"
        case .changed(let fields):
            fields.map { field in
                switch field {
                case .version: "value"
                case .environments: "custom environments"
                case .remoteID: "record on the platform"
                default: field.rawValue
                }
            }.joined(separator: ", ") + " changed"
        }
    }
}
