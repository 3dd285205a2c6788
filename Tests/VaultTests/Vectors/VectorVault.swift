import Foundation
import Sealing

@testable import Vault

/// A vault whose every part but the nonces is chosen, and the changes on its way to a file.
///
/// A change before a seal or a checksum is covered by it, so that only one property is wrong.
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
    var chunks: [UInt8] = []
    /// What a reader must find.
    var values: [Vector.Value] = []
    private var dataKeys: [Identifier: [UInt8]] = [:]

    /// Makes the checkpoint for the file's header. The default covers everything but versions in
    /// sealed batches.
    var checkpoint: ((VaultHeader, borrowing SecretBytes, CheckpointEntries) throws -> Checkpoint)?

    // Changes to the file, in the order in which it is assembled.

    /// To the ten sections of the index's content, without their lengths and the flag before them.
    var changeSections: ((inout [[UInt8]]) throws -> Void)?
    /// To the content: the flag, and the sections with their lengths.
    var changeContent: ((inout [UInt8]) -> Void)?
    /// To the length, the content and the zeros after it.
    var changePadded: ((inout [UInt8]) -> Void)?
    /// To the header without its checksum, before the index is sealed with it.
    var changeHeader: ((inout [UInt8]) -> Void)?
    /// To the header after the index was sealed, before the checksum is computed.
    var forgeHeader: ((inout [UInt8]) -> Void)?
    /// To the finished file.
    var changeFile: ((inout [UInt8]) -> Void)?

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
        _ wrapping: Batch.Wrapping, _ number: UInt8, vault: Identifier = vaultID,
        named: Identifier? = nil, underRoot other: [UInt8]? = nil
    ) throws -> Identifier {
        let id = Self.identifier(0x40 + number)
        let bytes = [UInt8](number..<(number + 32))
        let root = RootKey(try Self.secret(other ?? self.root))
        let key = try Self.secret(bytes)
        var batch: Batch
        switch wrapping {
        case .root:
            let batchKey = try root.batchKey()
            batch = key.withBytes {
                Batch.root($0, id: named ?? id, vault: vault, batchKey: batchKey)
            }
        case .sealed:
            batch = try Batch.sealed(
                key, id: named ?? id, vault: vault, publicKey: try root.boxKeyPair().publicKey)
        }
        batch = Batch(id: id, wrapping: batch.wrapping, wrapped: batch.wrapped)
        index.batches.append(batch)
        dataKeys[id] = bytes
        return id
    }

    /// How one value is stored.
    struct Storing {
        var version: UInt64 = 1
        var isCurrent = true
        /// The record's name when the value was sealed.
        var sealedName: String?
        /// What the seal covers but the index does not contain.
        var associatedName: String?
        var associatedProject: Identifier?
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
        let versionID = Self.version(UInt8(index.versionCount))
        let data = ValueChunk.associatedData(
            vault: Self.vaultID, batch: batch, variable: id,
            version: how.associatedVersion ?? versionID,
            project: how.associatedProject ?? variable.project,
            name: how.associatedName ?? how.sealedName ?? variable.name)
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
            offset: UInt64(chunks.count),
            length: UInt32(chunk.count), checksum: chunk.withBytes { .init(of: $0) },
            createdAt: 1_700_000_001_000,
            sealedName: how.sealedName.map { .init(project: variable.project, name: $0) })
        chunks += chunk
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
        var index = index
        let covered = VaultHeader(
            vaultID: Self.vaultID, generation: generation, indexEpoch: epoch,
            publicKey: try rootKey().boxKeyPair().publicKey, slots: slots,
            indexNonce: [], indexByteCount: 0, fileByteCount: 0)
        let entries = entries()
        let key = try rootKey().checkpointKey()
        if let checkpoint {
            index.checkpoint = try checkpoint(covered, key, entries)
        } else {
            index.checkpoint = Checkpoint(of: entries, under: covered, key: key)
        }
        var padded = try index.encoded().withBytes { bytes in
            (0..<bytes.byteCount).map { bytes.byte(at: $0) }
        }
        if changeSections != nil || changeContent != nil {
            var sections = Self.sections(ofPadded: padded)
            try changeSections?(&sections)
            var content = ByteWriter()
            content.flag(false)
            for section in sections { content.section { $0.raw(section) } }
            var bytes = content.bytes
            changeContent?(&bytes)
            var writer = ByteWriter()
            writer.uint32(UInt32(bytes.count))
            writer.raw(bytes)
            let count = Padding.paddedByteCount(ofIndex: writer.bytes.count)
            writer.raw([UInt8](repeating: 0, count: count - writer.bytes.count))
            padded = writer.bytes
        }
        changePadded?(&padded)
        var header = VaultHeader(
            vaultID: Self.vaultID, generation: generation, indexEpoch: epoch,
            publicKey: try rootKey().boxKeyPair().publicKey, slots: slots,
            indexNonce: AuthenticatedCipher.randomNonce(),
            indexByteCount: UInt64(padded.count + 16), fileByteCount: 0)
        header.fileByteCount = header.chunksOffset + UInt64(chunks.count)
        var body = Array(header.encoded().dropLast(VaultFormat.checksumByteCount))
        changeHeader?(&body)
        let data = VaultHeader.indexAssociatedData(header: body + Self.checksum(body))
        var sealed: [UInt8] = []
        let sealingKey = try keys().index.sealingKey()
        padded.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: Array(body[(body.count - 32)..<(body.count - 8)]), additionalData: data,
                key: sealingKey, appendingTo: &sealed)
        }
        forgeHeader?(&body)
        var file = body + Self.checksum(body) + sealed + chunks
        changeFile?(&file)
        return file
    }

    /// Entries of all that there is, but for versions in sealed batches.
    func entries(listsSealed: Bool = false) -> CheckpointEntries {
        let sealed = Set(index.batches.filter { $0.isSealed && !listsSealed }.map(\.id))
        // Some vectors have a number twice, which no entry may have.
        let versions = index.versions().mapValues { versions in
            versions.indices.filter { place in
                place == 0 || versions[place - 1].version != versions[place].version
            }.map { versions[$0] }
        }
        var objects: [AcceptedObject] = index.projects.map { .init($0) }
        objects += index.variables.map { variable in
            .variable(
                AcceptedRecord(
                    of: variable,
                    versions: (versions[variable.id] ?? []).filter { !sealed.contains($0.batch) }
                        .map(\.name)))
        }
        objects += index.accounts.map { .init($0) }
        objects += index.metadata.approvedDirectories.map { .directory($0) }
        objects += index.allJournalEntries.map { .init($0) }
        objects += index.metadata.settings.map { .setting($0) }
        return CheckpointEntries(of: objects)
    }

    private static func checksum(_ body: [UInt8]) -> [UInt8] {
        body.withBytes { Digest.checksum($0) }
    }

    /// The sections of a padded index, without their lengths.
    static func sections(ofPadded padded: [UInt8]) -> [[UInt8]] {
        var sections: [[UInt8]] = []
        var offset = 5
        for _ in 0..<10 {
            let count = (0..<4).reversed().reduce(0) { $0 << 8 | Int(padded[offset + $1]) }
            sections.append(Array(padded[(offset + 4)..<(offset + 4 + count)]))
            offset += 4 + count
        }
        return sections
    }
}

extension CheckpointEntries {
    /// Entries of objects, in any order.
    init(of objects: [AcceptedObject]) {
        self = CheckpointEntries().replacing(
            Dictionary(objects.map { ($0.object, .some($0.content)) }) { first, _ in first })
    }

    /// The content of the index.
    var bytes: [UInt8] { encoded { encode(into: &$0) } }
}
