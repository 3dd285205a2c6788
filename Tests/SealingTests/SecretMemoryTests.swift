import Sealing
import Testing

@Suite("Secret memory")
struct SecretMemoryTests {
    @Test func `an arena holds many slices in few allocations`() throws {
        let before = SecretMemory.allocationCount
        let arena = SecretArena()
        var slices: [SecretSlice] = []
        for index in 0..<10_000 {
            let text = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index % 97)
            slices.append(try text.withBytes { try arena.copy($0) })
        }
        for (index, slice) in slices.enumerated() {
            #expect(slice.count == index % 97)
            #expect(slice.bytesForTesting.allSatisfy { $0 == UInt8(truncatingIfNeeded: index) })
        }
        // Other tests allocate meanwhile, so this is a bound and not an exact count.
        #expect(SecretMemory.allocationCount - before < 5_000)
    }

    @Test func `a slice does not print its content`() throws {
        let slice = try Array("marker-value".utf8).withBytes { try SecretArena().copy($0) }
        var dumped = ""
        dump(slice, to: &dumped)
        for text in ["\(slice)", String(reflecting: slice), String(describing: slice), dumped] {
            #expect(!text.contains("marker"))
        }
    }

    @Test func `a buffer grows and keeps its bytes`() throws {
        var buffer = try SecretBuffer(capacity: 1)
        var expected: [UInt8] = []
        for index in 0..<3_000 {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index % 5)
            try piece.withBytes { try buffer.append($0) }
            expected += piece
        }
        try buffer.append(7)
        expected.append(7)
        #expect(buffer.withBytes { $0.bytesForTesting } == expected)
        buffer.removeLast(3)
        #expect(buffer.withBytes { $0.bytesForTesting } == Array(expected.dropLast(3)))
    }

    @Test func `short-lived keys use few regions and are zeroed`() async {
        await #expect(processExitsWith: .success) {
            let before = SecretMemory.allocationCount
            for number in 0..<1_000 {
                var key = try SecretBytes(count: 32)
                #expect(key.withBytes { $0.bytesForTesting }.allSatisfy { $0 == 0 })
                let bytes = [UInt8](repeating: UInt8(number % 255 + 1), count: 32)
                bytes.withBytes { bytes in key.withMutableBytes { $0.copy(from: bytes) } }
            }
            #expect(SecretMemory.allocationCount - before <= 2)
        }
    }

    @Test func `reading a released key ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let address = try {
                let key = try SecretBytes(count: 32)
                return key.withBytes { span in
                    unsafe span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
                }
            }()
            let gone = unsafe UnsafePointer<UInt8>(bitPattern: address)
            print(unsafe gone?.pointee ?? 0)
        }
    }

    @Test func `reading past the end of a region ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let bytes = try SecretBytes(count: 16)
            bytes.withBytes { span in
                unsafe span.withUnsafeBytes { buffer in
                    guard let start = buffer.baseAddress else { return }
                    let beyond = unsafe start.advanced(by: 16).assumingMemoryBound(to: UInt8.self)
                    print(unsafe beyond.pointee)
                }
            }
        }
    }

    @Test func `a sealed box opens only with its key pair`() throws {
        let pair = try SealedBox.KeyPair(seed: try SecretBytes.random(count: 32))
        let other = try SealedBox.KeyPair(seed: try SecretBytes.random(count: 32))
        let sealed = try [UInt8]([1, 2, 3]).withBytes {
            try SealedBox.seal($0, to: pair.publicKey)
        }
        #expect(try open(sealed, with: pair) == [1, 2, 3])
        let refused = #expect(throws: SealingError.self) { _ = try open(sealed, with: other) }
        #expect(refused == .notAuthentic)
    }

    private func open(
        _ sealed: [UInt8], with pair: borrowing SealedBox.KeyPair
    ) throws(SealingError) -> [UInt8] {
        var plaintext = try SecretBytes(count: sealed.count - 48)
        try sealed.withBytes { (sealed) throws(SealingError) in
            try plaintext.withMutableBytes { (out) throws(SealingError) in
                try SealedBox.open(sealed, with: pair, into: &out)
            }
        }
        return plaintext.withBytes { $0.bytesForTesting }
    }

    /// Points of low order in each of their encodings that X25519 reads, as in RFC 7748 and
    /// https://cr.yp.to/ecdh.html#validate.
    static let pointsOfLowOrder: [[UInt8]] = {
        let largest = [UInt8](repeating: 0xFF, count: 31) + [0x7F]
        func prime(_ difference: UInt8) -> [UInt8] { [0xED &+ difference] + largest.dropFirst() }
        let eight: [[UInt8]] = [
            [
                0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F,
                0xC4, 0x6A, 0xDA, 0x09, 0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16,
                0x5F, 0x49, 0xB8, 0x00,
            ],
            [
                0x5F, 0x9C, 0x95, 0xBC, 0xA3, 0x50, 0x8C, 0x24, 0xB1, 0xD0, 0xB1, 0x55, 0x9C, 0x83,
                0xEF, 0x5B, 0x04, 0x44, 0x5C, 0xC4, 0x58, 0x1C, 0x8E, 0x86, 0xD8, 0x22, 0x4E, 0xDD,
                0xD0, 0x9F, 0x11, 0x57,
            ],
        ]
        let zeros = [UInt8](repeating: 0, count: 31)
        let points =
            [[0] + zeros, [1] + zeros, prime(0xFF), prime(0), prime(1)] + eight
        // The highest bit is ignored.
        return points + points.map { $0.dropLast() + [$0[31] | 0x80] }
    }()

    @Test(arguments: pointsOfLowOrder)
    func `SEC-F15: nothing is sealed to a point of low order`(point: [UInt8]) throws {
        #expect(point.count == 32)
        #expect(!SealedBox.isUsable(point))
        let refused = #expect(throws: SealingError.self) {
            _ = try [UInt8]([1, 2, 3]).withBytes { try SealedBox.seal($0, to: point) }
        }
        #expect(refused == .unusableKey)
        #expect(SealedBox.isUsable(try SealedBox.KeyPair(seed: .random(count: 32)).publicKey))
    }
}
