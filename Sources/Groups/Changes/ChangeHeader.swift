package import Vault

/// The clear part of a change.
package struct ChangeHeader: Equatable, Sendable {
    /// Which of the author's keys signs.
    package enum Key: UInt8, Sendable {
        case write = 1
        case authority = 2
    }

    package let key: Key
    package let group: GroupHash
    package let compartment: Identifier
    package let epoch: UInt32
    package let author: Identifier
    package let chain: Identifier
    /// From 1.
    package let counter: UInt64
    /// The change before in the chain; zero for the first one.
    package let before: GroupHash
    /// The newest entry that the author had.
    package let entryNumber: UInt64
    package let entry: GroupHash
    /// Heads that the author had, ascending, without `before`.
    package let parents: [GroupHash]

    package init(
        key: Key, group: GroupHash, compartment: Identifier, epoch: UInt32, author: Identifier,
        chain: Identifier, counter: UInt64, before: GroupHash, entryNumber: UInt64,
        entry: GroupHash, parents: [GroupHash]
    ) {
        self.key = key
        self.group = group
        self.compartment = compartment
        self.epoch = epoch
        self.author = author
        self.chain = chain
        self.counter = counter
        self.before = before
        self.entryNumber = entryNumber
        self.entry = entry
        self.parents = parents
    }

    /// Parents, and the change before.
    package var predecessors: [GroupHash] { before == .zero ? parents : parents + [before] }

    func encode(into writer: inout ByteWriter) {
        writer.raw(GroupLabel.change.bytes)
        writer.byte(1)
        writer.byte(key.rawValue)
        group.encode(into: &writer)
        writer.identifier(compartment)
        writer.uint32(epoch)
        writer.identifier(author)
        writer.identifier(chain)
        writer.uint64(counter)
        before.encode(into: &writer)
        writer.uint64(entryNumber)
        entry.encode(into: &writer)
        writer.hashes(parents)
    }

    /// Reads the fields after label and kind.
    static func decode(from reader: inout ByteReader) throws(VaultError) -> ChangeHeader {
        guard let key = Key(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a change refers to an unknown key")
        }
        let group = try GroupHash.decode(from: &reader)
        let compartment = try reader.identifier()
        let epoch = try reader.uint32()
        try reader.require(epoch > 0, .layout, "a change has epoch 0")
        let (author, chain) = (try reader.identifier(), try reader.identifier())
        let counter = try reader.uint64()
        try reader.require(counter > 0, .layout, "a change has counter 0")
        let before = try GroupHash.decode(from: &reader)
        try reader.require(
            (before == .zero) == (counter == 1), .layout, "a change's predecessor is invalid")
        let number = try reader.uint64()
        try reader.require(number > 0, .layout, "a change refers to entry 0")
        let entry = try GroupHash.decode(from: &reader)
        let parents = try reader.hashes(limit: GroupLimits.parents, of: "parents")
        try reader.require(
            !parents.contains(before), .layout, "a change lists its predecessor twice")
        return ChangeHeader(
            key: key, group: group, compartment: compartment, epoch: epoch, author: author,
            chain: chain, counter: counter, before: before, entryNumber: number, entry: entry,
            parents: parents)
    }
}
