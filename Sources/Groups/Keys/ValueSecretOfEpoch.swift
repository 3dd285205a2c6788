package import Sealing

/// The value secret of one compartment and epoch: 32 bytes, the seed of the pair that data keys are
/// sealed to.
package struct ValueSecretOfEpoch: ~Copyable {
    private let seed: SecretBytes
    private let pair: SealedBox.KeyPair

    /// - Parameter seed: 32 bytes.
    package init(_ seed: consuming SecretBytes) throws(GroupError) {
        pair = try sealing(try SealedBox.KeyPair(seed: seed))
        self.seed = seed
    }

    package static func random() throws(GroupError) -> ValueSecretOfEpoch {
        try ValueSecretOfEpoch(try sealing(try SecretBytes.random(count: 32)))
    }

    /// X25519, 32 bytes.
    package var publicKey: [UInt8] { pair.publicKey }

    package borrowing func withSeed<R: ~Copyable, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R { try seed.withBytes(body) }

    /// Opens the data key of a change, 32 bytes, into `arena`.
    package borrowing func open(
        dataKey sealed: [UInt8], _ context: DataKeyContext, in arena: SecretArena
    ) throws(GroupError) -> SecretSlice {
        try LabeledBox.open(sealed, with: pair, expecting: context.bytes, in: arena)
    }

    /// Seals the value secret of an earlier epoch to a new one: 148 bytes.
    package static func rung(
        for earlier: borrowing ValueSecretOfEpoch, to publicKey: [UInt8], _ context: RungContext
    ) throws(GroupError) -> [UInt8] {
        try earlier.withSeed { (seed) throws(GroupError) in
            try LabeledBox.seal(seed, after: context.bytes, to: publicKey)
        }
    }

    /// Opens the value secret of an earlier epoch.
    borrowing func open(
        rung: [UInt8], _ context: RungContext, scratch: inout SecretBytes
    ) throws(GroupError) -> ValueSecretOfEpoch {
        try ValueSecretOfEpoch(
            LabeledBox.open(rung, with: pair, expecting: context.bytes, scratch: &scratch))
    }
}
