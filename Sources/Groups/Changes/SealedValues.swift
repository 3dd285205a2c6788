package import Sealing
package import Vault

/// The values of one change while they are sealed, under a data key of their own.
package struct SealedValues: ~Copyable {
    private let dataKey: SecretBytes
    private let context: DataKeyContext
    private var scratch: SecretBuffer
    /// Wrapped data key and chunks; what a change takes as its values.
    package private(set) var bytes: [UInt8]

    /// - Parameter publicKey: The value key of the epoch.
    /// - Throws: ``GroupError/Code/unusableKey`` for a point of low order.
    package init(_ context: DataKeyContext, publicKey: [UInt8]) throws(GroupError) {
        let key = try sealing(try SecretBytes.random(count: 32))
        let scratch = try sealing(try SecretBuffer(capacity: 1_024))
        bytes = try context.wrap(key, to: publicKey)
        self.context = context
        self.scratch = scratch
        dataKey = key
    }

    /// Seals a value of at most 1 MiB and appends its chunk.
    ///
    /// - Returns: The size of the chunk, for the operation.
    package mutating func append(
        _ value: RawSpan, record: Identifier, version: Identifier, sealedName: String
    ) throws(GroupError) -> Int {
        guard value.byteCount <= VaultFormat.valueLimit else {
            throw GroupError(.length, "a value is larger than 1 MiB")
        }
        do throws(VaultError) {
            return try ValueChunk.seal(
                value,
                associatedData: context.chunkData(
                    record: record, version: version, sealedName: sealedName),
                dataKey: dataKey, scratch: &scratch, appendingTo: &bytes)
        } catch { throw GroupError(error) }
    }
}

extension Change {
    /// Opens all values of a change, in the order of its value operations, into `arena`.
    ///
    /// - Parameter content: The opened operations of this change.
    /// - Throws: ``GroupError/Code/tag`` if the data key or a value does not open, or is padded
    ///   wrongly.
    package func openValues(
        _ content: ChangeContent, with secret: borrowing ValueSecretOfEpoch, in arena: SecretArena
    ) throws(GroupError) -> [SecretSlice] {
        guard let batch = content.batch else { return [] }
        let context = DataKeyContext(
            group: header.group, compartment: header.compartment, epoch: header.epoch,
            batch: batch)
        var start = values.lowerBound + GroupLimits.dataKeyByteCount
        let dataKey = try secret.open(
            dataKey: Array(object[values.lowerBound..<start]), context, in: arena)
        var opened: [SecretSlice] = []
        for operation in content.operations {
            guard case .value(let value) = operation.operation, let record = operation.record
            else { continue }
            let end = start + value.chunkByteCount
            let data = context.chunkData(
                record: record,
                version: VersionIdentity.id(author: header.author, seed: value.seed),
                sealedName: value.sealedName)
            do throws(VaultError) {
                opened.append(
                    try Array(object[start..<end]).withBytes { (chunk) throws(VaultError) in
                        try data.withBytes { (data) throws(VaultError) in
                            try ValueChunk.open(
                                chunk, associatedData: data, dataKey: dataKey, in: arena,
                                name: "a variable")
                        }
                    })
            } catch { throw GroupError(error) }
            start = end
        }
        return opened
    }
}
