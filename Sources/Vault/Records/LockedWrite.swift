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

    init(generation: UInt64, by author: Author, variables: Set<Identifier>) {
        self.generation = generation
        time = author.time
        var command = author.command
        while command.utf8.count > Self.commandLimit { command.removeLast() }
        self.command = command
        self.variables = variables.sorted()
    }

    private init(
        generation: UInt64, time: UInt64, command: String, variables: [Identifier]
    ) {
        (self.generation, self.time) = (generation, time)
        (self.command, self.variables) = (command, variables)
    }

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
        let count = try reader.count(
            limit: VaultFormat.recordLimit, minimumByteCount: 16, of: "changed records")
        var variables: [Identifier] = []
        variables.reserveCapacity(count)
        for _ in 0..<count {
            let variable = try reader.identifier()
            guard variables.last.map({ $0 < variable }) ?? true else {
                throw VaultError(damaged: .order, "the records of a locked write are not in order")
            }
            variables.append(variable)
        }
        return LockedWrite(
            generation: generation, time: time, command: command, variables: variables)
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
