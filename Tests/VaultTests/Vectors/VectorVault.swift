import Foundation
import Sealing

@testable import Vault

/// A vault whose every part but the nonces is chosen, and the changes on its way to a file.
///
/// A change before a checksum, a proof or a seal is covered by it, so that only one property is
/// wrong.
struct VectorVault {
    static let passphrase = "correct horse"
    static let recoveryCode = "0108-1G81-860W-40J2-GB1G-6GW3-RGH3"
    static let vaultID = identifier(0x70)
    static let cost = PassphraseCost(operations: 1, memoryByteCount: 8 << 20)
    /// The key in the keyring or the key file, of every such slot.
    static let slotKey = [UInt8](0x20..<0x40)

    var root = [UInt8](0xA0..<0xC0)
    var generation: UInt64 = 7
    var epoch: UInt32 = 1
    var slots: [KeySlot] = []
    var index = VaultIndex(extent: .everything)
    /// By project.
    var sectionChunks: [Identifier: [UInt8]] = [:]
    /// Sections without anything, in addition to those that are needed.
    var emptySections: [Identifier] = []
    /// The project of each batch.
    private var batchProjects: [Identifier: Identifier] = [:]
    /// What a reader must find.
    var values: [Vector.Value] = []
    private var dataKeys: [Identifier: [UInt8]] = [:]

    /// Those of the project "web".
    var chunks: [UInt8] {
        get { sectionChunks[Self.web] ?? [] }
        set { sectionChunks[Self.web] = newValue }
    }

    // Changes to the file, in the order in which it is assembled.

    /// To the five parts of the content of a section, without their lengths.
    var changeSection: [Identifier: (inout [[UInt8]]) throws -> Void] = [:]
    /// To the length, the content and the zeros of a section.
    var changeSectionPadded: [Identifier: (inout [UInt8]) -> Void] = [:]
    /// Of which vault and under which id a section is sealed.
    var sealedAs: [Identifier: (vault: Identifier, id: Identifier)] = [:]
    /// To a sealed section, before the table gets its hash.
    var changeSealed: [Identifier: (inout [UInt8]) -> Void] = [:]
    /// To the rows of the sections.
    var changeRows: ((inout [SectionExtent]) -> Void)?
    /// To the six parts of the table's content, without their lengths and the flag before them.
    var changeTable: ((inout [[UInt8]]) throws -> Void)?
    /// To the content of the table: the flag, and the parts with their lengths.
    var changeContent: ((inout [UInt8]) -> Void)?
    /// To the length, the content and the zeros after it.
    var changePadded: ((inout [UInt8]) -> Void)?
    /// To the header without its checksum, before a proof covers it and the index is sealed with it.
    var changeHeader: ((inout [UInt8]) -> Void)?
    /// Makes the proof for the whole header and the padded content, in place of the vault's root.
    var makeProof: (([UInt8], [UInt8]) throws -> [UInt8])?
    /// To the proof. ``proofByteCount`` must be its length afterwards.
    var changeProof: ((inout [UInt8]) throws -> Void)?
    /// The length of the proof, which the header's length of the table includes.
    var proofByteCount = IndexProof.byteCount
    /// To the padded content after its proof was made. Its length must stay.
    var forgePadded: ((inout [UInt8]) throws -> Void)?
    /// To the header after the index was sealed, before the checksum is computed.
    var forgeHeader: ((inout [UInt8]) -> Void)?
    /// To the finished file.
    var changeFile: ((inout [UInt8]) -> Void)?

    /// Where the first chunk is, in a file with one slot, a short table and a short first section.
    static let firstChunk = 344 + 4_208 + 4_136

    /// Sixteen bytes derived from a number, in its order.
    static func identifier(_ number: UInt8) -> Identifier {
        Identifier(high: UInt64(number) << 56 | 0x11_2233_4455_6677, low: UInt64(number) * 0x0101)
    }

    /// The id of version `number`, counted from the first chunk.
    static func version(_ number: UInt8) -> Identifier { identifier(0x98 + number) }

    static func secret(_ bytes: [UInt8]) throws -> SecretBytes {
        try bytes.withBytes { try SecretBytes(copying: $0) }
    }

    func rootKey() throws -> RootKey { RootKey(try Self.secret(root)) }

    func keys() throws -> VaultKeys {
        let root = try rootKey()
        let index = try root.indexKey(epoch: epoch)
        return VaultKeys(index: index, root: root)
    }

    // MARK: Slots

    /// Adds a slot that opens with the secret of its kind.
    mutating func addSlot(
        _ kind: KeySlot.Kind, _ tier: KeySlot.Tier, number: UInt8? = nil,
        passphrase: String = passphrase, vault: Identifier = vaultID
    ) throws {
        let number = number ?? UInt8(slots.count + 1)
        let salt: [UInt8]
        let wrappingKey: SecretBytes
        switch kind {
        case .passphrase:
            salt = [UInt8](repeating: 0x50 + number, count: 16)
            wrappingKey = try PassphraseDerivation.deriveKey(
                from: try Self.secret(Array(passphrase.utf8)), salt: salt, cost: Self.cost)
        case .recovery:
            salt = [UInt8](repeating: 0x60 + number, count: 16)
            guard
                let code = try RecoveryCode(
                    reading: try Self.secret(Array(Self.recoveryCode.utf8)))
            else { throw VaultError(.wrongPassphrase, "the recovery code has a slip") }
            wrappingKey = try code.wrappingKey(salt: salt)
        case .secretService, .file:
            salt = [UInt8](repeating: 0, count: 16)
            wrappingKey = try Self.secret(Self.slotKey)
        }
        let cost = kind == .passphrase ? Self.cost : nil
        let key =
            switch tier {
            case .index: try keys().index.bytes.withBytes { try SecretBytes(copying: $0) }
            case .values: try Self.secret(root)
            }
        slots.append(
            KeySlot.wrapping(
                key, under: wrappingKey, vault: vault, id: Self.identifier(0x80 + number),
                kind: kind, tier: tier, cost: cost, salt: salt, createdAt: 1_700_000_000_000))
    }

    // MARK: Values

    /// Adds a data key.
    @discardableResult
    mutating func addBatch(
        _ number: UInt8, in project: Identifier = web, vault: Identifier = vaultID,
        named: Identifier? = nil, underRoot other: [UInt8]? = nil
    ) throws -> Identifier {
        let id = Self.identifier(0x40 + number)
        let bytes = [UInt8](number..<(number + 32))
        let root = RootKey(try Self.secret(other ?? self.root))
        let batchKey = try root.batchKey()
        let key = try Self.secret(bytes)
        let made = Batch(key, id: named ?? id, vault: vault, batchKey: batchKey)
        index.batches.append(Batch(id: id, wrapped: made.wrapped))
        dataKeys[id] = bytes
        batchProjects[id] = project
        return id
    }

    /// Flips a bit of a wrapped data key.
    mutating func changeBatch(at place: Int, byte: Int) {
        var wrapped = index.batches[place].wrapped
        wrapped[byte] ^= 1
        index.batches[place] = Batch(id: index.batches[place].id, wrapped: wrapped)
    }

    /// How one value is stored.
    struct Storing {
        var version: UInt64 = 1
        var isCurrent = true
        /// The record's name when the value was stored, if it was renamed since.
        var formerName: String?
        /// What the seal covers in place of the ids of the vault, the record and the version.
        var associatedVault: Identifier?
        var associatedRecord: Identifier?
        var associatedVersion: Identifier?
        /// To the padded value, before it is sealed.
        var changePadded: ((inout [UInt8]) -> Void)?
        /// To the sealed chunk, before its checksum is computed.
        var changeChunk: ((inout [UInt8]) -> Void)?
        var isExpected = true
    }

    /// Seals a value after the others.
    mutating func store(
        _ value: [UInt8], in id: Identifier, batch: Identifier, _ how: Storing = Storing()
    ) throws {
        guard let position = index.variables.firstIndex(where: { $0.id == id }) else { return }
        let variable = index.variables[position]
        let count = index.currentVersions.count + index.earlierVersions.count
        let versionID = Self.version(UInt8(count))
        let data = ValueChunk.associatedData(
            vault: how.associatedVault ?? Self.vaultID, variable: how.associatedRecord ?? id,
            version: how.associatedVersion ?? versionID)
        var writer = ByteWriter()
        writer.uint32(UInt32(value.count))
        writer.raw(value)
        let padded = Padding.paddedByteCount(ofValue: 4 + value.count)
        writer.raw([UInt8](repeating: 0, count: padded - 4 - value.count))
        var text = writer.bytes
        how.changePadded?(&text)
        var chunk = AuthenticatedCipher.randomNonce()
        let nonce = chunk
        let key = try Self.secret(dataKeys[batch] ?? [UInt8](repeating: 0, count: 32))
        text.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: nonce, additionalData: data, key: key, appendingTo: &chunk)
        }
        how.changeChunk?(&chunk)
        let stored = StoredVersion(
            variable: id, version: how.version, id: versionID, batch: batch,
            offset: UInt64(sectionChunks[variable.project]?.count ?? 0),
            length: UInt32(chunk.count), checksum: chunk.withBytes { .init(of: $0) },
            createdAt: 1_700_000_001_000, formerName: how.formerName)
        sectionChunks[variable.project, default: []] += chunk
        if how.isCurrent {
            index.currentVersions[id] = stored
            index.variables[position].currentVersion = how.version
        } else {
            index.earlierVersions.append(stored)
        }
        index.variables[position].highestVersion = max(variable.highestVersion, how.version)
        if how.isExpected { expect(value, of: variable, how) }
    }

    private mutating func expect(_ value: [UInt8], of variable: Variable, _ how: Storing) {
        let scope = variable.attributes.scope
        let text = String(validating: value, as: UTF8.self)
        values.append(
            Vector.Value(
                project: index.project(variable.project)?.name ?? "", key: variable.name,
                type: variable.attributes.kind.name, targets: scope.targets.names,
                customEnvironments: scope.customEnvironments, branch: scope.branch,
                comment: variable.attributes.comment, removed: !variable.isLive,
                version: how.version, current: how.isCurrent, value: text,
                valueHex: text == nil
                    ? value.map { String(format: "%02x", $0) }.joined() : nil))
    }

    // MARK: The file

    /// The bytes of the file.
    func file() throws -> [UInt8] {
        var (rows, blocks): ([SectionExtent], [UInt8]) = ([], [])
        for id in sectionIDs {
            let sealed = try sealedSection(id)
            let chunks = sectionChunks[id] ?? []
            rows.append(
                SectionExtent(
                    id: id, offset: 0, sealedByteCount: UInt64(sealed.count),
                    chunksByteCount: UInt64(chunks.count),
                    checksum: sealed.withBytes { Checksum(of: $0) }))
            blocks += sealed + chunks
        }
        changeRows?(&rows)
        var padded = try paddedTable(rows)
        let key = try rootKey()
        var header = VaultHeader(
            vaultID: Self.vaultID, generation: generation, indexEpoch: epoch,
            publicKey: try key.signingPair().publicKey, slots: slots,
            tableNonce: AuthenticatedCipher.randomNonce(),
            tableByteCount: UInt64(
                padded.count + proofByteCount + AuthenticatedCipher.tagByteCount),
            fileByteCount: 0)
        header.fileByteCount = header.blocksOffset + UInt64(blocks.count)
        var body = Array(header.encoded().dropLast(VaultFormat.checksumByteCount))
        changeHeader?(&body)
        let covered = body + Self.checksum(body)
        var proof: [UInt8]
        if let makeProof {
            proof = try makeProof(covered, padded)
        } else {
            proof = try Self.proof(of: covered, padded, by: root)
        }
        try changeProof?(&proof)
        try forgePadded?(&padded)
        var sealed: [UInt8] = []
        let sealingKey = try keys().index.sealingKey()
        (padded + proof).withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: Array(body[(body.count - 32)..<(body.count - 8)]),
                additionalData: VaultHeader.tableAssociatedData(header: covered),
                key: sealingKey, appendingTo: &sealed)
        }
        forgeHeader?(&body)
        var file = body + Self.checksum(body) + sealed + blocks
        changeFile?(&file)
        return file
    }

    /// The sections that are needed, in order.
    private var sectionIDs: [Identifier] {
        Set(index.variables.map(\.project) + index.journal.compactMap(\.section))
            .union(index.otherAgreements.keys).union(emptySections).sorted()
    }

    /// The parts of a section, by their numbers: records, current and earlier versions, batches,
    /// agreements, journal.
    func items(of section: Identifier) -> [[[UInt8]]] {
        func each<T>(_ items: [T], _ encode: (T, inout ByteWriter) -> Void) -> [[UInt8]] {
            items.map { item in encoded { encode(item, &$0) } }
        }
        let variables = index.variables.filter { $0.project == section }.sorted { $0.id < $1.id }
        // A version of no record is in the section of the project "web".
        let projects = Dictionary(
            index.variables.map { ($0.id, $0.project) }, uniquingKeysWith: { first, _ in first })
        func own(_ versions: [StoredVersion]) -> [StoredVersion] {
            versions.filter { projects[$0.variable] ?? Self.web == section }
                .sorted { $0.precedes($1) }
        }
        return [
            each(variables) { $0.encode(into: &$1) },
            each(own(index.currentVersions.values)) { $0.encode(into: &$1, at: $0.offset) },
            each(own(index.earlierVersions)) { $0.encode(into: &$1, at: $0.offset) },
            each(
                index.batches.filter { batchProjects[$0.id] == section }.sorted { $0.id < $1.id }
            ) { $0.encode(into: &$1) },
            each(
                index.agreements(
                    of: section,
                    variables: index.variables.indices.filter {
                        index.variables[$0].project == section
                    })
            ) { $0.encode(into: &$1) },
            each(index.journal.filter { $0.section == section }.sorted { $0.id < $1.id }) {
                $0.encode(into: &$1)
            },
        ]
    }

    private func sealedSection(_ id: Identifier) throws -> [UInt8] {
        var parts = items(of: id).map(list)
        try changeSection[id]?(&parts)
        var padded = Self.padded(encoded { for part in parts { $0.part(part) } })
        changeSectionPadded[id]?(&padded)
        let names = sealedAs[id] ?? (Self.vaultID, id)
        let key = try keys().index.sealingKey()
        var sealed = padded.withBytes {
            AuthenticatedCipher.sealed(
                $0, additionalData: SectionExtent.associatedData(vault: names.0, id: names.1),
                key: key)
        }
        changeSealed[id]?(&sealed)
        return sealed
    }

    /// The table's length, its content and the zeros after it.
    private func paddedTable(_ rows: [SectionExtent]) throws -> [UInt8] {
        var index = index
        index.sections = rows
        var padded = try index.encodedTable().withBytes { $0.array }
        if changeTable != nil || changeContent != nil {
            var parts = Self.parts(ofTable: padded)
            try changeTable?(&parts)
            var bytes = encoded { writer in
                writer.flag(false)
                for part in parts { writer.part(part) }
            }
            changeContent?(&bytes)
            padded = Self.padded(bytes)
        }
        changePadded?(&padded)
        return padded
    }

    static func padded(_ content: [UInt8]) -> [UInt8] {
        let text = u32(UInt32(content.count)) + content
        let count = Padding.paddedByteCount(ofIndex: text.count)
        return text + [UInt8](repeating: 0, count: count - text.count)
    }

    /// The proof that a root makes for a whole header and a padded content.
    static func proof(
        of header: [UInt8], _ content: [UInt8], by root: [UInt8]
    ) throws -> [UInt8] {
        let key = RootKey(try secret(root))
        return try key.proof(content.withBytes { IndexProof(of: header, $0) })
    }

    private static func checksum(_ body: [UInt8]) -> [UInt8] {
        body.withBytes { Digest.checksum($0) }
    }

    /// The parts of a padded table, without their lengths.
    static func parts(ofTable padded: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var offset = 5
        for _ in 0..<6 {
            let count = (0..<4).reversed().reduce(0) { $0 << 8 | Int(padded[offset + $1]) }
            parts.append(Array(padded[(offset + 4)..<(offset + 4 + count)]))
            offset += 4 + count
        }
        return parts
    }
}

extension ByteWriter {
    /// A part of the index: its length and its bytes.
    fileprivate mutating func part(_ bytes: [UInt8]) { section { $0.raw(bytes) } }
}
