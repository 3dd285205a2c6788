/// The cost of deriving a key from a passphrase: the parameters of Argon2id.
package struct PassphraseCost: Equatable, Sendable {
    /// The number of passes.
    package var operations: UInt32
    package var memoryByteCount: UInt64

    /// Does not check the parameters; see ``isAcceptable``.
    package init(operations: UInt32, memoryByteCount: UInt64) {
        self.operations = operations
        self.memoryByteCount = memoryByteCount
    }

    /// libsodium's "interactive": 64 MiB, 2 passes.
    package static let interactive = PassphraseCost(operations: 2, memoryByteCount: 64 << 20)
    /// libsodium's "moderate": 256 MiB, 3 passes. The default for new slots.
    package static let moderate = PassphraseCost(operations: 3, memoryByteCount: 256 << 20)

    /// Whether the cost is within the limits of the vault format: 1 to 10 passes, 8 MiB to 1 GiB,
    /// passes times memory at most 4 GiB. Checked before allocating any memory for a file.
    package var isAcceptable: Bool {
        (1...10).contains(operations) && ((8 << 20)...(1 << 30)).contains(memoryByteCount)
            && UInt64(operations) * memoryByteCount <= 4 << 30
    }

    /// Whether guessing is cheaper than with libsodium's "interactive".
    package var isWeakerThanInteractive: Bool {
        memoryByteCount < Self.interactive.memoryByteCount
            || UInt64(operations) * memoryByteCount
                < UInt64(Self.interactive.operations) * Self.interactive.memoryByteCount
    }
}
