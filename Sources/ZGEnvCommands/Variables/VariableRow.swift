internal import EnvOperations
internal import Vault

/// A line of a list: the targets in which a variable has everything that the line says in common.
struct VariableRow {
    /// One of the records.
    let variable: Variable
    /// The targets of all of them.
    private(set) var scope: Scope
    private(set) var createdAt: UInt64
    private(set) var updatedAt: UInt64
    let state: SyncState
    /// nil if that is not known.
    let live: Bool?

    init(_ variable: Variable, in project: VaultProject) {
        self.variable = variable
        scope = variable.attributes.scope
        (createdAt, updatedAt) = (variable.createdAt, variable.updatedAt)
        state = SyncState(of: variable)
        live = SyncState.isLive(variable, in: project)
    }

    /// Returns the lines for records that are sorted by name.
    static func rows(
        of variables: [Variable], in project: VaultProject, _ marks: GroupMarks,
        _ labels: IntegrationLabels
    ) -> [VariableRow] {
        var rows: [VariableRow] = []
        rows.reserveCapacity(variables.count)
        for variable in variables {
            let row = VariableRow(variable, in: project)
            let same = rows.indices.reversed().prefix { rows[$0].isNamed(variable.name) }
                .first { place in
                    rows[place].isLike(row)
                        && marks.mark(of: rows[place].variable) == marks.mark(of: variable)
                        && labels.kind(of: rows[place].variable) == labels.kind(of: variable)
                }
            if let same {
                rows[same].join(row)
            } else {
                rows.append(row)
            }
        }
        return rows
    }

    private func isNamed(_ name: String) -> Bool { variable.name.utf8.elementsEqual(name.utf8) }

    /// Whether another record of the variable has the same value, type, comment and state.
    private func isLike(_ other: VariableRow) -> Bool {
        let (own, its) = (variable.attributes, other.variable.attributes)
        return variable.isLive && other.variable.isLive && variable.currentVersion > 0
            && variable.currentVersion == other.variable.currentVersion && own.kind == its.kind
            && own.comment == its.comment && scope.branch == other.scope.branch
            && state == other.state && live == other.live
    }

    private mutating func join(_ other: VariableRow) {
        scope.formUnion(other.scope)
        createdAt = min(createdAt, other.createdAt)
        updatedAt = max(updatedAt, other.updatedAt)
    }
}
