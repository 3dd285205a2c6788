internal import Sealing

extension JournalEntry {
    /// The sealed section at the beginning of the payload of ``GroupEntryKind/membership``, and
    /// what follows it.
    package func sealedSection() throws(VaultError) -> (sealed: [UInt8], rest: [UInt8]) {
        try payload.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let sealed = try reader.bytes(Int(try reader.uint32()))
                return (sealed, try reader.bytes(reader.remaining))
            }
        }
    }

    /// Returns the payload that ``sealedSection()`` reads.
    package static func payload(sealed: [UInt8], rest: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(reserving: sealed.count + rest.count + 4)
        writer.uint32(UInt32(sealed.count))
        writer.raw(sealed)
        writer.raw(rest)
        return writer.bytes
    }
}
