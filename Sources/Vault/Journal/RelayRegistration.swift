package import Sealing

/// The registration of this vault as a device of an event relay: the relay, the device's id, its
/// token and its private key. A journal entry whose payload never leaves guarded memory.
package struct RelayRegistration {
    /// The journal entry kind.
    static let kind: UInt8 = 4
    /// The most registrations of a vault, each with a different relay.
    package static let limit = 16
    /// The most accounts of one registration.
    package static let accountLimit = 64
    /// The length of the token, which consists of letters, digits, `_` and `-`.
    package static let tokenByteCount = 43
    /// The length of the seed of the device's key pair.
    package static let seedByteCount = 32

    package let id: Identifier
    /// By this machine's clock, in milliseconds since 1970.
    package let joinedAt: UInt64
    /// The only origin that may receive the token, such as "https://relay.example".
    package let relay: String
    /// The device's id on the relay.
    package let device: String
    /// Vercel's ids of the teams and users whose events are received.
    package let accounts: [String]
    /// The device's password.
    package let token: SecretSlice
    /// The seed of the device's key pair.
    package let seed: SecretSlice

    package init(
        joinedAt: UInt64, relay: String, device: String, accounts: [String], token: SecretSlice,
        seed: SecretSlice
    ) {
        id = .random()
        self.joinedAt = joinedAt
        (self.relay, self.device, self.accounts) = (relay, device, accounts)
        (self.token, self.seed) = (token, seed)
    }

    /// - Throws: ``VaultError/Code/damaged`` if the payload is malformed.
    init(_ entry: SecretJournalEntry) throws(VaultError) {
        (id, joinedAt) = (entry.id, entry.createdAt)
        let payload = entry.payload
        let parts = try payload.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let relay = try reader.text(limit: VaultFormat.textLimit)
                let device = try reader.text(limit: VaultFormat.nameLimit)
                var accounts: [String] = []
                let count = try reader.count(
                    limit: Self.accountLimit, minimumByteCount: 4, of: "accounts of a relay")
                for _ in 0..<count {
                    accounts.append(try reader.text(limit: VaultFormat.nameLimit))
                }
                let start = reader.offset
                _ = try reader.section(Self.tokenByteCount + Self.seedByteCount)
                try reader.expectEnd(of: "a relay registration")
                return (relay, device, accounts, start)
            }
        }
        (relay, device, accounts) = (parts.0, parts.1, parts.2)
        let middle = parts.3 + Self.tokenByteCount
        token = payload.part(parts.3..<middle)
        seed = payload.part(middle..<middle + Self.seedByteCount)
        let isClean = token.withBytes { bytes in
            (0..<bytes.byteCount).allSatisfy { Self.isWord(bytes.byte(at: $0)) }
        }
        let words = [device] + accounts
        guard isClean, !relay.isEmpty, !accounts.isEmpty,
            words.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isWord) })
        else {
            throw VaultError(damaged: .encoding, "a relay registration is malformed")
        }
    }

    /// Returns the journal entry that ``init(_:)`` reads.
    func entry() throws(VaultError) -> SecretJournalEntry {
        precondition(token.count == Self.tokenByteCount && seed.count == Self.seedByteCount)
        var front = ByteWriter()
        front.text(relay)
        front.text(device)
        front.uint32(UInt32(accounts.count))
        for account in accounts { front.text(account) }
        let size = front.count
        let payload = try guarding { () throws(SealingError) in
            let payload = try SecretArena(firstRegionByteCount: 4_096).allocate(
                count: size + token.count + seed.count)
            front.withBytes { bytes in
                payload.part(0..<size).withMutableBytes { $0.copy(from: bytes) }
            }
            for (offset, secret) in [(size, token), (size + token.count, seed)] {
                secret.withBytes { bytes in
                    payload.part(offset..<offset + bytes.byteCount).withMutableBytes {
                        $0.copy(from: bytes)
                    }
                }
            }
            return payload
        }
        return SecretJournalEntry(id: id, createdAt: joinedAt, payload: payload)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}
