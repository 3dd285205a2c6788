package import Sealing
internal import Vault
package import VercelAPI

/// The variables of a project on Vercel, split into those that the vault imports and others.
package struct VercelListing {
    /// All records, including skipped ones.
    package private(set) var all: ListedRecords = []
    /// Records with their own values.
    package private(set) var records: ListedRecords = []
    /// The values in the list, by Vercel's ids.
    package private(set) var values: [String: SecretSlice] = [:]
    /// Records that are not imported, with the reasons.
    package private(set) var skipped: [(id: String, note: RecordNote)] = []

    /// Splits a list.
    package init(
        _ list: VariableList<ReadEnvironmentVariable>, environments: CustomEnvironmentNames
    ) {
        hide(list.hiddenProduction)
        for read in list.variables {
            let record = VercelRecord(read.variable, environments: environments)
            all.append(record)
            if let reason = Self.reasonToSkip(read.variable, record) {
                skipped.append((record.id, RecordNote(record, reason)))
                continue
            }
            records.append(record)
            if let value = read.value { values[record.id] = value }
        }
    }

    /// Removes a record that was deleted while its value was requested.
    package mutating func drop(_ id: String) {
        all.removeAll { $0.id == id }
        records.removeAll { $0.id == id }
    }

    /// Learns that a later list hides more.
    package mutating func hide(_ count: Int) {
        all.hide(count)
        records.hide(count)
    }

    /// Skips a record.
    package mutating func skip(_ record: VercelRecord, because reason: String) {
        records.removeAll { $0.id == record.id }
        skipped.append((record.id, RecordNote(record, reason)))
    }

    private static func reasonToSkip(
        _ variable: EnvironmentVariable, _ record: VercelRecord
    ) -> String? {
        if variable.isSystem || variable.type == .system {
            return "Vercel sets it automatically"
        }
        guard let kind = VariableAttributes.Kind(name: variable.type.rawValue) else {
            return "its type is unknown to this version of zg-env"
        }
        if kind == .secret { return "it refers to a legacy Vercel secret" }
        if variable.targets.contains(where: { Scope.Targets(name: $0.rawValue) == nil }) {
            return "its target is unknown to this version of zg-env"
        }
        if record.attributes.scope.isEmpty { return "it has no environment on Vercel" }
        let isPlain = record.key.unicodeScalars.allSatisfy { scalar in
            scalar != "=" && scalar != " " && scalar.properties.generalCategory != .control
        }
        guard isPlain, record.attributes.fitsIndex(id: record.id, key: record.key) else {
            return "the vault cannot store its name, comment or scope"
        }
        return nil
    }
}
