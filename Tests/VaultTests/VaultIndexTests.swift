import Sealing
import Testing

@testable import Vault

@Suite("The index")
struct VaultIndexTests {
    /// One of the two texts of an index.
    enum Text: CaseIterable {
        case table, section

        /// The padded encoding.
        func bytes(of index: VaultIndex) throws -> [UInt8] {
            switch self {
            case .table: return try index.encodedTable().withBytes { $0.array }
            case .section:
                let id = index.variables[0].project
                var content = try #require(try SectionContent.all(of: index)[id])
                _ = content.pack(index)
                return try content.encoded(index, batches: [:]).bytes
            }
        }

        func decode(_ bytes: [UInt8]) throws -> VaultIndex {
            switch self {
            case .table:
                let slice = try bytes.withBytes { try SecretArena().copy($0) }
                return try VaultIndex.decode(table: slice, extent: .everything, blocksByteCount: 0)
            case .section:
                let place = SectionExtent(
                    id: VectorVault.web, offset: 0, sealedByteCount: UInt64(bytes.count + 40),
                    chunksByteCount: 0, checksum: Checksum([UInt8](repeating: 0, count: 32)))
                let section = try bytes.withBytes {
                    try IndexSection.decode($0, of: place, extent: .everything)
                }
                try section.check(in: place, isProject: true)
                var index = VaultIndex(extent: .everything)
                index.add(section, place.id)
                return index
            }
        }
    }

    @Test func `encoding, decoding and encoding again yields the same bytes`() throws {
        let index = try Self.sample()
        for text in Text.allCases {
            let first = try text.bytes(of: index)
            #expect(try text.bytes(of: try text.decode(first)) == first)
            #expect(first.count % 4096 == 0)
        }
        let table = try Text.table.decode(try Text.table.bytes(of: index))
        #expect(table.projects == index.projects.sorted { $0.id < $1.id })
        #expect(table.accounts.map(\.name) == ["team", "work"])
        #expect(table.journal == [index.journal[0]])
        #expect(table.metadata == index.metadata)
        let section = try Text.section.decode(try Text.section.bytes(of: index))
        #expect(section.variables == index.variables.sorted { $0.id < $1.id })
        #expect(section.journal == [index.journal[1]])
    }

    @Test(arguments: Text.allCases)
    func `every accepted change of a byte encodes to itself`(text: Text) throws {
        let good = try text.bytes(of: try Self.sample())
        let used = Int(good[0]) | Int(good[1]) << 8 | Int(good[2]) << 16
        for offset in 0..<(used + 8) {
            var bytes = good
            bytes[offset] ^= 1 << UInt8(offset % 8)
            guard let decoded = try? text.decode(bytes) else { continue }
            #expect(try text.bytes(of: decoded) == bytes, "byte \(offset)")
        }
    }

    @Test(arguments: Text.allCases)
    func `every truncation is refused`(text: Text) throws {
        let good = try text.bytes(of: try Self.sample())
        for length in stride(from: 0, to: good.count, by: 7) {
            #expect(code { _ = try text.decode(Array(good[..<length])) } == .damaged)
        }
    }

    static func sample() throws -> VaultIndex {
        var index = VaultIndex(extent: .everything)
        var web = VaultProject(id: VectorVault.web, name: "web", createdAt: 1)
        web.binding = .init(
            origin: "https://api.vercel.com", accountID: "u", teamID: "team_1", teamSlug: "t",
            projectID: "prj_1", projectName: "web")
        index.projects = [web, VaultProject(name: "api", createdAt: 2)]
        let scope = Scope(targets: .preview, customEnvironments: ["b", "a"], branch: "main")
        var variable = Variable(
            project: web.id, name: "KEY",
            attributes: .init(kind: .sensitive, scope: scope, comment: "note"), createdAt: 3)
        variable.remote = RemoteState(
            id: "env", key: "KEY", account: "u", pushedVersion: 0, agreed: variable.attributes,
            updatedAt: 7,
            pushedAt: 8)
        variable.remote?.earlier = .init(version: 1, from: 5, until: 7)
        index.variables = [
            variable,
            Variable(
                project: web.id, name: "OTHER",
                attributes: .init(kind: .plain, scope: Scope(targets: .all)), createdAt: 4),
        ]
        index.variables[1].deletedAt = 9
        let arena = SecretArena()
        for name in ["work", "team"] {
            let token = try Array("token of \(name)".utf8).withBytes { try arena.copy($0) }
            index.accounts.append(
                Account(
                    name: name, origin: "https://api.vercel.com", userID: "u", username: name,
                    isDefault: name == "work", createdAt: 1, secret: token))
        }
        index.journal = [nil, web.id].map { section in
            JournalEntry(
                id: .random(), kind: 200, createdAt: 2, payload: [1, 2, 3], section: section)
        }
        index.metadata.generationTags = [
            .init(generation: 4, tag: [UInt8](repeating: 1, count: 16))
        ]
        index.metadata.audit = .init(sequence: 6, tag: [UInt8](repeating: 2, count: 16))
        index.metadata.approve(
            .init(path: "/b", project: "prj", organisation: "org", vaultProject: web.id))
        index.metadata.approve(
            .init(path: "/a", project: "prj", organisation: "", vaultProject: web.id))
        return index
    }
}
