/// How a write made while the values were locked describes itself. For people; no decision may
/// depend on it.
package struct LockedWrite: Equatable, Sendable {
    package struct Author: Sendable {
        package let command: String
        /// Milliseconds since 1970.
        package let time: UInt64

        package init(command: String, time: UInt64) {
            (self.command, self.time) = (command, time)
        }
    }

    /// The generation that it created.
    package let generation: UInt64
    /// Milliseconds since 1970.
    package let time: UInt64
    /// At most 64 bytes.
    package let command: String
    /// The changed records, sorted, without those that a later write changed.
    package internal(set) var variables: [Identifier]

    static let minimumByteCount = 24
    static let commandLimit = 64

    func encode(into writer: inout ByteWriter) {
        writer.uint64(generation)
        writer.uint64(time)
        writer.text(command)
        writer.uint32(UInt32(variables.count))
        for variable in variables { writer.identifier(variable) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> LockedWrite {
        let generation = try reader.uint64()
        let time = try reader.uint64()
        let command = try reader.text(limit: commandLimit)
        let variables = try reader.ascending(
            "changed records", limit: VaultFormat.recordLimit, minimumByteCount: 16,
            { (reader) throws(VaultError) in try reader.identifier() }, by: \.self, <,
            else: "the records of a locked write are not in order")
        return LockedWrite(
            generation: generation, time: time, command: command, variables: variables)
    }
}

extension LockedWrite {
    init(generation: UInt64, by author: Author, variables: Set<Identifier>) {
        var command = author.command
        while command.utf8.count > Self.commandLimit { command.removeLast() }
        self.init(
            generation: generation, time: author.time, command: command,
            variables: variables.sorted())
    }
}

extension IndexMetadata {
    /// Records a locked write as the last one of the records that it changed.
    mutating func note(_ write: LockedWrite) {
        if write.variables.isEmpty { return }
        let changed = Set(write.variables)
        forgetLockedWrites { changed.contains($0) }
        // A malicious index may contain one with a future generation.
        lockedWrites.removeAll { $0.generation >= write.generation }
        lockedWrites.append(write)
        lockedWrites.removeFirst(max(lockedWrites.count - VaultFormat.lockedWriteLimit, 0))
    }

    /// Removes records from all locked writes, and then locked writes without records.
    mutating func forgetLockedWrites(of isForgotten: (Identifier) -> Bool) {
        for place in lockedWrites.indices {
            lockedWrites[place].variables.removeAll(where: isForgotten)
        }
        lockedWrites.removeAll { $0.variables.isEmpty }
    }
}
