import Sealing
import Testing

@testable import Vault

@Suite("The index")
struct VaultIndexTests {
    @Test func `encoding, decoding and encoding again yields the same bytes`() throws {
        let index = try Self.sample()
        let first = try Self.bytes(of: index)
        let decoded = try Self.decode(first)
        #expect(try Self.bytes(of: decoded) == first)
        #expect(decoded.projects == index.projects.sorted { $0.id < $1.id })
        #expect(decoded.variables == index.variables.sorted { $0.id < $1.id })
        #expect(decoded.accounts.map(\.name) == ["team", "work"])
        #expect(decoded.journal == index.journal)
        #expect(decoded.metadata == index.metadata)
        #expect(first.count % 4096 == 0)
    }

    @Test func `every accepted change of a byte encodes to itself`() throws {
        let good = try Self.bytes(of: try Self.sample())
        let used = Int(good[0]) | Int(good[1]) << 8 | Int(good[2]) << 16
        for offset in 0..<(used + 8) {
            var bytes = good
            bytes[offset] ^= 1 << UInt8(offset % 8)
            guard let decoded = try? Self.decode(bytes) else { continue }
            #expect(try Self.bytes(of: decoded) == bytes, "byte \(offset)")
        }
    }

    @Test func `every truncation is refused`() throws {
        let good = try Self.bytes(of: try Self.sample())
        for length in stride(from: 0, to: good.count, by: 7) {
            #expect(code { _ = try Self.decode(Array(good[..<length])) } == .damaged)
        }
    }

    static func sample() throws -> VaultIndex {
        var index = VaultIndex(extent: .everything)
        var web = VaultProject(name: "web", createdAt: 1)
        web.binding = .init(
            origin: "https://api.vercel.com", accountID: "u", teamID: "team_1", teamSlug: "t",
            projectID: "prj_1", projectName: "web")
        web.live = .init(id: "dpl_1", createdAt: 5)
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
        index.journal = [JournalEntry(id: .random(), kind: 200, createdAt: 2, payload: [1, 2, 3])]
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

    private static func bytes(of index: VaultIndex) throws -> [UInt8] {
        try index.encoded().withBytes { bytes in
            (0..<bytes.byteCount).map { bytes.byte(at: $0) }
        }
    }

    private static func decode(_ bytes: [UInt8]) throws -> VaultIndex {
        let slice = try bytes.withBytes { try SecretArena().copy($0) }
        return try VaultIndex.decode(slice, extent: .everything, chunksByteCount: 0)
    }
}
