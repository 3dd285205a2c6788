import Sealing
import Vault

@testable import Groups

// The forms that take their own working memory.

extension BoxContext {
    func seal(
        _ index: borrowing IndexKeyOfEpoch, _ value: borrowing ValueSecretOfEpoch,
        to keys: MemberKeys, readsValues: Bool
    ) throws(GroupError) -> SealedKeys {
        var scratch = try LabeledBox.scratch()
        return try seal(index, value, to: keys, readsValues: readsValues, scratch: &scratch)
    }

    func openIndexKey(
        _ box: [UInt8], with pair: borrowing SealedBox.KeyPair, commitment: GroupHash
    ) throws(GroupError) -> IndexKeyOfEpoch {
        var scratch = try LabeledBox.scratch()
        return try openIndexKey(box, with: pair, commitment: commitment, scratch: &scratch)
    }

    func openValueSecret(
        _ box: [UInt8], with pair: borrowing SealedBox.KeyPair, publicKey: [UInt8]
    ) throws(GroupError) -> ValueSecretOfEpoch {
        var scratch = try LabeledBox.scratch()
        return try openValueSecret(box, with: pair, publicKey: publicKey, scratch: &scratch)
    }
}

extension ValueSecretOfEpoch {
    borrowing func open(
        rung: [UInt8], _ context: RungContext
    ) throws(GroupError) -> ValueSecretOfEpoch {
        var scratch = try LabeledBox.scratch()
        return try open(rung: rung, context, scratch: &scratch)
    }
}

extension StateWords {
    static func bytes(of chain: MembershipChain, heads: [Identifier: [GroupHash]]) -> [UInt8] {
        bytes(group: chain.group, membership: chain.heads, heads: heads)
    }
}

extension ChangeReference {
    /// The hash, a colon and the number, as in vectors.
    var text: String { "\(change.hexadecimal):\(operation)" }
}
