internal import Sealing
package import Vault

/// Six words that a newcomer and an admin compare, so that the admin admits the keys of this newcomer and
/// not those of somebody else who saw the code.
package enum CheckWords {
    /// Returns 48 bits of the hash of a join and its invite, as words.
    ///
    /// - Parameter join: The hash of the join object, which contains the newcomer's keys.
    package static func words(of join: GroupHash, invite: Identifier) -> [String] {
        var writer = ByteWriter()
        writer.raw(GroupLabel.checkWords.bytes)
        writer.identifier(invite)
        join.encode(into: &writer)
        let digest = writer.withBytes { Digest.checksum($0) }
        return words(for: Array(digest.prefix(6)))
    }

    /// Returns a word for each byte.
    package static func words(for bytes: [UInt8]) -> [String] {
        bytes.map { CheckWordList.words[Int($0)] }
    }
}
