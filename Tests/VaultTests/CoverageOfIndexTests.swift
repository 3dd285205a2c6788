import Foundation
import Sealing
import Testing

@testable import Vault

/// Each field of the index is in the checkpoint, or on the page's list of exceptions.
@Suite("Index fields covered by the checkpoint")
struct CoverageOfIndexTests {
    /// How the checkpoint treats one field.
    enum Place: Sendable {
        /// In an entry, or decides whether there is one; the object whose entry the test changes.
        case covered
        /// The row of the page's list that names it, and its words there.
        case leftOut(String, String)
        /// A structure whose fields are in this table.
        case parts
        /// The identity of an entry: with another one there is no such object.
        case name
    }

    /// Every stored property of every type in an index.
    static let table: [String: [String: Place]] = [
        "VaultIndex": [
            "extent": .name, "metadata": .parts, "projects": .parts, "variables": .parts,
            "currentVersions": .parts, "earlierVersions": .parts, "batches": .parts,
            "journal": .parts, "secretJournal": .parts, "accounts": .parts,
            "formerLogKeys": .leftOut("generations", "former log keys"), "checkpoint": .name,
        ],
        "IndexMetadata": [
            "generationTags": .leftOut("generations", "generations"),
            "audit": .leftOut("generations", "audit log"),
            "approvedDirectories": .parts, "lockedWrites": .leftOut("generations", "locked writes"),
            "settings": .parts,
        ],
        "ApprovedDirectory": [
            "path": .name, "project": .covered, "organisation": .covered, "vaultProject": .covered,
        ],
        "VaultSetting": ["name": .name, "value": .covered],
        "VaultProject": [
            "id": .name, "name": .covered, "createdAt": .leftOut("of a project", "made at"),
            "binding": .parts, "live": .leftOut("of a project", "live"),
            "seenAt": .leftOut("of a project", "seen at"),
        ],
        "Binding": [
            "origin": .covered, "accountID": .covered, "teamID": .covered, "teamSlug": .covered,
            "projectID": .covered, "projectName": .covered,
        ],
        "Variable": [
            "id": .name, "project": .covered, "name": .covered, "attributes": .parts,
            "createdAt": .leftOut("of a record", "made at"),
            "updatedAt": .leftOut("of a record", "changed at"),
            // Whether it is removed is covered; when is not.
            "deletedAt": .covered, "currentVersion": .covered, "highestVersion": .covered,
            "rotationSeconds": .covered, "kept": .parts,
        ],
        "VariableAttributes": [
            "kind": .covered, "scope": .parts, "comment": .leftOut("of a record", "comment"),
        ],
        "Scope": ["targets": .covered, "customEnvironments": .covered, "branch": .covered],
        "RemoteState": [
            "id": .covered, "key": .leftOut("of a remote", "key"), "account": .covered,
            "pushedVersion": .leftOut("of a remote", "pushed version"),
            "agreed": .leftOut("of a remote", "agreed"),
            "agreedUpdatedAt": .leftOut("of a remote", "agreed at"),
            "seenUpdatedAt": .leftOut("of a remote", "seen at"),
            "isGone": .leftOut("of a remote", "is gone"),
            "pushedAt": .leftOut("of a remote", "pushed at"),
            "earlier": .leftOut("of a remote", "earlier"),
        ],
        "StoredVersion": [
            "variable": .name, "version": .covered, "id": .covered, "batch": .covered,
            "offset": .leftOut("of a version", "offset"),
            "length": .leftOut("of a version", "length"),
            "checksum": .leftOut("of a version", "checksum"), "createdAt": .covered,
            "sealedName": .leftOut("of a version", "sealed name"),
        ],
        "Batch": [
            "id": .leftOut("batches", "batches"), "wrapping": .leftOut("batches", "batches"),
            "wrapped": .leftOut("batches", "batches"),
        ],
        "JournalEntry": [
            "id": .name, "kind": .covered, "createdAt": .covered, "payload": .covered,
        ],
        "SecretJournalEntry": ["id": .name, "createdAt": .covered, "payload": .covered],
        "Account": [
            "name": .name, "origin": .covered, "userID": .covered, "username": .covered,
            "teamID": .covered, "teamSlug": .covered, "isDefault": .covered,
            "createdAt": .leftOut("of an account", "made at"),
            "expiresAt": .leftOut("of an account", "ends at"), "protection": .covered,
            "secret": .covered,
        ],
    ]

    /// A sample of each type with fields, with every optional member set.
    private static func samples() throws -> [Any] {
        let rich = try VectorVault.rich().index
        let project = try #require(rich.projects.first { $0.binding != nil })
        let variable = try #require(rich.variables.first { $0.remote != nil })
        let version = try #require(rich.earlierVersions.first { $0.sealedName != nil })
        let relay = try VectorVault.relay(1)
        return [
            rich, rich.metadata, rich.metadata.approvedDirectories[0],
            rich.metadata.settings[0], project,
            try #require(project.binding), variable, variable.attributes,
            variable.attributes.scope, try #require(variable.remote), version, rich.batches[0],
            rich.journal[0], relay, rich.accounts[0],
        ]
    }

    @Test func `SEC-F1: each field of the index is covered, or on the page's list of exceptions`()
        throws
    {
        let samples = try Self.samples()
        #expect(Set(samples.map { "\(type(of: $0))" }) == Set(Self.table.keys))
        for sample in samples {
            let type = "\(type(of: sample))"
            let fields = Set(Mirror(reflecting: sample).children.compactMap(\.label))
            // A new field must be added to the checkpoint or to the list before this passes.
            #expect(fields == Set(Self.table[type, default: [:]].keys), "\(type)")
        }
    }

    @Test func `the table and the page list the same exceptions`() throws {
        let page = try String(
            contentsOf: Vector.directory.deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("docs/vault-format.md"), encoding: .utf8)
        let rows = page.split(separator: "Not in the checkpoint, and why:", maxSplits: 1)
        let list = try #require(rows.last).split(separator: "\n\n")[0]
            .split(separator: "\n").filter { $0.hasPrefix("| ") }
        for (type, fields) in Self.table {
            for case (let field, .leftOut(let row, let words)) in fields {
                let found = list.first { $0.hasPrefix("| \(row)") }
                let cell = found?.split(separator: "|").first.map(String.init) ?? ""
                #expect(cell.contains(words), "\(type).\(field)")
            }
        }
        // The reverse: the page lists only what the table leaves out.
        let named = Self.table.values.flatMap(\.values).compactMap { place -> String? in
            guard case .leftOut(_, let words) = place else { return nil }
            return words
        }
        for row in list {
            var cell = row.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
            if let colon = cell.firstIndex(of: ":") {
                cell = String(cell[cell.index(after: colon)...])
            }
            let words = cell.split(whereSeparator: { ",;".contains($0) })
                .map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty && !["field", "groups flag", "---"].contains($0) }
            for word in words {
                #expect(
                    named.contains { word == $0 || word == "time of removal" || word == "live" },
                    "\(word)")
            }
        }
    }

    /// One change of one field of the index.
    struct Mutation: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isCovered: Bool
        let change: @Sendable (inout VaultIndex) throws -> Void

        init(
            _ field: String, covered: Bool,
            _ change: @escaping @Sendable (inout VaultIndex) throws -> Void
        ) {
            testDescription = field
            isCovered = covered
            self.change = change
        }
    }

    private static func changed(
        _ version: StoredVersion, number: UInt64? = nil, id: Identifier? = nil,
        batch: Identifier? = nil, length: UInt32? = nil, checksum: StoredVersion.Checksum? = nil,
        createdAt: UInt64? = nil
    ) -> StoredVersion {
        StoredVersion(
            variable: version.variable, version: number ?? version.version, id: id ?? version.id,
            batch: batch ?? version.batch, offset: version.offset,
            length: length ?? version.length, checksum: checksum ?? version.checksum,
            createdAt: createdAt ?? version.createdAt, sealedName: version.sealedName)
    }

    private static func changed(
        _ entry: JournalEntry, kind: UInt8? = nil, createdAt: UInt64? = nil,
        payload: [UInt8]? = nil
    ) -> JournalEntry {
        JournalEntry(
            id: entry.id, kind: kind ?? entry.kind, createdAt: createdAt ?? entry.createdAt,
            payload: payload ?? entry.payload)
    }

    static let mutations: [Mutation] = [
        Mutation("ApprovedDirectory.project", covered: true) { index in
            index.metadata.approve(
                .init(
                    path: "/srv/a", project: "other", organisation: "",
                    vaultProject: VectorVault.web))
        },
        Mutation("ApprovedDirectory.organisation", covered: true) { index in
            index.metadata.approve(
                .init(
                    path: "/srv/a", project: "prj_1", organisation: "other",
                    vaultProject: VectorVault.web))
        },
        Mutation("ApprovedDirectory.vaultProject", covered: true) { index in
            index.metadata.approve(
                .init(
                    path: "/srv/a", project: "prj_1", organisation: "",
                    vaultProject: VectorVault.api))
        },
        Mutation("VaultSetting.value", covered: true) { index in
            index.metadata.set("schema-check", to: "off")
        },
        Mutation("VaultProject.name", covered: true) { $0.projects[0].name = "x" },
        Mutation("VaultProject.live", covered: false) { $0.projects[0].live = nil },
        Mutation("VaultProject.seenAt", covered: false) { $0.projects[0].seenAt = 1 },
        Mutation("VaultProject.createdAt", covered: false) { index in
            var other = VaultProject(
                id: index.projects[0].id, name: index.projects[0].name, createdAt: 1)
            other.binding = index.projects[0].binding
            index.projects[0] = other
        },
        Mutation("Binding.origin", covered: true) { $0.projects[0].binding?.origin = "x" },
        Mutation("Binding.accountID", covered: true) { $0.projects[0].binding?.accountID = "x" },
        Mutation("Binding.teamID", covered: true) { $0.projects[0].binding?.teamID = nil },
        Mutation("Binding.teamSlug", covered: true) { $0.projects[0].binding?.teamSlug = "x" },
        Mutation("Binding.projectID", covered: true) { $0.projects[0].binding?.projectID = "x" },
        Mutation("Binding.projectName", covered: true) {
            $0.projects[0].binding?.projectName = "x"
        },
        Mutation("Variable.project", covered: true) { $0.variables[0].project = VectorVault.api },
        Mutation("Variable.name", covered: true) { $0.variables[0].name = "x" },
        Mutation("Variable.updatedAt", covered: false) { $0.variables[0].updatedAt = 1 },
        Mutation("Variable.createdAt", covered: false) { index in
            let old = index.variables[0]
            var other = Variable(
                id: old.id, project: old.project, name: old.name, attributes: old.attributes,
                createdAt: 1)
            (other.updatedAt, other.deletedAt) = (old.updatedAt, old.deletedAt)
            (other.currentVersion, other.highestVersion) = (old.currentVersion, old.highestVersion)
            (other.rotationSeconds, other.remote) = (old.rotationSeconds, old.remote)
            index.variables[0] = other
        },
        Mutation("Variable.deletedAt", covered: true) { $0.variables[0].deletedAt = 1 },
        Mutation("Variable.currentVersion", covered: true) { $0.variables[0].currentVersion = 3 },
        Mutation("Variable.highestVersion", covered: true) { $0.variables[0].highestVersion = 2 },
        Mutation("Variable.rotationSeconds", covered: true) { $0.variables[0].rotationSeconds = 1 },
        Mutation("VariableAttributes.kind", covered: true) {
            $0.variables[0].attributes.kind = .plain
        },
        Mutation("VariableAttributes.comment", covered: false) {
            $0.variables[0].attributes.comment = "x"
        },
        Mutation("Scope.targets", covered: true) {
            $0.variables[0].attributes.scope.targets = .all
        },
        Mutation("Scope.customEnvironments", covered: true) {
            $0.variables[0].attributes.scope = Scope(
                targets: .preview, customEnvironments: ["x"], branch: "main")
        },
        Mutation("Scope.branch", covered: true) { $0.variables[0].attributes.scope.branch = "x" },
        Mutation("RemoteState.id", covered: true) { $0.variables[0].remote?.id = "x" },
        Mutation("RemoteState.account", covered: true) { $0.variables[0].remote?.account = "x" },
        Mutation("RemoteState.key", covered: false) { $0.variables[0].remote?.key = "x" },
        Mutation("RemoteState.pushedVersion", covered: false) {
            $0.variables[0].remote?.pushedVersion = 4
        },
        Mutation("RemoteState.agreed", covered: false) {
            $0.variables[0].remote?.agreed.kind = .plain
        },
        Mutation("RemoteState.agreedUpdatedAt", covered: false) {
            $0.variables[0].remote?.agreedUpdatedAt = 1
        },
        Mutation("RemoteState.seenUpdatedAt", covered: false) {
            $0.variables[0].remote?.seenUpdatedAt = 1
        },
        Mutation("RemoteState.isGone", covered: false) { $0.variables[0].remote?.isGone = true },
        Mutation("RemoteState.pushedAt", covered: false) { $0.variables[0].remote?.pushedAt = 1 },
        Mutation("RemoteState.earlier", covered: false) {
            $0.variables[0].remote?.earlier = .init(version: 1, from: 1, until: 9)
        },
        Mutation("StoredVersion.version", covered: true) {
            $0.earlierVersions[0] = changed($0.earlierVersions[0], number: 2)
        },
        Mutation("StoredVersion.id", covered: true) {
            $0.earlierVersions[0] = changed($0.earlierVersions[0], id: .random())
        },
        Mutation("StoredVersion.batch", covered: true) {
            $0.earlierVersions[0] = changed($0.earlierVersions[0], batch: $0.batches[1].id)
        },
        Mutation("StoredVersion.createdAt", covered: true) {
            $0.earlierVersions[0] = changed($0.earlierVersions[0], createdAt: 1)
        },
        Mutation("StoredVersion.offset", covered: false) { $0.earlierVersions[0].offset = 9 },
        Mutation("StoredVersion.length", covered: false) {
            $0.earlierVersions[0] = changed($0.earlierVersions[0], length: 9)
        },
        Mutation("StoredVersion.checksum", covered: false) {
            $0.earlierVersions[0] = changed(
                $0.earlierVersions[0], checksum: .init([UInt8](repeating: 9, count: 32)))
        },
        Mutation("StoredVersion.sealedName", covered: false) {
            $0.earlierVersions[0].sealedName = nil
        },
        Mutation("Batch.id", covered: false) {
            $0.batches[0] = Batch(
                id: .random(), wrapping: $0.batches[0].wrapping, wrapped: $0.batches[0].wrapped)
        },
        Mutation("Batch.wrapping", covered: false) { $0.batches[0].wrapping = .sealed },
        Mutation("Batch.wrapped", covered: false) { $0.batches[0].wrapped[0] ^= 1 },
        Mutation("JournalEntry.kind", covered: true) {
            $0.journal[0] = changed($0.journal[0], kind: 9)
        },
        Mutation("JournalEntry.createdAt", covered: true) {
            $0.journal[0] = changed($0.journal[0], createdAt: 9)
        },
        Mutation("JournalEntry.payload", covered: true) {
            $0.journal[0] = changed($0.journal[0], payload: [9])
        },
        Mutation("SecretJournalEntry.createdAt", covered: true) {
            $0.secretJournal[0] = SecretJournalEntry(
                id: $0.secretJournal[0].id, createdAt: 9, payload: $0.secretJournal[0].payload)
        },
        Mutation("SecretJournalEntry.payload", covered: true) {
            $0.secretJournal[0] = SecretJournalEntry(
                id: $0.secretJournal[0].id, createdAt: $0.secretJournal[0].createdAt,
                payload: try VectorVault.secretSlice(9, 9))
        },
        Mutation("Account.origin", covered: true) { $0.accounts[0].origin = "x" },
        Mutation("Account.userID", covered: true) { $0.accounts[0].userID = "x" },
        Mutation("Account.username", covered: true) { $0.accounts[0].username = "x" },
        Mutation("Account.teamID", covered: true) { $0.accounts[0].teamID = "x" },
        Mutation("Account.teamSlug", covered: true) { $0.accounts[0].teamSlug = "x" },
        Mutation("Account.isDefault", covered: true) { $0.accounts[0].isDefault.toggle() },
        Mutation("Account.createdAt", covered: false) { $0.accounts[0].createdAt = 1 },
        Mutation("Account.expiresAt", covered: false) { $0.accounts[0].expiresAt = 1 },
        Mutation("Account.protection", covered: true) { $0.accounts[0].protection = .values },
        Mutation("Account.secret", covered: true) {
            $0.accounts[0].secret = try VectorVault.secretSlice(4, 4)
        },
        Mutation("VaultIndex.formerLogKeys", covered: false) { $0.formerLogKeys = [] },
        Mutation("IndexMetadata.generationTags", covered: false) {
            $0.metadata.generationTags = []
        },
        Mutation("IndexMetadata.audit", covered: false) { $0.metadata.audit = nil },
        Mutation("IndexMetadata.lockedWrites", covered: false) { $0.metadata.lockedWrites = [] },
    ]

    @Test func `every covered or excluded field has a change`() {
        let wanted = Self.table.flatMap { type, fields in
            fields.compactMap { field, place -> String? in
                switch place {
                case .covered, .leftOut: "\(type).\(field)"
                case .parts, .name: nil
                }
            }
        }
        #expect(Set(wanted) == Set(Self.mutations.map(\.testDescription)))
    }

    @Test(arguments: mutations)
    func `a change to a covered field is a difference, to any other field it is not`(
        mutation: Mutation
    ) throws {
        var vault = try VectorVault.rich()
        vault.index.secretJournal = [try VectorVault.relay(1)]
        var index = vault.index
        index.checkpoint = Checkpoint(
            generation: 1, nonce: [UInt8](repeating: 0, count: 24),
            tag: [UInt8](repeating: 0, count: 16), entries: vault.entries(listsSealed: true))
        #expect(CheckpointComparison(of: index).isEmpty)
        try mutation.change(&index)
        #expect(CheckpointComparison(of: index).isEmpty == !mutation.isCovered)
    }
}
