package import Sealing

/// A vault as it stands in one generation of its file, still sealed.
///
/// Reading takes no lock: a writer replaces the file, and this one stays open as it was.
package final class Vault {
    /// The file's path.
    package let path: String
    /// What stands in clear; hostile until the index opens.
    package let header: VaultHeader
    private let headerBytes: [UInt8]
    let file: any ReadableFile
    private var opening: IndexOpening?

    /// Opens the file and checks header and lengths. Opens nothing that is sealed.
    package convenience init(opening path: String, in store: any FileStore) throws(VaultError) {
        try self.init(path: path, file: try store.open(path))
    }

    /// Checks header and lengths of a file that is open already.
    ///
    /// - Parameter path: What to call it in messages.
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
                "\(path) was made by a pre-release of zg-env (format \(VaultFormat.preReleaseNumber)), "
                    + "which this version does not read")
        }
        guard header.fileByteCount == file.byteCount else {
            throw VaultError(
                damaged: file.byteCount < header.fileByteCount ? .truncated : .extended,
                "\(path) has \(file.byteCount) bytes where it says \(header.fileByteCount)")
        }
    }

    /// Unwraps the index key of a slot with the random key that is kept for it elsewhere.
    ///
    /// - Returns: nil when `slotKey` is of another slot or the slot was changed.
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
        // The code of the checkpoint tells whether the public key is the root's.
        let index = try root.indexKey(epoch: header.indexEpoch)
        return VaultKeys(index: index, root: root)
    }

    /// Sees that the public key is the root's or, while the values are locked, that it is one which values
    /// can be sealed to.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for another key, or a point of low order.
    package func checkPublicKey(with keys: VaultKeys) throws(VaultError) {
        guard let publicKey = try keys.root?.boxKeyPair().publicKey else {
            if SealedBox.isUsable(header.publicKey) { return }
            throw VaultError(
                damaged: .exchangedKey,
                "the public key of \(path) was exchanged: nothing can be sealed to it")
        }
        guard publicKey != header.publicKey else { return }
        throw VaultError(
            damaged: .exchangedKey,
            "the public key of \(path) was exchanged: whoever exchanged it "
                + "could read the values written since")
    }

    /// Opens the index. Where the checkpoint is decoded and the values are open, its code is checked, and
    /// rotations of a whole index are held against it.
    ///
    /// - Throws: ``VaultError/Code/epochChanged`` with a key of another epoch,
    ///   ``VaultError/Code/damaged`` when the tag, the checkpoint or a rotation does not hold.
    package func index(
        with keys: VaultKeys, extent: VaultIndex.Extent
    ) throws(VaultError) -> VaultIndex {
        let opened = try openedIndex(with: keys)
        let index = try VaultIndex.decode(
            opened, extent: extent, chunksByteCount: header.chunksByteCount)
        try checkCheckpoint(of: index, with: keys)
        try index.checkRotations(with: keys)
        opening = IndexOpening(keys: keys, tag: try indexTag(), opened: opened, index: index)
        return index
    }

    /// Checks the checkpoint of an index of this file, and with it that the public key is the root's.
    /// Does nothing while the values are locked, and for a listing.
    func checkCheckpoint(of index: VaultIndex, with keys: VaultKeys) throws(VaultError) {
        guard index.extent.hasCheckpoint, let key = try keys.root?.checkpointKey() else { return }
        guard !index.checkpoint.holds(under: header, key: key) else { return }
        try checkPublicKey(with: keys)
        throw VaultError(
            damaged: .checkpoint,
            "the slots of the vault or its checkpoint were changed by somebody who cannot open "
                + "the values")
    }

    /// What an opening of the index left: a write soon after mostly finds the same generation, and
    /// need not open it again.
    private struct IndexOpening {
        /// By whom it was opened; another key of the same epoch must not go on with it.
        weak var keys: VaultKeys?
        let tag: [UInt8]
        let opened: SecretSlice
        let index: VaultIndex
    }

    /// Opens the whole index for a write.
    ///
    /// - Parameter earlier: The vault as this process opened it before. Where header and tag of the
    ///   index are the same in both, so is all that they authenticate: what was opened then is taken,
    ///   and the index not read again.
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

    /// The index without a look at the checkpoint's code.
    func uncheckedIndex(
        with keys: VaultKeys, extent: VaultIndex.Extent
    ) throws(VaultError) -> VaultIndex {
        try VaultIndex.decode(
            openedIndex(with: keys), extent: extent, chunksByteCount: header.chunksByteCount)
    }

    func openedIndex(with keys: VaultKeys) throws(VaultError) -> SecretSlice {
        guard keys.index.epoch == header.indexEpoch else {
            throw VaultError(.epochChanged, "the index key of \(path) was replaced meanwhile")
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
                error, damaged: .tag, "the index of \(path) was changed by somebody else")
        }
    }

    /// Read to where it is opened: an index of half a megabyte costs most where it is copied.
    private func sealedIndex() throws(VaultError) -> SecretSlice {
        let offset = UInt64(header.byteCount)
        let count = Int(header.indexByteCount)
        guard offset <= file.byteCount, UInt64(count) <= file.byteCount - offset else {
            throw VaultError(damaged: .truncated, "the vault is shorter than it says")
        }
        let slice: SecretSlice
        do {
            slice = try SecretArena(firstRegionByteCount: count, zeroed: false)
                .allocate(count: count)
        } catch {
            throw VaultError(error, damaged: .tag, "there is no memory for the index of \(path)")
        }
        try slice.withMutableBytes { (bytes) throws(VaultError) in
            try file.read(at: offset, into: &bytes)
        }
        return slice
    }

    /// The authentication tag of the index, by which later generations know this one.
    func indexTag() throws(VaultError) -> [UInt8] {
        try file.read(at: header.chunksOffset - 16, count: 16)
    }

    /// The sealed chunk of one version.
    func chunk(of version: StoredVersion) throws(VaultError) -> [UInt8] {
        let (end, overflow) = version.offset.addingReportingOverflow(UInt64(version.length))
        guard !overflow else {
            throw VaultError(damaged: .layout, "a value lies outside of the vault")
        }
        return try chunks(version.offset..<end)
    }

    /// A stretch of the sealed chunks, counted from the front of the first one.
    func chunks(_ range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        let (offset, overflow) = header.chunksOffset.addingReportingOverflow(range.lowerBound)
        guard !overflow, range.upperBound <= header.chunksByteCount else {
            throw VaultError(damaged: .layout, "a value lies outside of the vault")
        }
        return try file.read(at: offset, count: Int(range.upperBound - range.lowerBound))
    }
}
