internal import Sealing

/// What was opened of an index: kept because a command soon needs more of it, or writes the same
/// generation.
struct IndexOpening {
    /// The keys it was opened with; another key of the same epoch must not reuse it.
    weak var keys: VaultKeys?
    /// Of the table as it was read.
    let tag: [UInt8]
    let table: SecretSlice
    /// By id.
    var sections: [Identifier: OpenedSection] = [:]
}

/// A section's padded content and what was decoded of it.
struct OpenedSection {
    let content: SecretSlice
    var decoded: IndexSection.Decoded?
}

extension Vault {
    /// Opens the index: the table, and the sections that are needed.
    ///
    /// - Parameter projects: Whose sections to open, besides those of no project if the extent is
    ///   everything; nil for all. The others' variables are missing from the index.
    /// - Throws: ``VaultError/Code/epochChanged`` for a key of another epoch,
    ///   ``VaultError/Code/damaged`` if it was not written with the root, or not as it is.
    package func index(
        with keys: VaultKeys, extent: VaultIndex.Extent, of projects: Set<Identifier>? = nil
    ) throws(VaultError) -> VaultIndex {
        var index = try VaultIndex.decode(
            table: try table(with: keys), extent: extent,
            blocksByteCount: header.blocksByteCount)
        try open(projects, in: &index, with: keys)
        return index
    }

    /// Opens further sections of an index that has only the table, or those of some projects.
    ///
    /// - Parameter projects: As for ``index(with:extent:of:)``.
    package func open(
        _ projects: Set<Identifier>?, in index: inout VaultIndex, with keys: VaultKeys
    ) throws(VaultError) {
        let all = Set(index.projects.map(\.id))
        let isWhole = index.extent == .everything
        var (needed, missing): ([SectionExtent], Int) = ([], 0)
        for place in index.sections where !index.openedSections.contains(place.id) {
            let isProject = all.contains(place.id)
            guard isProject ? projects?.contains(place.id) ?? true : isWhole else { continue }
            needed.append(place)
            if opening?.sections[place.id] == nil { missing += Int(place.sealedByteCount) }
        }
        // One region for all: a process has a limited number of them.
        arena.reserve(missing)
        for place in needed {
            let known = opening?.sections[place.id]
            let content =
                if let known { known.content } else { try openedSection(place, with: keys) }
            if known == nil { opening?.sections[place.id] = OpenedSection(content: content) }
            let section = try content.withBytes { (bytes) throws(VaultError) in
                try IndexSection.decode(
                    bytes, of: place, extent: index.extent, reusing: known?.decoded)
            }
            if isWhole { try section.check(in: place, isProject: all.contains(place.id)) }
            opening?.sections[place.id]?.decoded = section.decoded
            index.add(section, place.id)
        }
        try index.checkSections()
    }

    /// Takes over what this process opened of the same generation.
    ///
    /// - Parameter earlier: The vault as opened before. If header and table tag are unchanged, so is
    ///   everything they authenticate, and what was opened of it is what this file has.
    func reuse(_ earlier: Vault?, with keys: VaultKeys) throws(VaultError) {
        guard let known = earlier?.opening, known.keys === keys,
            earlier?.headerBytes == headerBytes, known.tag == (try tableTag())
        else { return }
        opening = known
        isAuthentic = true
    }

    /// Opens the whole index from the file, and checks all that its reader can check.
    func checkedIndex(with keys: VaultKeys) throws(VaultError) -> VaultIndex {
        opening = try openedTable(with: keys, checksBoth: true)
        return try index(with: keys, extent: .everything)
    }

    /// Returns the table's padded content, opened at most once with the same keys.
    private func table(with keys: VaultKeys) throws(VaultError) -> SecretSlice {
        if let opening, opening.keys === keys { return opening.table }
        let new = try openedTable(with: keys)
        opening = new
        return new.table
    }

    /// Opens the table's seal, and checks who wrote it, before anything of it is decoded: with the
    /// root its code, otherwise its signature by the header's public key. Which public key is the
    /// vault's, the rollback guards say.
    ///
    /// - Parameter checksBoth: Whether a reader with the root checks the signature, too.
    private func openedTable(
        with keys: VaultKeys, checksBoth: Bool = false
    ) throws(VaultError) -> IndexOpening {
        guard keys.index.epoch == header.indexEpoch else {
            throw VaultError(
                .epochChanged, "the index key of \(path) was replaced while the command was running"
            )
        }
        if let floor, floor.publicKey != header.publicKey { throw replacedPublicKey }
        arena.reserve(Int(header.tableByteCount))
        let sealed = try sealedBytes(
            at: UInt64(header.byteCount), count: header.tableByteCount)
        let tag = sealed.part(
            sealed.count - AuthenticatedCipher.tagByteCount..<sealed.count
        ).withBytes { $0.array }
        let opened = try openInPlace(
            sealed, nonce: header.tableNonce,
            data: VaultHeader.tableAssociatedData(header: headerBytes), with: keys)
        let content = try checkedContent(of: opened, with: keys, checksBoth)
        if let floor { try expect(toFollow: floor.position, try metadata(of: content)) }
        isAuthentic = true
        return IndexOpening(keys: keys, tag: tag, table: content)
    }

    private func checkedContent(
        of opened: SecretSlice, with keys: VaultKeys, _ checksBoth: Bool
    ) throws(VaultError) -> SecretSlice {
        // The header's length of the table leaves room for the proof.
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

    /// Opens a section whose place comes from a checked table.
    ///
    /// - Returns: The padded content.
    private func openedSection(
        _ place: SectionExtent, with keys: VaultKeys
    ) throws(VaultError) -> SecretSlice {
        let sealed = try sealedBytes(
            at: header.blocksOffset + place.offset, count: place.sealedByteCount)
        try sealed.withBytes { (bytes) throws(VaultError) in try check(bytes, of: place) }
        let count = AuthenticatedCipher.nonceByteCount
        let nonce = sealed.part(0..<count).withBytes { $0.array }
        return try openInPlace(
            sealed.part(count..<sealed.count), nonce: nonce,
            data: SectionExtent.associatedData(vault: header.vaultID, id: place.id), with: keys)
    }

    /// Checks, without opening it, that a section is the one that the table names.
    func check(_ place: SectionExtent) throws(VaultError) {
        let sealed = try chunks(place.offset..<place.chunksOffset)
        try sealed.withBytes { (bytes) throws(VaultError) in try check(bytes, of: place) }
    }

    /// Everyone with the index key can seal another section.
    private func check(_ sealed: RawSpan, of place: SectionExtent) throws(VaultError) {
        guard Checksum(of: sealed) == place.checksum else {
            throw VaultError(
                damaged: .section,
                "a section of \(path) is not the one that was written: it is corrupt or was tampered with"
            )
        }
    }

    private func openInPlace(
        _ sealed: SecretSlice, nonce: [UInt8], data: [UInt8], with keys: VaultKeys
    ) throws(VaultError) -> SecretSlice {
        let key = try keys.index.sealingKey()
        do {
            return try AuthenticatedCipher.openInPlace(
                sealed, nonce: nonce, additionalData: data, key: key)
        } catch {
            throw VaultError(
                error, damaged: .tag,
                "the index of \(path) failed authentication: it is corrupt or was tampered with")
        }
    }

    /// Reads directly into the memory where it is opened, because copying a large index is
    /// expensive.
    private func sealedBytes(
        at offset: UInt64, count: UInt64
    ) throws(VaultError) -> SecretSlice {
        guard offset <= file.byteCount, count <= file.byteCount - offset else {
            throw VaultError(damaged: .truncated, "the vault is shorter than its header says")
        }
        let slice: SecretSlice
        do {
            slice = try arena.allocate(count: Int(count))
        } catch {
            throw VaultError(error, damaged: .tag, "not enough memory for the index of \(path)")
        }
        try slice.withMutableBytes { (bytes) throws(VaultError) in
            try file.read(at: offset, into: &bytes)
        }
        return slice
    }

    /// The authentication tag of the table, by which later generations identify this one. Once the
    /// table was opened, that of what was opened.
    func tableTag() throws(VaultError) -> [UInt8] {
        if let opening { return opening.tag }
        return try file.read(at: header.blocksOffset - 16, count: 16)
    }

    /// Returns the metadata, which tells what this generation descends from.
    func metadata(with keys: VaultKeys) throws(VaultError) -> IndexMetadata {
        try metadata(of: try table(with: keys))
    }

    private func metadata(of table: SecretSlice) throws(VaultError) -> IndexMetadata {
        try table.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                var content = try reader.section(Int(try reader.uint32()))
                return try IndexMetadata.decode(frontOf: &content)
            }
        }
    }
}
