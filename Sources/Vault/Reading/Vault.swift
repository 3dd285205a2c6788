package import Sealing

/// One generation of a vault file, still sealed.
///
/// Reading takes no lock: writers replace the file, and this one stays open unchanged.
package final class Vault {
    package let path: String
    /// The cleartext header; untrusted until the index opens.
    package let header: VaultHeader
    private let headerBytes: [UInt8]
    let file: any ReadableFile
    private var opening: IndexOpening?

    /// Opens the file and checks the header and lengths, without opening anything sealed.
    package convenience init(opening path: String, in store: any FileStore) throws(VaultError) {
        try self.init(path: path, file: try store.open(path))
    }

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
                "\(path) was created by a pre-release of zg-env (format \(VaultFormat.preReleaseNumber)), "
                    + "which this version cannot read")
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
        // The checkpoint's MAC proves that the public key is the root's.
        let index = try root.indexKey(epoch: header.indexEpoch)
        return VaultKeys(index: index, root: root)
    }

    /// Checks that the public key is the root's or, while the values are locked, at least usable
    /// for sealing.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for another key, or a point of low order.
    package func checkPublicKey(with keys: VaultKeys) throws(VaultError) {
        guard let publicKey = try keys.root?.boxKeyPair().publicKey else {
            if SealedBox.isUsable(header.publicKey) { return }
            throw VaultError(
                damaged: .exchangedKey,
                "the public key of \(path) was replaced with an unusable one")
        }
        guard publicKey != header.publicKey else { return }
        throw VaultError(
            damaged: .exchangedKey,
            "the public key of \(path) was replaced: the person who replaced it "
                + "could read the values written since")
    }

    /// Opens the index. If it includes the checkpoint and the values are unlocked, verifies the
    /// checkpoint's MAC, and checks the journal against it.
    ///
    /// - Throws: ``VaultError/Code/epochChanged`` for a key of another epoch,
    ///   ``VaultError/Code/damaged`` if the tag, the checkpoint or a rotation is invalid.
    package func index(
        with keys: VaultKeys, extent: VaultIndex.Extent
    ) throws(VaultError) -> VaultIndex {
        let opened = try openedIndex(with: keys)
        let index = try VaultIndex.decode(
            opened, extent: extent, chunksByteCount: header.chunksByteCount)
        try checkCheckpoint(of: index, with: keys)
        try index.checkRootEntries(with: keys)
        opening = IndexOpening(keys: keys, tag: try indexTag(), opened: opened, index: index)
        return index
    }

    /// Verifies the checkpoint of this file's index, which also proves that the public key is the
    /// root's. Does nothing while the values are locked, or for a listing.
    func checkCheckpoint(of index: VaultIndex, with keys: VaultKeys) throws(VaultError) {
        guard index.extent.hasCheckpoint, let key = try keys.root?.checkpointKey() else { return }
        guard !index.checkpoint.holds(under: header, key: key) else { return }
        try checkPublicKey(with: keys)
        throw VaultError(
            damaged: .checkpoint,
            "the vault's slots or its checkpoint were changed by someone who cannot open "
                + "the values")
    }

    /// An opened index, kept because a write soon after usually finds the same generation.
    private struct IndexOpening {
        /// The keys it was opened with; another key of the same epoch must not reuse it.
        weak var keys: VaultKeys?
        let tag: [UInt8]
        let opened: SecretSlice
        let index: VaultIndex
    }

    /// Opens the whole index for a write.
    ///
    /// - Parameter earlier: The vault as this process opened it before. If header and index tag are
    ///   unchanged, so is everything they authenticate, and the index is reused.
    func openedForWriting(
        with keys: VaultKeys, after earlier: Vault?
    ) throws(VaultError) -> (opened: SecretSlice, index: VaultIndex) {
        let tag = try indexTag()
        let known = earlier?.opening.flatMap { opening in
            opening.keys === keys && opening.tag == tag && earlier?.headerBytes == headerBytes
                ? opening : nil
        }
        let opened = if let known { known.opened } else { try openedIndex(with: keys) }
        let index = try VaultIndex.decode(
            opened, extent: .everything, chunksByteCount: header.chunksByteCount,
            reusing: known?.index)
        return (opened, index)
    }

    /// Decodes the index without verifying the checkpoint's MAC.
    func uncheckedIndex(
        with keys: VaultKeys, extent: VaultIndex.Extent
    ) throws(VaultError) -> VaultIndex {
        try VaultIndex.decode(
            openedIndex(with: keys), extent: extent, chunksByteCount: header.chunksByteCount)
    }

    func openedIndex(with keys: VaultKeys) throws(VaultError) -> SecretSlice {
        guard keys.index.epoch == header.indexEpoch else {
            throw VaultError(
                .epochChanged, "the index key of \(path) was replaced while the command was running"
            )
        }
        let key = try keys.index.sealingKey()
        let sealed = try sealedIndex()
        do {
            return try AuthenticatedCipher.openInPlace(
                sealed, nonce: header.indexNonce,
                additionalData: VaultHeader.indexAssociatedData(header: headerBytes), key: key)
        } catch {
            if keys.opensValues { try checkPublicKey(with: keys) }
            throw VaultError(
                error, damaged: .tag,
                "the index of \(path) failed authentication: it is corrupt or was tampered with")
        }
    }

    /// Reads directly into the memory where it is opened, because copying a large index is
    /// expensive.
    private func sealedIndex() throws(VaultError) -> SecretSlice {
        let offset = UInt64(header.byteCount)
        let count = Int(header.indexByteCount)
        guard offset <= file.byteCount, UInt64(count) <= file.byteCount - offset else {
            throw VaultError(damaged: .truncated, "the vault is shorter than its header says")
        }
        let slice: SecretSlice
        do {
            slice = try SecretArena(firstRegionByteCount: count, zeroed: false)
                .allocate(count: count)
        } catch {
            throw VaultError(error, damaged: .tag, "not enough memory for the index of \(path)")
        }
        try slice.withMutableBytes { (bytes) throws(VaultError) in
            try file.read(at: offset, into: &bytes)
        }
        return slice
    }

    /// The authentication tag of the index, by which later generations identify this one.
    func indexTag() throws(VaultError) -> [UInt8] {
        try file.read(at: header.chunksOffset - 16, count: 16)
    }

    /// Returns the sealed chunk of a version.
    func chunk(of version: StoredVersion) throws(VaultError) -> [UInt8] {
        let (end, overflow) = version.offset.addingReportingOverflow(UInt64(version.length))
        guard !overflow else {
            throw VaultError(damaged: .layout, "a value lies outside the vault file")
        }
        return try chunks(version.offset..<end)
    }

    /// Returns a range of the sealed chunks, relative to the first one.
    func chunks(_ range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        let (offset, overflow) = header.chunksOffset.addingReportingOverflow(range.lowerBound)
        guard !overflow, range.upperBound <= header.chunksByteCount else {
            throw VaultError(damaged: .layout, "a value lies outside the vault file")
        }
        return try file.read(at: offset, count: Int(range.upperBound - range.lowerBound))
    }
}
