internal import Sealing

/// The blocks of a file that is about to be written: sections and chunks. A section that is as before
/// keeps its sealed bytes; one that was not opened is copied with its chunks.
struct NextBlocks {
    /// Where the sections are, for the table.
    private(set) var sections: [SectionExtent] = []
    /// Whether it must be possible to read the table and the new sections again.
    let isChecked: Bool
    /// Whether there is any difference from the blocks of the old file.
    private(set) var isChanged = false
    private var blocks: [Block] = []

    var byteCount: UInt64 { sections.last?.end ?? 0 }

    private struct Block {
        /// The sealed section; nil if the old one stays.
        let sealed: [UInt8]?
        /// Of the old file, relative to its first block; beyond its blocks are the new ones.
        let chunks: [Range<UInt64>]
        /// Where the block was.
        let old: SectionExtent?
    }

    /// - Parameters:
    ///   - index: To be written. Every section that it names and did not open stays.
    ///   - old: The file to copy from.
    ///   - reuses: Whether sections of the old file may stay, as with the same keys.
    /// - Throws: ``VaultError/Code/tooLarge``; ``VaultError/Code/damaged`` if a section that would be
    ///   copied is not the one that the table of the old file names.
    init(
        of index: VaultIndex, from old: Vault?, reuses: Bool = true, vault: Identifier,
        keys: VaultKeys, isChecked: Bool = true
    ) throws(VaultError) {
        self.isChecked = isChecked
        let key = try keys.index.sealingKey()
        var known: [Identifier: SectionExtent] = [:]
        for section in index.sections { known[section.id] = section }
        let contents = try SectionContent.all(of: index)
        for id in contents.keys {
            // Otherwise the section's other entries would be lost.
            precondition(index.openedSections.contains(id) || known[id] == nil, "not opened")
        }
        let projects = Set(index.projects.map(\.id))
        var batches: [Identifier: Int] = [:]
        for place in index.batches.indices { batches[index.batches[place].id] = place }
        let kept = known.keys.filter { !index.openedSections.contains($0) }
        for id in (kept + contents.keys).sorted() {
            let before = reuses ? known[id] : nil
            guard var content = contents[id] else {
                guard let before, let old else { preconditionFailure("not opened") }
                // What is signed again must be what was signed.
                try old.check(before)
                append(before, Block(sealed: nil, chunks: [before.chunks], old: before))
                continue
            }
            let chunks = content.pack(index)
            let encoded = try content.encoded(index, batches: batches)
            // With other chunks it is another section, and need not be compared.
            let keepsChunks =
                before.map { chunks == ($0.chunks.isEmpty ? [] : [$0.chunks]) } ?? false
            if let before, keepsChunks, let old, let opened = old.opening?.sections[id]?.content,
                encoded.withBytes({ new in
                    opened.withBytes { $0.isEqualInConstantTime(to: new) }
                })
            {
                // What was opened may be from another file with the same table.
                try old.check(before)
                append(before, Block(sealed: nil, chunks: chunks, old: before))
                continue
            }
            isChanged = true
            let sealed = encoded.withBytes {
                AuthenticatedCipher.sealed(
                    $0, additionalData: SectionExtent.associatedData(vault: vault, id: id), key: key
                )
            }
            let place = SectionExtent(
                id: id, offset: 0, sealedByteCount: UInt64(sealed.count),
                chunksByteCount: chunks.reduce(0) { $0 + $1.upperBound - $1.lowerBound },
                checksum: sealed.withBytes { Checksum(of: $0) })
            if isChecked { try check(encoded, of: place, isProject: projects.contains(id)) }
            append(place, Block(sealed: sealed, chunks: chunks, old: nil))
        }
        if sections.map(\.id) != index.sections.map(\.id) { isChanged = true }
    }

    private mutating func append(_ section: SectionExtent, _ block: Block) {
        sections.append(section.moved(to: byteCount))
        blocks.append(block)
    }

    /// Checks that a section can be read again.
    private func check(
        _ encoded: borrowing ByteWriter, of place: SectionExtent, isProject: Bool
    ) throws(VaultError) {
        do throws(VaultError) {
            try encoded.withBytes { (bytes) throws(VaultError) in
                try IndexSection.decode(bytes, of: place, extent: .everything)
                    .check(in: place, isProject: isProject)
            }
        } catch {
            throw VaultError(.tooLarge, "the vault could not be read again: \(error.reason)")
        }
    }

    /// Returns the parts of the new file after its table.
    func parts(from old: Vault?, newChunks: [UInt8]) -> [FilePart] {
        var parts: [FilePart] = []
        // Ranges of the old file that follow each other are one copy.
        var copied: Range<UInt64>?
        func flush() {
            guard let range = copied, let old else { return }
            parts.append(
                .copy(
                    of: old.file, offset: old.header.blocksOffset + range.lowerBound,
                    count: range.upperBound - range.lowerBound))
            copied = nil
        }
        func copy(_ range: Range<UInt64>) {
            if range.isEmpty { return }
            if let last = copied, last.upperBound == range.lowerBound {
                copied = last.lowerBound..<range.upperBound
            } else {
                flush()
                copied = range
            }
        }
        let limit = old?.header.blocksByteCount ?? 0
        for block in blocks {
            if let sealed = block.sealed {
                flush()
                parts.append(.bytes(sealed))
            } else if let old = block.old {
                copy(old.offset..<old.chunksOffset)
            }
            for range in block.chunks {
                // Old and new chunks may touch where the old blocks end.
                if range.lowerBound < limit {
                    copy(range.lowerBound..<min(range.upperBound, limit))
                }
                guard range.upperBound > limit else { continue }
                flush()
                let start = Int(max(range.lowerBound, limit) - limit)
                parts.append(.bytes(Array(newChunks[start..<Int(range.upperBound - limit)])))
            }
        }
        flush()
        return parts
    }
}
