package import Sealing
internal import Vault
package import VercelAPI

/// What a project has on the platform, apart into what the vault takes in and what it does not.
package struct PlatformListing {
    /// Everything that is there, also what is not taken in.
    package private(set) var all: [PlatformRecord] = []
    /// Records with values of their own.
    package private(set) var records: [PlatformRecord] = []
    /// Values that stood in the list already, by the platform's ids.
    package private(set) var values: [String: SecretSlice] = [:]
    /// Records that are not taken in, with the reason.
    package private(set) var skipped: [(id: String, note: RecordNote)] = []

    /// Looks through a list.
    package init(_ list: [ReadEnvironmentVariable], environments: CustomEnvironmentNames) {
        for read in list {
            let record = PlatformRecord(read.variable, environments: environments)
            all.append(record)
            if let reason = Self.reasonToSkip(read.variable, record) {
                skipped.append(
                    (
                        record.id,
                        .init(key: record.key, scope: record.attributes.scope, reason: reason)
                    ))
                continue
            }
            records.append(record)
            if let value = read.value { values[record.id] = value }
        }
    }

    /// Drops a record that went away while its value was asked for.
    package mutating func drop(_ id: String) {
        all.removeAll { $0.id == id }
        records.removeAll { $0.id == id }
    }

    /// Leaves out a record that is there.
    package mutating func skip(_ record: PlatformRecord, because reason: String) {
        records.removeAll { $0.id == record.id }
        skipped.append(
            (
                record.id,
                .init(key: record.key, scope: record.attributes.scope, reason: reason)
            ))
    }

    private static func reasonToSkip(
        _ variable: EnvironmentVariable, _ record: PlatformRecord
    ) -> String? {
        if variable.isSystem || variable.type == .system {
            return "the platform sets it by itself"
        }
        guard let kind = VariableAttributes.Kind(name: variable.type.rawValue) else {
            return "it is of a type that this program does not know"
        }
        if kind == .secret { return "it refers to a secret of the platform's old kind" }
        if variable.targets.contains(where: { Scope.Targets(name: $0.rawValue) == nil }) {
            return "it is for a target that this program does not know"
        }
        let isPlain = record.key.unicodeScalars.allSatisfy { scalar in
            scalar != "=" && scalar != " " && scalar.properties.generalCategory != .control
        }
        guard isPlain, record.attributes.fitsIndex(id: record.id, key: record.key) else {
            return "its name, comment or scope is none that the vault takes"
        }
        return nil
    }
}
