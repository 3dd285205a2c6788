import Sealing

@testable import Vault

/// Properties of reading any bytes as a vault.
enum VaultFuzzing {
    /// The index key and slot key to try. They open nothing that a fuzzer finds.
    private static let key = [UInt8](repeating: 7, count: 32)

    /// Opens a file, tries its slots, its table and the proof in it.
    ///
    /// The checksum is corrected, because nobody finds one by trying. An accepted header encodes to
    /// the same bytes, nothing past the end of the file is read, a refusal is one that the format
    /// defines, and no bytes are a signature, whatever the public key is.
    static func exerciseFile(_ input: [UInt8]) throws {
        var bytes = input
        let length = headerByteCount(of: bytes)
        if let length {
            let checksum = Array(bytes[..<(length - 32)]).withBytes { Digest.checksum($0) }
            bytes.replaceSubrange((length - 32)..<length, with: checksum)
        }
        let file = CountingFile(bytes)
        do throws(VaultError) {
            let vault = try Vault(path: "input", file: file)
            guard let length, vault.header.encoded() == Array(bytes[..<length]) else {
                throw VaultError(.exists, "an accepted header is encoded to other bytes")
            }
            try tryKeys(on: vault)
        } catch {
            guard [.newerFormat, .preReleaseFormat].contains(error.code) || error.damage != nil
            else {
                throw FuzzFinding(error.reason)
            }
        }
        guard file.longestRead <= max(bytes.count, 16) else {
            throw FuzzFinding("\(file.longestRead) bytes were asked of a file of \(bytes.count)")
        }
    }

    /// The length of the header, if it is within bounds and the file.
    private static func headerByteCount(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 16 else { return nil }
        let length = bytes[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
        return (152...65_536).contains(length) && length <= bytes.count ? length : nil
    }

    /// No passphrase is derived: that takes as long as the file demands, and reads nothing else.
    private static func tryKeys(on vault: Vault) throws(VaultError) {
        let key = try secret()
        for slot in vault.header.slots.prefix(2) {
            guard try vault.unlock(slot, slotKey: key) == nil else {
                throw VaultError(.exists, "a slot opened with a key that is not its own")
            }
        }
        let keys = VaultKeys(
            index: IndexKey(try secret(), epoch: vault.header.indexEpoch), root: nil)
        _ = try vault.inspection(with: keys)
        try tryProof(of: vault)
    }

    /// Takes the bytes of the table for opened ones: a holder of the index key chooses them.
    private static func tryProof(of vault: Vault) throws(VaultError) {
        let header = vault.header
        let opened = try vault.file.read(
            at: UInt64(header.byteCount),
            count: Int(header.tableByteCount) - AuthenticatedCipher.tagByteCount)
        let content = Array(opened.dropLast(IndexProof.byteCount))
        let proof = content.withBytes { IndexProof(of: header.encoded(), $0) }
        guard !proof.isSigned(Array(opened.suffix(IndexProof.byteCount)), by: header.publicKey)
        else { throw VaultError(.exists, "bytes that no one signed are a signature") }
    }

    private static func secret() throws(VaultError) -> SecretBytes {
        try guarding { () throws(SealingError) in
            try key.withBytes { (bytes) throws(SealingError) in try SecretBytes(copying: bytes) }
        }
    }

    /// Decodes the content of a table: four bytes with the length of all blocks, then the bytes
    /// between the table's length and its zeros.
    ///
    /// An accepted table encodes to the same bytes, and its journal can be read.
    static func exerciseTable(_ input: [UInt8], _ scratch: FuzzScratch) throws {
        guard input.count >= 4 else { return }
        let padded = padded(input[4...])
        let slice = try scratch.slice(of: padded)
        let table = try accepting { () throws(VaultError) in
            try VaultIndex.decode(
                table: slice, extent: .everything, blocksByteCount: number(input))
        }
        guard let table else { return }
        let isSame = try table.encodedTable().withBytes { again in
            again.byteCount == padded.count
                && padded.indices.allSatisfy { again.byte(at: $0) == padded[$0] }
        }
        guard isSame else { throw FuzzFinding("an accepted table is encoded to other bytes") }
        do throws(VaultError) {
            let known = try table.rotations().count + table.relays().count
            let sends = try table.sends()
            guard known <= table.allJournalEntries.count, sends.isEmpty else {
                throw VaultError(.exists, "an entry of the journal is read twice")
            }
        } catch { throw FuzzFinding(error.reason) }
    }

    /// Decodes the content of a section: four bytes with the length of its chunks, then the bytes
    /// between the section's length and its zeros.
    ///
    /// An accepted section encodes to the same bytes, a partial decoding equals the whole one, its
    /// journal can be read, and each of its versions belongs to a record.
    static func exerciseSection(_ input: [UInt8]) throws {
        guard input.count >= 4 else { return }
        let padded = padded(input[4...])
        let place = SectionExtent(
            id: Identifier(high: 1, low: 1), offset: 0,
            sealedByteCount: UInt64(padded.count + SectionExtent.addedByteCount),
            chunksByteCount: number(input), checksum: Checksum([UInt8](repeating: 0, count: 32)))
        let whole = try decode(padded, place, .everything)
        for extent in [VaultIndex.Extent.listing, .currentValues] {
            let part = try decode(padded, place, extent)
            guard let whole else { continue }
            guard part?.variables == whole.variables, part?.journal == whole.journal,
                extent == .listing || part?.currentVersions == whole.currentVersions
            else { throw FuzzFinding("a part is not decoded as the whole") }
        }
        guard let whole else { return }
        var index = VaultIndex(extent: .everything)
        index.projects = [VaultProject(id: place.id, name: "input", createdAt: 0)]
        index.add(whole, place.id)
        do throws(VaultError) {
            // Data keys that nothing needs are not written again.
            if var content = try SectionContent.all(of: index)[place.id],
                Set(index.versions().values.joined().map(\.batch)).count == whole.batches.count
            {
                _ = content.pack(index)
                guard
                    try content.encoded(
                        index,
                        batches: Dictionary(
                            uniqueKeysWithValues: zip(
                                index.batches.map(\.id), index.batches.indices))
                    ).bytes == padded
                else {
                    throw VaultError(.exists, "an accepted section is encoded to other bytes")
                }
            }
            let known = try index.sends().count + index.rotations().count
            guard known <= index.journal.count else {
                throw VaultError(.exists, "an entry of the journal is read twice")
            }
        } catch { throw FuzzFinding(error.reason) }
        let versions = index.versions()
        let count = whole.currentVersions.count + whole.earlierVersions.count
        guard Set(versions.keys).isSubset(of: index.variables.map(\.id)),
            Set(index.formerNames.keys).isSubset(of: versions.keys),
            versions.values.reduce(0, { $0 + $1.count }) == count
        else { throw FuzzFinding("a version is lost, or belongs to no record") }
    }

    private static func number(_ input: [UInt8]) -> UInt64 {
        input[..<4].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func padded(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint32(UInt32(content.count))
        writer.raw(Array(content))
        let count = Padding.paddedByteCount(ofIndex: writer.count)
        writer.raw([UInt8](repeating: 0, count: count - writer.count))
        return writer.bytes
    }

    private static func decode(
        _ padded: [UInt8], _ place: SectionExtent, _ extent: VaultIndex.Extent
    ) throws -> IndexSection? {
        try accepting { () throws(VaultError) in
            try padded.withBytes { (bytes) throws(VaultError) in
                let section = try IndexSection.decode(bytes, of: place, extent: extent)
                if extent == .everything { try section.check(in: place, isProject: true) }
                return section
            }
        }
    }

    /// Returns nil for what the format refuses.
    private static func accepting<T>(_ body: () throws(VaultError) -> T) throws -> T? {
        do throws(VaultError) {
            return try body()
        } catch {
            guard error.damage != nil || error.code == .newerFormat else {
                throw FuzzFinding(error.reason)
            }
            return nil
        }
    }
}

/// Reused guarded memory, since allocating it costs more than everything else.
package final class FuzzScratch {
    private static let limit = 16 << 10
    private let arena = SecretArena(firstRegionByteCount: limit)
    private var slice: SecretSlice?

    /// Allocates no memory yet.
    package init() {}

    func slice(of bytes: [UInt8]) throws -> SecretSlice {
        guard bytes.count <= Self.limit else {
            return try bytes.withBytes { try SecretArena().copy($0) }
        }
        let whole = try slice ?? arena.allocate(count: Self.limit)
        slice = whole
        let part = whole.part(0..<bytes.count)
        bytes.withBytes { bytes in part.withMutableBytes { $0.copy(from: bytes) } }
        return part
    }
}

/// A file in memory that records the largest read.
private final class CountingFile: ReadableFile {
    private let bytes: [UInt8]
    private(set) var longestRead = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var byteCount: UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8] {
        guard offset <= byteCount, UInt64(count) <= byteCount - offset else {
            throw VaultError(damaged: .truncated, "the vault is shorter than it says")
        }
        longestRead = max(longestRead, count)
        return Array(bytes[Int(offset)..<Int(offset) + count])
    }
}
