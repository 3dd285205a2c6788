/// The variables as somebody with the root last saw them, under a MAC that only the root gives.
package struct Checkpoint: Equatable, Sendable {
    /// What the checkpoint covers of one variable.
    package struct Entry: Equatable, Sendable {
        let variable: Identifier
        let project: Identifier
        let name: String
        let currentVersion: UInt64
        let kind: VariableAttributes.Kind
        let scope: Scope
        let remoteID: String?
        let account: String?
    }

    /// The generation it was made in.
    package let generation: UInt64
    /// 32 bytes.
    let authenticationCode: [UInt8]
    /// In ascending order of variables.
    let entries: [Entry]

    func encode(into writer: inout ByteWriter) {
        writer.uint64(generation)
        writer.raw(authenticationCode)
        writer.uint32(UInt32(entries.count))
        for entry in entries {
            writer.identifier(entry.variable)
            writer.identifier(entry.project)
            writer.text(entry.name)
            writer.uint64(entry.currentVersion)
            writer.byte(entry.kind.rawValue)
            entry.scope.encode(into: &writer)
            writer.optionalText(entry.remoteID)
            writer.optionalText(entry.account)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Checkpoint {
        let generation = try reader.uint64()
        let code = try reader.bytes(32)
        let count = try reader.count(
            limit: VaultFormat.recordLimit, minimumByteCount: 53, of: "checkpoint entries")
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let variable = try reader.identifier()
            let project = try reader.identifier()
            let name = try reader.text(limit: VaultFormat.nameLimit)
            let version = try reader.uint64()
            guard let kind = VariableAttributes.Kind(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "the checkpoint names an unknown type")
            }
            let entry = Entry(
                variable: variable, project: project, name: name, currentVersion: version,
                kind: kind, scope: try Scope.decode(from: &reader),
                remoteID: try reader.optionalText(limit: VaultFormat.textLimit),
                account: try reader.optionalText(limit: VaultFormat.textLimit))
            guard entries.last.map({ $0.variable < variable }) ?? true else {
                throw VaultError(damaged: .order, "the checkpoint's entries are not in order")
            }
            entries.append(entry)
        }
        return Checkpoint(generation: generation, authenticationCode: code, entries: entries)
    }
}
