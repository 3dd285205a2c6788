import Sealing
import Vault

@testable import Groups

/// The secrets of one member, derived from its number.
final class TestMember: @unchecked Sendable {
    let id: Identifier
    let person: Identifier
    let name: String
    let write: SigningKeyPair
    let authority: SigningKeyPair
    let indexBox: SealedBox.KeyPair
    let valueBox: SealedBox.KeyPair
    let keys: MemberKeys
    /// The seeds of the four pairs, 32 bytes each, in the order of the keys.
    let seeds: [[UInt8]]

    /// - Parameter person: The number of the person; by default each member is one of its own.
    init(_ number: Int, person: Int? = nil) {
        id = TestRandom.identifier("member", number)
        self.person = TestRandom.identifier("person", person ?? number)
        name = "member \(number)"
        let seeds = (0..<4).map { TestRandom.bytes("seed \($0)", number) }
        self.seeds = seeds
        do {
            write = try SigningKeyPair(seed: TestRandom.secret(seeds[0]))
            authority = try SigningKeyPair(seed: TestRandom.secret(seeds[1]))
            indexBox = try SealedBox.KeyPair(seed: TestRandom.secret(seeds[2]))
            valueBox = try SealedBox.KeyPair(seed: TestRandom.secret(seeds[3]))
        } catch { fatalError("\(error)") }
        keys = MemberKeys(
            write: write.publicKey, authority: authority.publicKey, indexBox: indexBox.publicKey,
            valueBox: valueBox.publicKey)
    }

    func admission(
        _ role: GroupRole, limit: [Identifier]? = nil, origin: Admission.Origin? = nil,
        grants: [Grant] = []
    ) -> Admission {
        Admission(
            member: id, person: person, name: name, rights: MemberRights(role: role, limit: limit),
            keys: keys, origin: origin, grants: grants)
    }
}

/// The keys of an epoch, derived from its number.
final class TestEpoch: @unchecked Sendable {
    let index: IndexKeyOfEpoch
    let value: ValueSecretOfEpoch
    let valueKey: [UInt8]
    let indexBytes: [UInt8]
    let valueBytes: [UInt8]

    init(_ number: Int) {
        indexBytes = TestRandom.bytes("index key", number)
        valueBytes = TestRandom.bytes("value secret", number)
        do {
            index = try IndexKeyOfEpoch(TestRandom.secret(indexBytes))
            value = try ValueSecretOfEpoch(TestRandom.secret(valueBytes))
        } catch { fatalError("\(error)") }
        valueKey = value.publicKey
    }
}

/// Bytes that depend on a label and a number.
enum TestRandom {
    static func bytes(_ label: String, _ number: Int) -> [UInt8] {
        GroupHash(of: Array("zg-env test \(label) \(number)".utf8)).bytes
    }

    static func identifier(_ label: String, _ number: Int) -> Identifier {
        guard let id = Identifier(bytes(label, number).prefix(16)) else { fatalError("16 bytes") }
        return id
    }

    static func secret(_ bytes: [UInt8]) throws(SealingError) -> SecretBytes {
        try bytes.withBytes { (bytes) throws(SealingError) in try SecretBytes(copying: bytes) }
    }
}

/// Members and epochs that tests share, because guarded memory is slow to allocate.
enum TestPool {
    static let members = (0..<64).map { TestMember($0) }
    static let epochs = (0..<512).map { TestEpoch($0) }
    static let compartments = (0..<8).map { TestRandom.identifier("compartment", $0) }.sorted()
}
