import Testing

@testable import Vault

@Suite("A rollback guard")
struct RollbackGuardTests {
    private let anchor = RollbackGuard(
        vaultID: .random(),
        sighting: VaultObservation(
            position: VaultPosition(generation: 41, indexTag: Array(0..<16)),
            publicKey: Array(0x20..<0x40)))

    private static let key = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"

    @Test func `is one line, and is parsed from it`() {
        let line = String(decoding: anchor.line, as: UTF8.self)
        #expect(
            line
                == "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key)\n"
        )
        #expect(RollbackGuard(anchor.line) == anchor)
        #expect(anchor.line.count <= RollbackGuard.byteLimit)
        let longest = RollbackGuard(
            vaultID: .random(),
            sighting: VaultObservation(
                position: VaultPosition(
                    generation: .max, indexTag: [UInt8](repeating: 255, count: 16)),
                publicKey: [UInt8](repeating: 255, count: 32)))
        #expect(longest.line.count <= RollbackGuard.byteLimit)
        #expect(RollbackGuard(longest.line) == longest)
    }

    @Test func `nothing but that line is accepted`() {
        let line = anchor.line
        for length in 0..<line.count { #expect(RollbackGuard(Array(line[..<length])) == nil) }
        #expect(RollbackGuard(line + [0x0A]) == nil)
        #expect(RollbackGuard([0x20] + line) == nil)
        for text in [
            "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key) 7\n",
            "zg-env-anchor-2 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key) 7\n",
            "zg-env-anchor-2 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key)\n",
            "zg-env-anchor-4 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key)\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key) 7\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key) \n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 041 000102030405060708090a0b0c0d0e0f \(Self.key)\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) +41 000102030405060708090a0b0c0d0e0f \(Self.key)\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090A0B0C0D0E0F \(Self.key)\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key.uppercased())\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key.dropLast(2))\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f \(Self.key)00\n",
            "zg-env-anchor-3 \(anchor.vaultID.hexadecimal) 41 ０００102030405060708090a0b0c0d \(Self.key)\n",
        ] {
            #expect(RollbackGuard(Array(text.utf8)) == nil, "\(text)")
        }
        for byte in line.indices {
            var changed = line
            changed[byte] = 0xFF
            #expect(RollbackGuard(changed) == nil)
        }
    }

    @Test func `copies of one vault have separate rollback guards`() {
        let one = RollbackGuard.keyringItem(vault: anchor.vaultID, path: "/a/vault.zgv")
        let other = RollbackGuard.keyringItem(vault: anchor.vaultID, path: "/b/vault.zgv")
        #expect(one.purpose == .anchor)
        #expect(one.identifier.count == 32)
        #expect(one.identifier != other.identifier)
        #expect(one == RollbackGuard.keyringItem(vault: anchor.vaultID, path: "/a/vault.zgv"))
    }
}
