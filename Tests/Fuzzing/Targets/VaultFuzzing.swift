import Sealing

@testable import Vault

/// Properties of reading any bytes as a vault.
enum VaultFuzzing {
    /// The index key and slot key to try. They open nothing that a fuzzer finds.
    private static let key = [UInt8](repeating: 7, count: 32)

    /// Opens a file, tries its slots and its index.
    ///
    /// The checksum is corrected, because nobody finds one by trying. An accepted header encodes to
    /// the same bytes, nothing past the end of the file is read, and a refusal is one that the
    /// format defines.
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
    }

    private static func secret() throws(VaultError) -> SecretBytes {
        try guarding { () throws(SealingError) in
            try key.withBytes { (bytes) throws(SealingError) in try SecretBytes(copying: bytes) }
        }
    }

    /// Decodes the content of an index: four bytes with the length of all chunks, then the bytes
    /// between the index's length and its zeros.
    ///
    /// An accepted index encodes to the same bytes, a partial decoding equals the whole one, and it
    /// can be compared with its checkpoint.
    static func exerciseIndex(_ input: [UInt8], _ scratch: FuzzScratch) throws {
        guard input.count >= 4 else { return }
        let chunks = input[..<4].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        var writer = ByteWriter()
        writer.uint32(UInt32(input.count - 4))
        writer.raw(Array(input[4...]))
        let count = Padding.paddedByteCount(ofIndex: writer.bytes.count)
        writer.raw([UInt8](repeating: 0, count: count - writer.bytes.count))
        let padded = writer.bytes
        let slice = try scratch.slice(of: padded)
        let whole = try decode(slice, .everything, chunks)
        for extent in [VaultIndex.Extent.listing, .currentValues] {
            let part = try decode(slice, extent, chunks)
            guard let whole else { continue }
            guard part?.variables == whole.variables, part?.projects == whole.projects,
                part?.accounts.count == whole.accounts.count
            else { throw FuzzFinding("a part is not decoded as the whole") }
        }
        guard let whole else { return }
        let isSame = try whole.encoded().withBytes { again in
            again.byteCount == padded.count
                && padded.indices.allSatisfy { again.byte(at: $0) == padded[$0] }
        }
        guard isSame else { throw FuzzFinding("an accepted index is encoded to other bytes") }
        try compare(whole)
    }

    /// Compares an accepted index with its checkpoint: no object is listed twice, and every object
    /// that a use finds is listed.
    private static func compare(_ index: VaultIndex) throws {
        let changes = CheckpointComparison(of: index).changes
        let listed = Set(changes.map(\.object))
        guard listed.count == changes.count else { throw FuzzFinding("an object is listed twice") }
        let directories = index.metadata.approvedDirectories.map(\.path)
        for project in index.projects.map(\.id) {
            let records = index.variables.filter { $0.project == project }
            let positions = index.variables.indices.filter {
                index.variables[$0].project == project
            }
            let namings: [CheckpointUse.Values.Naming] =
                [.name, .binding] + directories.map { .directory($0) }
            let uses: [CheckpointUse] =
                namings.map { naming in
                    .values(
                        .init(of: project, found: naming, at: positions, isWanted: { _, _ in true })
                    )
                } + [
                    .sending(
                        project: project, records: Set(records.map(\.id)),
                        account: index.accounts.first?.name),
                    .versions(index.earlierVersions, of: project, found: .name),
                ]
            for use in uses where !index.objectsNotAccepted(for: use).isSubset(of: listed) {
                throw FuzzFinding("a use finds a difference that is not listed")
            }
        }
    }

    private static func decode(
        _ slice: SecretSlice, _ extent: VaultIndex.Extent, _ chunks: UInt64
    ) throws -> VaultIndex? {
        do throws(VaultError) {
            return try VaultIndex.decode(slice, extent: extent, chunksByteCount: chunks)
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
