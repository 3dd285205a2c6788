package import Groups
package import Sealing
package import Vault

/// A member's private keys and the current keys of the compartments, in guarded memory. In the vault
/// they are sealed under the root.
package final class MemberSecrets {
    /// The keys with which this member writes to a compartment.
    package struct CurrentEpoch {
        package let compartment: Identifier
        package let number: UInt32
        /// The entry that made it.
        package let entry: GroupHash
        /// X25519, public: 32 bytes.
        package let valueKey: [UInt8]
        /// 32 bytes.
        let indexKey: SecretSlice
    }

    /// The four seeds, 32 bytes each.
    package enum Seed: Int {
        case write = 0, authority, indexBox, valueBox
    }

    private static let seedsByteCount = 128
    private let arena: SecretArena
    private let seeds: SecretSlice
    package private(set) var epochs: [CurrentEpoch] = []
    /// Whether keys changed since the secrets were opened.
    private(set) var isChanged = false

    /// Generates new seeds.
    package init() throws(GroupError) {
        arena = SecretArena(firstRegionByteCount: 8 << 10)
        do throws(SealingError) {
            let random = try SecretBytes.random(count: Self.seedsByteCount)
            seeds = try random.withBytes { [arena] (bytes) throws(SealingError) in
                try arena.copy(bytes)
            }
        } catch { throw GroupError(.outOfMemory, "there is not enough memory for new keys") }
    }

    /// Opens what ``sealed(for:vault:with:)`` returned.
    package init(
        _ entry: JournalEntry, vault: Identifier, with keys: VaultKeys
    ) throws(VaultError) {
        let arena = SecretArena(firstRegionByteCount: 8 << 10)
        self.arena = arena
        let opened = try keys.groupSecrets(
            try entry.sealedSection().sealed, vault: vault, entry: entry.id, in: arena)
        guard opened.count >= Self.seedsByteCount else {
            throw VaultError(damaged: .bounds, "a group key is too short")
        }
        seeds = opened.part(0..<Self.seedsByteCount)
        epochs = try opened.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                _ = try reader.section(Self.seedsByteCount)
                let count = try reader.count(
                    limit: GroupLimits.compartments, minimumByteCount: 116, of: "keys of a group")
                var found: [CurrentEpoch] = []
                for _ in 0..<count {
                    let compartment = try reader.identifier()
                    let number = try reader.uint32()
                    let made = try GroupHash.decode(from: &reader)
                    let valueKey = try reader.bytes(32)
                    let start = reader.offset
                    _ = try reader.section(32)
                    found.append(
                        CurrentEpoch(
                            compartment: compartment, number: number, entry: made,
                            valueKey: valueKey, indexKey: opened.part(start..<start + 32)))
                }
                try reader.expectEnd(of: "the keys of a group")
                return found
            }
        }
    }

    /// Seals the secrets for a journal entry.
    package func sealed(
        for entry: Identifier, vault: Identifier, with keys: VaultKeys
    ) throws(VaultError) -> [UInt8] {
        let all: SecretSlice
        do throws(SealingError) {
            var buffer = try SecretBuffer(capacity: Self.seedsByteCount + 4 + 116 * epochs.count)
            try seeds.withBytes { (seeds) throws(SealingError) in try buffer.append(seeds) }
            var count = ByteWriter()
            count.uint32(UInt32(epochs.count))
            try append(count.bytes, to: &buffer)
            for epoch in epochs {
                var front = ByteWriter()
                front.identifier(epoch.compartment)
                front.uint32(epoch.number)
                epoch.entry.encode(into: &front)
                front.raw(epoch.valueKey)
                try append(front.bytes, to: &buffer)
                try epoch.indexKey.withBytes { (key) throws(SealingError) in
                    try buffer.append(key)
                }
            }
            all = try buffer.withBytes { (bytes) throws(SealingError) in try arena.copy(bytes) }
        } catch {
            throw VaultError(.outOfMemory, "not enough memory for the group's keys")
        }
        return try keys.sealedGroupSecrets(all, vault: vault, entry: entry)
    }

    private func append(
        _ bytes: [UInt8], to buffer: inout SecretBuffer
    ) throws(SealingError) {
        try bytes.withBytes { (bytes) throws(SealingError) in try buffer.append(bytes) }
    }

    /// Replaces the current keys of a compartment.
    package func keep(
        _ compartment: Identifier, number: UInt32, entry: GroupHash, valueKey: [UInt8],
        indexKey: borrowing IndexKeyOfEpoch
    ) throws(GroupError) {
        let copy = try Self.sealing(
            try indexKey.withBytes { (bytes) throws(SealingError) in try arena.copy(bytes) })
        isChanged = true
        epochs.removeAll { $0.compartment == compartment }
        epochs.append(
            CurrentEpoch(
                compartment: compartment, number: number, entry: entry, valueKey: valueKey,
                indexKey: copy))
        epochs.sort { $0.compartment < $1.compartment }
    }

    /// Forgets the keys of compartments that this member has no access to any more.
    package func keepOnly(_ compartments: Set<Identifier>) {
        let count = epochs.count
        epochs.removeAll { !compartments.contains($0.compartment) }
        if epochs.count != count { isChanged = true }
    }

    package func epoch(of compartment: Identifier) -> CurrentEpoch? {
        epochs.first { $0.compartment == compartment }
    }

    /// Passes the index key of an epoch to `body`.
    package func withIndexKey<R>(
        of epoch: CurrentEpoch, _ body: (borrowing IndexKeyOfEpoch) throws(GroupError) -> R
    ) throws(GroupError) -> R {
        let key = try IndexKeyOfEpoch(try Self.sealing(try Self.copy(epoch.indexKey)))
        return try body(key)
    }

    package func signingKeyPair(_ seed: Seed) throws(GroupError) -> SigningKeyPair {
        try Self.sealing(try SigningKeyPair(seed: try bytes(of: seed)))
    }

    package func boxKeyPair(_ seed: Seed) throws(GroupError) -> SealedBox.KeyPair {
        try Self.sealing(try SealedBox.KeyPair(seed: try bytes(of: seed)))
    }

    /// The public halves of the four pairs.
    package func publicKeys() throws(GroupError) -> MemberKeys {
        let (write, authority) = (
            try signingKeyPair(.write).publicKey, try signingKeyPair(.authority).publicKey
        )
        return MemberKeys(
            write: write, authority: authority, indexBox: try boxKeyPair(.indexBox).publicKey,
            valueBox: try boxKeyPair(.valueBox).publicKey)
    }

    private func bytes(of seed: Seed) throws(SealingError) -> SecretBytes {
        let start = seed.rawValue * 32
        return try Self.copy(seeds.part(start..<start + 32))
    }

    private static func copy(_ slice: SecretSlice) throws(SealingError) -> SecretBytes {
        try slice.withBytes { (bytes) throws(SealingError) in try SecretBytes(copying: bytes) }
    }

    /// Returns the result of `call`, which can fail only for lack of memory.
    private static func sealing<R: ~Copyable>(
        _ call: @autoclosure () throws(SealingError) -> R
    ) throws(GroupError) -> R {
        do throws(SealingError) { return try call() } catch {
            throw GroupError(.outOfMemory, "there is not enough memory for a key")
        }
    }
}
