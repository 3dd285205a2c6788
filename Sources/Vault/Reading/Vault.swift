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
    /// What was seen of the file before it was opened again: an index that does not follow it does not
    /// open.
    package var floor: VaultObservation?
    /// Whether the index was opened, and was written by a holder of the root.
    package private(set) var isAuthentic = false

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

    /// Opens the index.
    ///
    /// - Throws: ``VaultError/Code/epochChanged`` for a key of another epoch,
    ///   ``VaultError/Code/damaged`` if it was not written with the root, or not as it is.
    package func index(
        with keys: VaultKeys, extent: VaultIndex.Extent
    ) throws(VaultError) -> VaultIndex {
        let opened = try openedIndex(with: keys)
        let index = try VaultIndex.decode(
            opened, extent: extent, chunksByteCount: header.chunksByteCount)
        opening = IndexOpening(keys: keys, tag: try indexTag(), opened: opened, index: index)
        return index
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

    /// Opens the index's seal, and checks who wrote it, before anything of it is decoded: with the
    /// root its code, otherwise its signature by the header's public key. Which public key is the
    /// vault's, the rollback guards say.
    ///
    /// - Parameter checksBoth: Whether a reader with the root checks the signature, too.
    ///
    /// - Returns: The padded content.
    func openedIndex(
        with keys: VaultKeys, checksBoth: Bool = false
    ) throws(VaultError) -> SecretSlice {
        guard keys.index.epoch == header.indexEpoch else {
            throw VaultError(
                .epochChanged, "the index key of \(path) was replaced while the command was running"
            )
        }
        if let floor, floor.publicKey != header.publicKey { throw replacedPublicKey }
        let key = try keys.index.sealingKey()
        let sealed = try sealedIndex()
        let opened: SecretSlice
        do {
            opened = try AuthenticatedCipher.openInPlace(
                sealed, nonce: header.indexNonce,
                additionalData: VaultHeader.indexAssociatedData(header: headerBytes), key: key)
        } catch {
            throw VaultError(
                error, damaged: .tag,
                "the index of \(path) failed authentication: it is corrupt or was tampered with")
        }
        let content = try checkedContent(of: opened, with: keys, checksBoth)
        if let floor { try expect(toFollow: floor.position, try metadata(of: content)) }
        isAuthentic = true
        return content
    }

    private func checkedContent(
        of opened: SecretSlice, with keys: VaultKeys, _ checksBoth: Bool
    ) throws(VaultError) -> SecretSlice {
        // The header's length of the index leaves room for the proof.
        let end = opened.count - IndexProof.byteCount
        let content = opened.part(0..<end)
        let found = opened.part(end..<opened.count).withBytes { $0.array }
        let proof = content.withBytes { IndexProof(of: headerBytes, $0) }
        // A root of someone else makes codes too: it may be in a slot whose key they know.
        try checkPublicKey(with: keys)
        let isMade = try keys.root?.made(found, of: proof)
        let isSigned =
            isMade == nil || checksBoth ? proof.isSigned(found, by: header.publicKey) : true
        guard isMade ?? true, isSigned else {
            throw VaultError(
                damaged: .signature,
                "\(path) was changed by someone who cannot open the values")
        }
        return content
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
