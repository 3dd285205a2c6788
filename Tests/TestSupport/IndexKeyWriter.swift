import Sealing

@testable package import Vault

/// Someone with the index key alone who writes the vault all the same: opens the index, changes it
/// and the header, and seals all again.
///
/// Nothing stops that: every step needs only the index key. But the proof at the end of the index is
/// one that was found, or that another root makes. A change of the index alone leaves the header as
/// it was, with its nonce, so that the proof fails because of that change and of nothing else.
package enum IndexKeyWriter {
    /// The 96 bytes at the end of the table.
    package enum Proof {
        /// Those that were there.
        case kept
        /// Made by the writer's own root, for what is written. It holds for a reader without the
        /// root only if the header has ``IndexKeyWriter/publicKey()``.
        case own
        /// Found elsewhere, such as in an older copy.
        case found([UInt8])
    }

    /// The writer's own root, 32 bytes.
    package static let root = [UInt8](repeating: 9, count: 32)

    /// The public key of the writer's own root.
    package static func publicKey() throws -> [UInt8] {
        try rootKey().signingPair().publicKey
    }

    private static func rootKey() throws -> RootKey {
        RootKey(try root.withBytes { try SecretBytes(copying: $0) })
    }

    /// Returns the file that the writer makes of a vault. Its chunks stay.
    ///
    /// - Parameters:
    ///   - keys: Only the index key is used.
    ///   - change: To the index. The result need not be coherent.
    ///   - changeRows: To the places of the sections in the table.
    ///   - changeHeader: To the header. Its lengths are set afterwards.
    ///   - changeOpened: To the padded table and the proof, before they are sealed. Their length
    ///     must stay.
    package static func file(
        of vault: Vault, keys: VaultKeys,
        changing change: (inout VaultIndex) throws -> Void = { _ in },
        rows changeRows: (inout [SectionExtent]) throws -> Void = { _ in },
        header changeHeader: (inout VaultHeader) throws -> Void = { _ in },
        proof: Proof = .kept,
        opened changeOpened: (inout [UInt8]) throws -> Void = { _ in }
    ) throws -> [UInt8] {
        let found = try opened(of: vault, keys: keys)
        // Whatever its proof and hashes are.
        let own = try Vault(path: vault.path, file: vault.file)
        var index = try uncheckedIndex(of: own, keys: keys, table: found)
        try change(&index)
        let blocks = try NextBlocks(
            of: index, from: own, vault: vault.header.vaultID, keys: keys, isChecked: false)
        index.sections = blocks.sections
        try changeRows(&index.sections)
        let content = try index.encodedTable().withBytes { $0.array }
        var header = vault.header
        try changeHeader(&header)
        header.tableByteCount = UInt64(
            content.count + IndexProof.byteCount + AuthenticatedCipher.tagByteCount)
        header.fileByteCount = header.blocksOffset + blocks.byteCount
        let front = header.encoded()
        var all = content
        switch proof {
        case .kept: all += found.suffix(IndexProof.byteCount)
        case .own:
            all += try rootKey().proof(content.withBytes { IndexProof(of: front, $0) })
        case .found(let bytes): all += bytes
        }
        try changeOpened(&all)
        var sealed: [UInt8] = []
        let key = try keys.index.sealingKey()
        all.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: header.tableNonce,
                additionalData: VaultHeader.tableAssociatedData(header: front), key: key,
                appendingTo: &sealed)
        }
        return try blocks.parts(from: own, newChunks: []).reduce(front + sealed) { file, part in
            switch part {
            case .bytes(let bytes): file + bytes
            case .copy(let other, let offset, let count):
                file + (try other.read(at: offset, count: Int(count)))
            }
        }
    }

    /// Opens the sections of a vault without checking anything but their seals.
    private static func uncheckedIndex(
        of vault: Vault, keys: VaultKeys, table: [UInt8]
    ) throws -> VaultIndex {
        let slice = try Array(table.dropLast(IndexProof.byteCount)).withBytes {
            try SecretArena().copy($0)
        }
        vault.opening = IndexOpening(keys: keys, tag: try vault.tableTag(), table: slice)
        var index = try VaultIndex.decode(
            table: slice, extent: .everything, blocksByteCount: vault.header.blocksByteCount)
        let key = try keys.index.sealingKey()
        for place in index.sections {
            let sealed = try vault.file.read(
                at: vault.header.blocksOffset + place.offset, count: Int(place.sealedByteCount))
            let content = try AuthenticatedCipher.opened(
                sealed,
                additionalData: SectionExtent.associatedData(
                    vault: vault.header.vaultID, id: place.id), key: key, in: SecretArena())
            vault.opening?.sections[place.id] = OpenedSection(content: content)
            index.add(
                try content.withBytes {
                    try IndexSection.decode($0, of: place, extent: .everything)
                }, place.id)
        }
        return index
    }

    /// Returns the opened table without checking it: the padded content, then the proof.
    package static func opened(of vault: Vault, keys: VaultKeys) throws -> [UInt8] {
        let header = vault.header
        let front = try vault.file.read(at: 0, count: header.byteCount)
        let sealed = try vault.file.read(
            at: UInt64(header.byteCount), count: Int(header.tableByteCount))
        let slice = try sealed.withBytes { try SecretArena().copy($0) }
        let key = try keys.index.sealingKey()
        return try AuthenticatedCipher.openInPlace(
            slice, nonce: header.tableNonce,
            additionalData: VaultHeader.tableAssociatedData(header: front), key: key
        ).withBytes { $0.array }
    }

    /// Returns all that the index key opens of a checked vault: the contents of table and sections.
    package static func text(of vault: Vault, keys: VaultKeys) throws -> [UInt8] {
        _ = try vault.index(with: keys, extent: .everything)
        guard let opening = vault.opening else { return [] }
        return ([opening.table] + opening.sections.values.map(\.content)).flatMap {
            $0.withBytes { $0.array }
        }
    }

    /// Returns the place in the file of a current value's sealed bytes; nil without one.
    package static func place(
        ofValueOf name: String, in project: String, of vault: Vault, keys: VaultKeys
    ) throws -> Range<Int>? {
        let index = try vault.index(with: keys, extent: .currentValues)
        guard let project = index.project(named: project),
            let variable = index.variables(of: project.id, named: name).first,
            let chunk = index.currentVersions[variable.id]?.chunk
        else { return nil }
        let start = Int(vault.header.blocksOffset + chunk.lowerBound)
        return start..<start + chunk.count
    }

    /// Returns the proof of a vault.
    package static func proof(of vault: Vault, keys: VaultKeys) throws -> [UInt8] {
        Array(try opened(of: vault, keys: keys).suffix(IndexProof.byteCount))
    }
}
