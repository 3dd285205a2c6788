import Testing

@testable import Vault

@Suite("An anchor")
struct VaultAnchorTests {
    private let anchor = VaultAnchor(
        vaultID: .random(),
        position: VaultPosition(generation: 41, indexTag: Array(0..<16)))

    @Test func `is one line, and is read from it`() {
        let line = String(decoding: anchor.line, as: UTF8.self)
        #expect(
            line
                == "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f\n"
        )
        #expect(VaultAnchor(anchor.line) == anchor)
        #expect(anchor.line.count <= VaultAnchor.byteLimit)
        let longest = VaultAnchor(
            vaultID: .random(),
            position: VaultPosition(generation: .max, indexTag: [UInt8](repeating: 255, count: 16)))
        #expect(longest.line.count <= VaultAnchor.byteLimit)
        #expect(VaultAnchor(longest.line) == longest)
    }

    @Test func `nothing but that line is one`() {
        let line = anchor.line
        for length in 0..<line.count { #expect(VaultAnchor(Array(line[..<length])) == nil) }
        #expect(VaultAnchor(line + [0x0A]) == nil)
        #expect(VaultAnchor([0x20] + line) == nil)
        for text in [
            "zg-env-anchor-2 \(anchor.vaultID.hexadecimal) 41 000102030405060708090a0b0c0d0e0f\n",
            "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) 041 000102030405060708090a0b0c0d0e0f\n",
            "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) +41 000102030405060708090a0b0c0d0e0f\n",
            "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) 41 000102030405060708090A0B0C0D0E0F\n",
            "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) 99999999999999999999 00010203040506070809\n",
            "zg-env-anchor-1 \(anchor.vaultID.hexadecimal) 41 ０００102030405060708090a0b0c0d\n",
        ] {
            #expect(VaultAnchor(Array(text.utf8)) == nil, "\(text)")
        }
        for byte in line.indices {
            var changed = line
            changed[byte] = 0xFF
            #expect(VaultAnchor(changed) == nil)
        }
    }

    @Test func `copies of one vault have anchors of their own`() {
        let one = VaultAnchor.keyringItem(vault: anchor.vaultID, path: "/a/vault.zgv")
        let other = VaultAnchor.keyringItem(vault: anchor.vaultID, path: "/b/vault.zgv")
        #expect(one.purpose == .anchor)
        #expect(one.identifier.count == 32)
        #expect(one.identifier != other.identifier)
        #expect(one == VaultAnchor.keyringItem(vault: anchor.vaultID, path: "/a/vault.zgv"))
    }
}
