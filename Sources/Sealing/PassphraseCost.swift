/// What one guess at a passphrase costs: the parameters of Argon2id.
package struct PassphraseCost: Equatable, Sendable {
    /// Number of passes.
    package var operations: UInt32
    /// Memory, in bytes.
    package var memoryByteCount: UInt64

    /// Names both parameters. Not checked here; see ``isAcceptable``.
    package init(operations: UInt32, memoryByteCount: UInt64) {
        self.operations = operations
        self.memoryByteCount = memoryByteCount
    }

    /// libsodium's "interactive": 64 MiB, 2 passes.
    package static let interactive = PassphraseCost(operations: 2, memoryByteCount: 64 << 20)
    /// libsodium's "moderate": 256 MiB, 3 passes. The default of new slots.
    package static let moderate = PassphraseCost(operations: 3, memoryByteCount: 256 << 20)

    /// Tells whether the cost is inside the bounds of the vault format: 1 to 10 passes, 8 MiB to
    /// 1 GiB, passes times memory at most 4 GiB. A file that asks for more is refused before any memory is taken.
    package var isAcceptable: Bool {
        (1...10).contains(operations) && ((8 << 20)...(1 << 30)).contains(memoryByteCount)
            && UInt64(operations) * memoryByteCount <= 4 << 30
    }

    /// Tells whether guessing costs less than libsodium's "interactive" asks for.
    package var isWeakerThanInteractive: Bool {
        memoryByteCount < Self.interactive.memoryByteCount
            || UInt64(operations) * memoryByteCount
                < UInt64(Self.interactive.operations) * Self.interactive.memoryByteCount
    }
}
