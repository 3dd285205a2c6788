import Sealing
import Testing

@Suite("Key derivation")
struct KeyDerivationTests {
    @Test func `another label, number or key gives another key`() throws {
        func key(_ byte: UInt8, _ id: UInt64, _ context: StaticString) throws -> [UInt8] {
            let parent = try [UInt8](repeating: byte, count: 32).withBytes {
                try SecretBytes(copying: $0)
            }
            let derived = try KeyDerivation.derive(from: parent, id: id, context: context)
            return derived.withBytes { $0.bytesForTesting }
        }
        let first = try key(1, 1, "zgv3root")
        #expect(try key(1, 1, "zgv3root") == first)
        #expect(try key(1, 2, "zgv3root") != first)
        #expect(try key(1, 1, "zgv3indx") != first)
        #expect(try key(2, 1, "zgv3root") != first)
    }

    @Test func `Argon2id matches the reference implementation`() throws {
        // Made with the argon2 command of the reference implementation:
        // argon2 0123456789abcdef -id -t 1 -m 13 -p 1 -l 32 -r, passphrase "passphrase".
        let passphrase = try Array("passphrase".utf8).withBytes { (bytes) in
            try SecretBytes(copying: bytes)
        }
        let key = try PassphraseDerivation.deriveKey(
            from: passphrase, salt: Array("0123456789abcdef".utf8),
            cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20))
        #expect(
            key.withBytes { $0.bytesForTesting }
                == hex("2ef056985c7b18808ddf2606ee0640e6629e4e4932f44ed85d6984b45fbd8d2f"))
    }

    @Test(
        arguments: [
            (0, 8 << 20), (11, 8 << 20), (1, (8 << 20) - 1), (1, (1 << 30) + 1), (5, 1 << 30),
            (UInt32.max, UInt64.max),
        ] as [(UInt32, UInt64)])
    func `a cost out of bounds is refused before memory is allocated`(
        operations: UInt32, memory: UInt64
    ) throws {
        let passphrase = try SecretBytes(count: 1)
        #expect(throws: SealingError.costOutOfBounds) {
            _ = try PassphraseDerivation.deriveKey(
                from: passphrase, salt: [UInt8](repeating: 0, count: 16),
                cost: PassphraseCost(operations: operations, memoryByteCount: memory))
        }
    }
}
