/// The variables as somebody with the root last accepted them, under a code that only the root makes.
package struct Checkpoint: Equatable, Sendable {
    /// What the checkpoint holds of one variable.
    package struct Entry: Equatable, Sendable {
        let variable: Identifier
        var project: Identifier
        var name: String
        var currentVersion: UInt64
        var kind: VariableAttributes.Kind
        var scope: Scope
        var remoteID: String?
        var account: String?

        /// What it would hold of a variable as that is, in use or not.
        init(of variable: Variable) {
            self.variable = variable.id
            project = variable.project
            name = variable.name
            currentVersion = variable.currentVersion
            kind = variable.attributes.kind
            scope = variable.attributes.scope
            remoteID = variable.remote?.id
            account = variable.remote?.account
        }

        fileprivate init(decoding reader: inout ByteReader) throws(VaultError) {
            variable = try reader.identifier()
            project = try reader.identifier()
            name = try reader.text(limit: VaultFormat.nameLimit)
            currentVersion = try reader.uint64()
            guard let kind = VariableAttributes.Kind(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "the checkpoint has an unknown type")
            }
            self.kind = kind
            scope = try Scope.decode(from: &reader)
            remoteID = try reader.optionalText(limit: VaultFormat.textLimit)
            account = try reader.optionalText(limit: VaultFormat.textLimit)
        }

        fileprivate func encode(into writer: inout ByteWriter) {
            writer.identifier(variable)
            writer.identifier(project)
            writer.text(name)
            writer.uint64(currentVersion)
            writer.byte(kind.rawValue)
            scope.encode(into: &writer)
            writer.optionalText(remoteID)
            writer.optionalText(account)
        }
    }

    /// The generation it was made in.
    package let generation: UInt64
    /// 32 bytes.
    let authenticationCode: [UInt8]
    /// In ascending order of variables.
    var entries: [Entry]

    func encode(into writer: inout ByteWriter) {
        writer.uint64(generation)
        writer.raw(authenticationCode)
        Self.encode(entries, into: &writer)
    }

    /// The entries with their number, as they stand in the index and in what the code covers.
    static func encode(_ entries: [Entry], into writer: inout ByteWriter) {
        writer.uint32(UInt32(entries.count))
        for entry in entries { entry.encode(into: &writer) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Checkpoint {
        let generation = try reader.uint64()
        let code = try reader.bytes(32)
        let count = try reader.count(
            limit: VaultFormat.recordLimit, minimumByteCount: 53, of: "checkpoint entries")
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let entry = try Entry(decoding: &reader)
            guard entries.last.map({ $0.variable < entry.variable }) ?? true else {
                throw VaultError(damaged: .order, "the checkpoint's entries are not in order")
            }
            entries.append(entry)
        }
        return Checkpoint(generation: generation, authenticationCode: code, entries: entries)
    }
}
