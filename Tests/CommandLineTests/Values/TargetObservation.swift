import EnvOperations
import Sandbox
import Vault

/// What the vault and Vercel have, by variable and target. Only this file knows of records.
struct TargetObservation: Sendable {
    /// The vault's cells. A value that the vault has but cannot read is missing.
    var cells: TargetHistory.Cells = [:]
    /// Places for which the vault has two values.
    var contested: [TargetHistory.Place] = []
    /// The values of the versions that variables have now, by number.
    var numbers: [String: [UInt64: String]] = [:]

    init(of machine: ModelMachine) throws {
        try machine.read { index, value in
            for variable in index.variables {
                guard variable.isLive,
                    let version = index.currentVersions[variable.id],
                    let type = ValueType(name: variable.attributes.kind.name)
                else { continue }
                let cell = TargetHistory.Cell(
                    value: try value(variable, version), type: type,
                    comment: variable.attributes.comment)
                add(cell, variable)
                numbers[variable.name, default: [:]][version.version] = cell.value
            }
        }
    }

    private mutating func add(_ cell: TargetHistory.Cell, _ variable: Variable) {
        let scope = variable.attributes.scope
        for target in scope.targets.names + scope.customEnvironments {
            let place = TargetHistory.Place(key: variable.name, target: target)
            if cells[place.key]?[target] != nil { contested.append(place) }
            cells[place.key, default: [:]][target] = cell
        }
    }

    /// Returns Vercel's cells. Its only custom environment is that of the test.
    static func cells(of stored: [StoredVariable]) -> TargetHistory.Cells {
        var cells: TargetHistory.Cells = [:]
        for record in stored {
            guard let type = ValueType(name: record.type) else { continue }
            let cell = TargetHistory.Cell(
                value: record.value, type: type, comment: record.comment)
            let custom = record.customEnvironmentIds.map { _ in TargetNames.custom }
            for target in record.targets + custom {
                cells[record.key, default: [:]][target] = cell
            }
        }
        return cells
    }
}
