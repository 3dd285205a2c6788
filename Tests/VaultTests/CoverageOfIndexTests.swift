import Sealing
import TestSupport
import Testing

@testable import Vault

/// Each field of the index is covered by the proof: changed with the index key alone, it is refused
/// by a reader with the root and by a reader without it.
@Suite("Index fields covered by the proof")
struct CoverageOfIndexTests {
    /// Fields that consist of others, which have changes of their own.
    private static let structures: Set<String> = [
        "VaultIndex.metadata", "Variable.attributes", "Variable.kept", "VariableAttributes.scope",
    ]
    /// Fields that no file has.
    private static let unwritten: Set<String> = [
        "VaultIndex.extent", "VaultIndex.openedSections", "VaultProject.live",
        "VaultProject.seenAt", "SectionExtent.offset",
    ]

    private static func vault() throws -> VectorVault {
        var vault = try VectorVault.rich()
        vault.index.secretJournal = [try VectorVault.relay(1)]
        vault.index.metadata.audit = .init(
            sequence: VectorVault.auditSequence, tag: [UInt8](repeating: 4, count: 16))
        return vault
    }

    /// A sample of each type with fields, with every optional member set.
    private static func samples() throws -> [Any] {
        let rich = try vault().index
        let project = try #require(rich.projects.first { $0.binding != nil })
        let variable = try #require(rich.variables.first { $0.remote != nil })
        let remote = try #require(variable.remote)
        return [
            rich, rich.metadata, rich.metadata.generationTags[0], try #require(rich.metadata.audit),
            rich.metadata.approvedDirectories[0], rich.metadata.settings[0], project,
            try #require(project.binding), variable,
            variable.attributes, variable.attributes.scope, remote, try #require(remote.earlier),
            try #require(rich.otherAgreements[VectorVault.web]?.first),
            try #require(rich.earlierVersions.first { $0.formerName != nil }), rich.batches[0],
            rich.journal[0], rich.secretJournal[0], rich.accounts[0],
            SectionExtent(
                id: VectorVault.web, offset: 0, sealedByteCount: 4_136, chunksByteCount: 0,
                checksum: Checksum([UInt8](repeating: 0, count: 32))),
        ]
    }

    @Test func `SEC-F1: each field of the index has a change`() throws {
        let fields = try Self.samples().flatMap { sample in
            Mirror(reflecting: sample).children.compactMap(\.label).map {
                "\(type(of: sample)).\($0)"
            }
        }
        // A new field must have a change here before this passes.
        let wanted = Set(fields).subtracting(Self.structures).subtracting(Self.unwritten)
        #expect(wanted == Set(Self.mutations.map(\.testDescription)))
        #expect(Set(fields).isSuperset(of: Self.structures.union(Self.unwritten)))
    }

    /// One change of one field of the index.
    struct Mutation: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var change: @Sendable (inout VaultIndex) throws -> Void = { _ in }
        /// Of the first section.
        var changeRow: @Sendable (SectionExtent) -> SectionExtent = { $0 }

        init(
            row field: String, _ change: @escaping @Sendable (SectionExtent) -> SectionExtent
        ) {
            testDescription = field
            changeRow = change
        }

        init(
            _ field: String, _ change: @escaping @Sendable (inout VaultIndex) throws -> Void
        ) {
            testDescription = field
            self.change = change
        }
    }

    private static func changed(
        _ version: StoredVersion, variable: Identifier? = nil, number: UInt64? = nil,
        id: Identifier? = nil, batch: Identifier? = nil, length: UInt32? = nil,
        checksum: Checksum? = nil, createdAt: UInt64? = nil
    ) -> StoredVersion {
        StoredVersion(
            variable: variable ?? version.variable, version: number ?? version.version,
            id: id ?? version.id, batch: batch ?? version.batch, offset: version.offset,
            length: length ?? version.length, checksum: checksum ?? version.checksum,
            createdAt: createdAt ?? version.createdAt, formerName: version.formerName)
    }

    private static func changed(
        _ entry: JournalEntry, id: Identifier? = nil, kind: UInt8? = nil,
        createdAt: UInt64? = nil, payload: [UInt8]? = nil
    ) -> JournalEntry {
        JournalEntry(
            id: id ?? entry.id, kind: kind ?? entry.kind, createdAt: createdAt ?? entry.createdAt,
            payload: payload ?? entry.payload, section: entry.section)
    }

    private static func changed(
        _ project: VaultProject, id: Identifier? = nil, createdAt: UInt64? = nil
    ) -> VaultProject {
        var other = VaultProject(
            id: id ?? project.id, name: project.name, createdAt: createdAt ?? project.createdAt)
        other.binding = project.binding
        return other
    }

    private static func changed(
        _ old: Variable, id: Identifier? = nil, createdAt: UInt64? = nil
    ) -> Variable {
        var other = Variable(
            id: id ?? old.id, project: old.project, name: old.name, attributes: old.attributes,
            createdAt: createdAt ?? old.createdAt)
        (other.updatedAt, other.deletedAt) = (old.updatedAt, old.deletedAt)
        (other.currentVersion, other.highestVersion) = (old.currentVersion, old.highestVersion)
        (other.rotationSeconds, other.remote) = (old.rotationSeconds, old.remote)
        return other
    }

    /// Changes the first of the earlier versions.
    private static func changeVersion(
        _ index: inout VaultIndex, _ change: (StoredVersion) -> StoredVersion
    ) {
        index.earlierVersions[0] = change(index.earlierVersions[0])
    }

    /// Approves the first directory differently.
    private static func approve(
        _ index: inout VaultIndex, project: String = "prj_1", organisation: String = "",
        vaultProject: Identifier = VectorVault.web
    ) {
        index.metadata.approve(
            .init(
                path: "/srv/a", project: project, organisation: organisation,
                vaultProject: vaultProject))
    }

    static let mutations = [
        ofMetadata, ofProjects, ofSections, ofVariables, ofRemotes, ofAgreements, ofVersions,
        ofOthers,
    ].flatMap { $0 }

    private static let ofMetadata: [Mutation] = [
        Mutation("IndexMetadata.generationTags") { $0.metadata.generationTags = [] },
        Mutation("IndexMetadata.audit") { $0.metadata.audit = nil },
        Mutation("IndexMetadata.approvedDirectories") { index in
            index.metadata.revokeApproval(path: "/srv/b")
        },
        Mutation("IndexMetadata.settings") { $0.metadata.set("schema-other", to: "on") },
        Mutation("GenerationTag.generation") { index in
            let tag = index.metadata.generationTags[0].tag
            index.metadata.generationTags[0] = .init(generation: 1, tag: tag)
        },
        Mutation("GenerationTag.tag") { index in
            let generation = index.metadata.generationTags[0].generation
            index.metadata.generationTags[0] = .init(
                generation: generation, tag: [UInt8](repeating: 9, count: 16))
        },
        Mutation("AuditPosition.sequence") {
            $0.metadata.audit = .init(sequence: 1, tag: [UInt8](repeating: 4, count: 16))
        },
        Mutation("AuditPosition.tag") {
            $0.metadata.audit = .init(
                sequence: VectorVault.auditSequence, tag: [UInt8](repeating: 9, count: 16))
        },
        Mutation("ApprovedDirectory.path") { index in
            index.metadata.revokeApproval(path: "/srv/b")
            index.metadata.approve(
                .init(
                    path: "/srv/c", project: "prj_1", organisation: "team_1",
                    vaultProject: VectorVault.web))
        },
        Mutation("ApprovedDirectory.project") { approve(&$0, project: "other") },
        Mutation("ApprovedDirectory.organisation") { approve(&$0, organisation: "other") },
        Mutation("ApprovedDirectory.vaultProject") {
            approve(&$0, vaultProject: VectorVault.api)
        },
        Mutation("VaultSetting.name") { index in
            index.metadata.set("schema-check", to: nil)
            index.metadata.set("schema-other", to: "on")
        },
        Mutation("VaultSetting.value") { $0.metadata.set("schema-check", to: "off") },
    ]

    private static let ofProjects: [Mutation] = [
        Mutation("VaultIndex.projects") { $0.projects.removeLast() },
        Mutation("VaultProject.id") { $0.projects[0] = changed($0.projects[0], id: .random()) },
        Mutation("VaultProject.name") { $0.projects[0].name = "x" },
        Mutation("VaultProject.createdAt") {
            $0.projects[0] = changed($0.projects[0], createdAt: 1)
        },
        Mutation("VaultProject.binding") { $0.projects[0].binding = nil },
        Mutation("Binding.origin") { $0.projects[0].binding?.origin = "x" },
        Mutation("Binding.accountID") { $0.projects[0].binding?.accountID = "x" },
        Mutation("Binding.teamID") { $0.projects[0].binding?.teamID = nil },
        Mutation("Binding.teamSlug") { $0.projects[0].binding?.teamSlug = "x" },
        Mutation("Binding.projectID") { $0.projects[0].binding?.projectID = "x" },
        Mutation("Binding.projectName") { $0.projects[0].binding?.projectName = "x" },
    ]

    private static let ofSections: [Mutation] = [
        Mutation("VaultIndex.sections") { index in
            index.variables.removeAll { $0.project == VectorVault.api }
            index.currentVersions[VectorVault.records[2]] = nil
        },
        Mutation(row: "SectionExtent.id") { changed($0, id: .random()) },
        Mutation(row: "SectionExtent.sealedByteCount") {
            changed($0, sealed: $0.sealedByteCount + 4_096)
        },
        Mutation(row: "SectionExtent.chunksByteCount") {
            changed($0, chunks: $0.chunksByteCount + 1)
        },
        Mutation(row: "SectionExtent.checksum") {
            changed($0, checksum: Checksum([UInt8](repeating: 9, count: 32)))
        },
    ]

    private static func changed(
        _ row: SectionExtent, id: Identifier? = nil, sealed: UInt64? = nil, chunks: UInt64? = nil,
        checksum: Checksum? = nil
    ) -> SectionExtent {
        SectionExtent(
            id: id ?? row.id, offset: row.offset, sealedByteCount: sealed ?? row.sealedByteCount,
            chunksByteCount: chunks ?? row.chunksByteCount, checksum: checksum ?? row.checksum)
    }

    private static let ofVariables: [Mutation] = [
        Mutation("VaultIndex.variables") { $0.variables.removeLast() },
        Mutation("Variable.id") { $0.variables[0] = changed($0.variables[0], id: .random()) },
        Mutation("Variable.project") { $0.variables[0].project = VectorVault.api },
        Mutation("Variable.name") { $0.variables[0].name = "x" },
        Mutation("Variable.createdAt") {
            $0.variables[0] = changed($0.variables[0], createdAt: 1)
        },
        Mutation("Variable.updatedAt") { $0.variables[0].updatedAt = 1 },
        Mutation("Variable.deletedAt") { $0.variables[0].deletedAt = 1 },
        Mutation("Variable.currentVersion") { $0.variables[0].currentVersion = 3 },
        Mutation("Variable.highestVersion") { $0.variables[0].highestVersion = 9 },
        Mutation("Variable.rotationSeconds") { $0.variables[0].rotationSeconds = 1 },
        Mutation("VariableAttributes.kind") { $0.variables[0].attributes.kind = .plain },
        Mutation("VariableAttributes.comment") { $0.variables[0].attributes.comment = "x" },
        Mutation("Scope.targets") { $0.variables[0].attributes.scope.targets = .all },
        Mutation("Scope.customEnvironments") {
            $0.variables[0].attributes.scope = Scope(
                targets: .preview, customEnvironments: ["x"], branch: "main")
        },
        Mutation("Scope.branch") { $0.variables[0].attributes.scope.branch = "x" },
    ]

    private static let ofRemotes: [Mutation] = [
        Mutation("RemoteState.id") { $0.variables[0].remote?.id = "x" },
        Mutation("RemoteState.key") { $0.variables[0].remote?.key = "x" },
        Mutation("RemoteState.account") { $0.variables[0].remote?.account = "x" },
        Mutation("RemoteState.pushedVersion") { $0.variables[0].remote?.pushedVersion = 4 },
        Mutation("RemoteState.agreed") { $0.variables[0].remote?.agreed.kind = .plain },
        Mutation("RemoteState.agreedUpdatedAt") { $0.variables[0].remote?.agreedUpdatedAt = 1 },
        Mutation("RemoteState.seenUpdatedAt") { $0.variables[0].remote?.seenUpdatedAt = 1 },
        Mutation("RemoteState.isGone") { $0.variables[0].remote?.isGone = true },
        Mutation("RemoteState.pushedAt") { $0.variables[0].remote?.pushedAt = 1 },
        Mutation("RemoteState.earlier") { $0.variables[0].remote?.earlier = nil },
        Mutation("EarlierValue.version") { index in
            index.variables[0].remote?.earlier = .init(
                version: 2, from: VectorVault.earlierTime, until: 1_700_000_000_600)
        },
        Mutation("EarlierValue.from") { index in
            index.variables[0].remote?.earlier = .init(
                version: 1, from: 1, until: 1_700_000_000_600)
        },
        Mutation("EarlierValue.until") { index in
            index.variables[0].remote?.earlier = .init(
                version: 1, from: VectorVault.earlierTime, until: 1)
        },
    ]

    /// Changes the agreement that belongs to no variable.
    private static func agreement(
        _ field: String, _ change: @escaping @Sendable (inout Agreement) -> Void
    ) -> Mutation {
        Mutation("Agreement.\(field)") { index in
            if var agreement = index.otherAgreements[VectorVault.web]?.first {
                change(&agreement)
                index.otherAgreements[VectorVault.web] = [agreement]
            }
        }
    }

    private static let ofAgreements: [Mutation] = [
        Mutation("VaultIndex.otherAgreements") { $0.otherAgreements = [:] },
        agreement("key") { $0.key = "x" },
        agreement("scope") { $0.scope = Scope(targets: .development) },
        agreement("record") { $0.record = "x" },
        agreement("account") { $0.account = "x" },
        agreement("variable") { $0.variable = VectorVault.records[1] },
        agreement("version") { $0.version = 4 },
        agreement("kind") { $0.kind = .sensitive },
        agreement("comment") { $0.comment = "x" },
        agreement("changedAt") { $0.changedAt = 1 },
        agreement("awaitedAt") { $0.awaitedAt = 1 },
        agreement("pushedAt") { $0.pushedAt = 1 },
        agreement("endedAt") { $0.endedAt = 1 },
        agreement("earlier") { $0.earlier = .init(version: 1, from: 1, until: 2) },
    ]

    private static let ofVersions: [Mutation] = [
        Mutation("VaultIndex.currentVersions") { $0.currentVersions = [:] },
        Mutation("VaultIndex.earlierVersions") { $0.earlierVersions.removeLast() },
        Mutation("StoredVersion.variable") { index in
            changeVersion(&index) { changed($0, variable: VectorVault.records[1]) }
        },
        Mutation("StoredVersion.version") { index in
            changeVersion(&index) { changed($0, number: 2) }
        },
        Mutation("StoredVersion.id") { index in
            changeVersion(&index) { changed($0, id: .random()) }
        },
        Mutation("StoredVersion.batch") { index in
            let batch = index.batches[1].id
            changeVersion(&index) { changed($0, batch: batch) }
        },
        Mutation("StoredVersion.offset") { $0.earlierVersions[0].offset = 9 },
        Mutation("StoredVersion.length") { index in
            changeVersion(&index) { changed($0, length: 9) }
        },
        Mutation("StoredVersion.checksum") { index in
            let checksum = Checksum([UInt8](repeating: 9, count: 32))
            changeVersion(&index) { changed($0, checksum: checksum) }
        },
        Mutation("StoredVersion.createdAt") { index in
            changeVersion(&index) { changed($0, createdAt: 1) }
        },
        Mutation("StoredVersion.formerName") { $0.earlierVersions[0].formerName = nil },
        Mutation("VaultIndex.batches") { $0.batches.removeLast() },
        Mutation("Batch.id") { index in
            index.batches[0] = Batch(id: .random(), wrapped: index.batches[0].wrapped)
        },
        Mutation("Batch.wrapped") { index in
            index.batches[0] = Batch(
                id: index.batches[0].id, wrapped: [UInt8](repeating: 9, count: 72))
        },
    ]

    private static let ofOthers: [Mutation] = [
        Mutation("VaultIndex.journal") { $0.journal.removeLast() },
        Mutation("JournalEntry.id") { $0.journal[0] = changed($0.journal[0], id: .random()) },
        Mutation("JournalEntry.kind") { $0.journal[0] = changed($0.journal[0], kind: 9) },
        Mutation("JournalEntry.createdAt") {
            $0.journal[0] = changed($0.journal[0], createdAt: 9)
        },
        Mutation("JournalEntry.section") { index in
            let entry = index.journal[0]
            index.journal[0] = JournalEntry(
                id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: entry.payload,
                section: VectorVault.web)
        },
        Mutation("JournalEntry.payload") {
            $0.journal[0] = changed($0.journal[0], payload: [9])
        },
        Mutation("VaultIndex.secretJournal") { $0.secretJournal = [] },
        Mutation("SecretJournalEntry.id") { index in
            index.secretJournal[0] = SecretJournalEntry(
                id: .random(), createdAt: index.secretJournal[0].createdAt,
                payload: index.secretJournal[0].payload)
        },
        Mutation("SecretJournalEntry.createdAt") { index in
            index.secretJournal[0] = SecretJournalEntry(
                id: index.secretJournal[0].id, createdAt: 9,
                payload: index.secretJournal[0].payload)
        },
        Mutation("SecretJournalEntry.payload") { index in
            index.secretJournal[0] = SecretJournalEntry(
                id: index.secretJournal[0].id, createdAt: index.secretJournal[0].createdAt,
                payload: try VectorVault.secretSlice(9, 9))
        },
        Mutation("VaultIndex.accounts") { $0.accounts.removeLast() },
        Mutation("Account.name") { $0.accounts[0].name = "x" },
        Mutation("Account.origin") { $0.accounts[0].origin = "x" },
        Mutation("Account.userID") { $0.accounts[0].userID = "x" },
        Mutation("Account.username") { $0.accounts[0].username = "x" },
        Mutation("Account.teamID") { $0.accounts[0].teamID = "x" },
        Mutation("Account.teamSlug") { $0.accounts[0].teamSlug = "x" },
        Mutation("Account.isDefault") { $0.accounts[0].isDefault.toggle() },
        Mutation("Account.createdAt") { $0.accounts[0].createdAt = 1 },
        Mutation("Account.expiresAt") { $0.accounts[0].expiresAt = 1 },
        Mutation("Account.protection") {
            $0.accounts[0].protection = $0.accounts[0].protection == .index ? .values : .index
        },
        Mutation("Account.secret") { $0.accounts[0].secret = try VectorVault.secretSlice(4, 4) },
        Mutation("VaultIndex.formerLogKeys") { $0.formerLogKeys = [] },
    ]

    @Test(arguments: mutations)
    func `a field changed with the index key alone is refused by every reader`(
        mutation: Mutation
    ) throws {
        let made = try Self.vault()
        let bytes = try made.file()
        let vault = try Vault(path: "memory", file: MemoryFile(bytes))
        let keys = try made.keys()
        let locked = try keys.indexTier()
        for proof in [IndexKeyWriter.Proof.kept, .own] {
            let forged = try IndexKeyWriter.file(
                of: vault, keys: locked,
                changing: { index in
                    try mutation.change(&index)
                }, rows: { $0[0] = mutation.changeRow($0[0]) }, proof: proof)
            #expect(forged != bytes)
            // Nothing of the header changes but the length of the file, which is before the id, and the
            // checksum: it is the content that the proof covers.
            let header = 24..<vault.header.byteCount - VaultFormat.checksumByteCount
            #expect(forged[header] == bytes[header])
            for reader in [keys, locked] {
                for extent in [VaultIndex.Extent.listing, .currentValues, .everything] {
                    let found = kindOfDamage {
                        _ = try Vault(path: "memory", file: MemoryFile(forged))
                            .index(with: reader, extent: extent)
                    }
                    #expect(found == .signature)
                }
            }
        }
        // The writer changes nothing else.
        for reader in [keys, locked] {
            #expect(try vault.inspection(with: reader).problems.isEmpty)
        }
    }
}
