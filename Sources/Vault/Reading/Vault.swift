package import Sealing

/// One generation of a vault file, still sealed.
///
/// Reading takes no lock: writers replace the file, and this one stays open unchanged.
package final class Vault {
    package let path: String
    /// The cleartext header; untrusted until the index opens.
    package let header: VaultHeader
    let headerBytes: [UInt8]
    let file: any ReadableFile
    /// What was opened of the index so far.
    var opening: IndexOpening?
    /// Where it is.
    let arena = SecretArena(firstRegionByteCount: 4_096, zeroed: false)
    /// What was seen of the file before it was opened again: an index that does not follow it does not
    /// open.
    package var floor: VaultObservation?
    /// Whether the index was opened, and was written by a holder of the root.
    package internal(set) var isAuthentic = false

    /// Opens the file for reading and checks the header and lengths, without opening anything sealed.
    package convenience init(opening path: String, in store: any FileStore) throws(VaultError) {
        try self.init(path: path, file: try store.openToRead(path))
    }

    /// The same for a vault that is about to be replaced, which only its user may be able to write.
    ///
    /// - Throws: ``VaultError/Code/insecure``.
    convenience init(changing path: String, in store: any FileStore) throws(VaultError) {
        try self.init(path: path, file: try store.open(path))
    }

    /// Who else can delete the file or put an older copy in its place, as a sentence.
    package var risk: String? { file.risk }

    /// Checks the header and lengths of an open file.
    ///
    /// - Parameter path: The name for messages.
    package init(path: String, file: any ReadableFile) throws(VaultError) {
        self.path = path
        self.file = file
        guard file.byteCount >= 16 else {
            throw VaultError(damaged: .truncated, "\(path) is too short to be a vault")
        }
        let length = try VaultHeader.headerByteCount(ofPrefix: try file.read(at: 0, count: 16))
        headerBytes = try file.read(at: 0, count: length)
        do throws(VaultError) {
            header = try VaultHeader.decode(headerBytes)
        } catch  where error.code == .preReleaseFormat {
            throw VaultError(
                .preReleaseFormat,
                "\(path) was created by a pre-release of zg-env, which this version cannot read")
        }
        guard header.fileByteCount == file.byteCount else {
            throw VaultError(
                damaged: file.byteCount < header.fileByteCount ? .truncated : .extended,
                "\(path) is \(file.byteCount) bytes long, but its header says \(header.fileByteCount)"
            )
        }
    }

    /// Unwraps the key of a slot with the random key stored for it.
    ///
    /// - Returns: nil if `slotKey` belongs to another slot or the slot was changed.
    package func unlock(
        _ slot: KeySlot, slotKey: borrowing SecretBytes
    ) throws(VaultError) -> VaultKeys? {
        guard let key = try slot.unwrap(with: slotKey, vault: header.vaultID) else { return nil }
        switch slot.tier {
        case .index: return VaultKeys(index: IndexKey(key, epoch: header.indexEpoch), root: nil)
        case .values: return try keys(root: RootKey(key))
        }
    }

    func keys(root: consuming RootKey) throws(VaultError) -> VaultKeys {
        let index = try root.indexKey(epoch: header.indexEpoch)
        return VaultKeys(index: index, root: root)
    }

    /// Checks that the public key is the root's. Does nothing without the root.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for another key.
    package func checkPublicKey(with keys: VaultKeys) throws(VaultError) {
        guard let publicKey = try keys.root?.signingPair().publicKey,
            publicKey != header.publicKey
        else { return }
        throw VaultError(
            damaged: .exchangedKey,
            "the public key of \(path) was replaced by someone who cannot open the values")
    }

    /// Returns the sealed chunk of a version.
    func chunk(of version: StoredVersion) throws(VaultError) -> [UInt8] {
        try chunks(version.chunk)
    }

    /// Returns a range of the blocks, relative to the first one.
    func chunks(_ range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        guard range.upperBound <= header.blocksByteCount else {
            throw VaultError(damaged: .layout, "a value lies outside the vault file")
        }
        return try file.read(
            at: header.blocksOffset + range.lowerBound,
            count: Int(range.upperBound - range.lowerBound))
    }
}
