import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Agreements")
struct AgreementTests {
    private static let project = VectorVault.web

    /// An index with these variables, written to a section and read again.
    private static func readAgain(_ index: VaultIndex) throws -> (VaultIndex, bytes: [UInt8]) {
        var content = try #require(try SectionContent.all(of: index)[project])
        _ = content.pack(index)
        let bytes = try content.encoded(index, batches: [:]).bytes
        return (try read(bytes), bytes)
    }

    private static func read(
        _ bytes: [UInt8], _ extent: VaultIndex.Extent = .everything
    ) throws -> VaultIndex {
        let place = SectionExtent(
            id: project, offset: 0, sealedByteCount: UInt64(bytes.count + 40), chunksByteCount: 0,
            checksum: Checksum([UInt8](repeating: 0, count: 32)))
        let section = try bytes.withBytes {
            try IndexSection.decode($0, of: place, extent: extent)
        }
        if extent == .everything { try section.check(in: place, isProject: true) }
        var index = VaultIndex(extent: extent)
        index.projects = [VaultProject(id: project, name: "web", createdAt: 1)]
        index.add(section, project)
        return index
    }

    private static func index(_ variables: [Variable]) -> VaultIndex {
        var index = VaultIndex(extent: .everything)
        index.projects = [VaultProject(id: project, name: "web", createdAt: 1)]
        index.variables = variables
        return index
    }

    private static func variable(
        _ name: String, _ scope: Scope, remote: Scope? = nil, key: String? = nil
    ) -> Variable {
        var variable = Variable(
            project: project, name: name, attributes: .init(kind: .encrypted, scope: scope),
            createdAt: 3)
        variable.remote = remote.map {
            RemoteState(
                id: "env_\(name)", key: key ?? name, account: "user_1", pushedVersion: 0,
                agreed: .init(kind: .encrypted, scope: $0), updatedAt: 7, pushedAt: 8)
        }
        return variable
    }

    @Test func `any states of variables are read back as written`() throws {
        var random = ProofRandom()
        for _ in 0..<Proof.count(short: 300, full: 20_000) {
            let count = Int.random(in: 1...12, using: &random)
            var index = Self.index((0..<count).map { _ in Self.variable(using: &random) })
            let (read, bytes) = try Self.readAgain(index)
            index.variables.sort { $0.id < $1.id }
            #expect(read.variables == index.variables, "\(random.seedText)")
            #expect(read.otherAgreements.isEmpty, "\(random.seedText)")
            #expect(try Self.readAgain(read).bytes == bytes, "\(random.seedText)")
            #expect(try Self.read(bytes, .listing).variables == index.variables)
            #expect(try Self.read(bytes, .valuesOnly).variables.allSatisfy { $0.remote == nil })
        }
    }

    /// A variable of few names and targets, so that many have the same ones.
    private static func variable(using random: inout ProofRandom) -> Variable {
        let names = ["A", "A_LONGER_NAME_1", "A_LONGER_NAME_2", "É", "E\u{301}", "Z"]
        func scope() -> Scope {
            Scope(
                targets: .init(rawValue: UInt8.random(in: 0...7, using: &random)),
                customEnvironments: ["a", "b"].filter { _ in
                    UInt8.random(in: 0...4, using: &random) == 0
                },
                branch: [nil, nil, "", "main", "É", "E\u{301}"].randomElement(using: &random) ?? nil
            )
        }
        func name() -> String { names.randomElement(using: &random) ?? "A" }
        func time() -> UInt64 { UInt64.random(in: 1...9, using: &random) }
        func comment() -> String? {
            ["note", "É", "E\u{301}", nil].randomElement(using: &random) ?? nil
        }
        func isOnce(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        func attributes() -> VariableAttributes {
            VariableAttributes(
                kind: VariableAttributes.Kind.allCases.randomElement(using: &random) ?? .plain,
                scope: scope(), comment: comment())
        }
        var variable = Variable(
            project: project, name: name(), attributes: attributes(), createdAt: time())
        variable.highestVersion = isOnce(in: 2) ? 0 : time()
        if isOnce(in: 3) { variable.deletedAt = isOnce(in: 2) ? variable.createdAt : time() }
        if isOnce(in: 4) { return variable }
        let isGone = isOnce(in: 3)
        var remote = RemoteState(
            id: isGone && isOnce(in: 2) ? "" : "env_\(time())", key: name(), account: "user",
            pushedVersion: time() - 1, agreed: attributes(),
            updatedAt: isOnce(in: 4) ? 0 : time(), pushedAt: time() - 1)
        // Nothing was seen, something later or, by another clock, earlier.
        if isOnce(in: 2) { remote.seenUpdatedAt = time() }
        if isGone { remote.end(by: time()) }
        if isOnce(in: 3) {
            remote.earlier = .init(version: time() - 1, from: time(), until: time())
        }
        variable.remote = remote
        return variable
    }

    @Test func `removed beside recreated ones, exchanged names and traces stay apart`() throws {
        let (production, all) = (Scope(targets: .production), Scope(targets: .all))
        var removed = Self.variable("KEY", all, remote: all)
        removed.deletedAt = 9
        var ended = Self.variable("KEY", production, remote: production)
        ended.deletedAt = 9
        ended.remote?.end(by: 12)
        var trace = Self.variable("TRACE", production, remote: production)
        trace.deletedAt = trace.createdAt
        trace.remote?.id = ""
        trace.remote?.end(by: 11)
        let variables = [
            removed, ended, trace, Self.variable("KEY", production, remote: production),
            Self.variable("ONE", all, remote: all, key: "OTHER"),
            Self.variable("OTHER", all, remote: all, key: "ONE"),
            Self.variable("NOWHERE", all, remote: Scope(targets: [])),
        ].sorted { $0.id < $1.id }
        let read = try Self.readAgain(Self.index(variables)).0
        #expect(read.variables == variables)
        #expect(read.variables.first { $0.name == "TRACE" }?.remote?.seenUpdatedAt == 11)
    }

    @Test func `those that are no variable's state are kept, and forgotten with theirs`() throws {
        let scope = Scope(targets: .production)
        var index = Self.index([Self.variable("KEY", scope, remote: scope)])
        let (owner, foreign) = (index.variables[0].id, Identifier.random())
        let preview = Scope(targets: .preview)
        var second = VectorVault.agreement("KEY", preview, record: "env_2", variable: owner)
        second.endedAt = 0
        index.otherAgreements[Self.project] = [
            second, VectorVault.agreement("OTHER", variable: owner),
            VectorVault.agreement("ERASED", variable: foreign), VectorVault.agreement("NONE"),
        ]
        var (read, bytes) = try Self.readAgain(index)
        #expect(read.variables == index.variables)
        #expect(
            read.otherAgreements[Self.project]?.map(\.key) == ["ERASED", "KEY", "NONE", "OTHER"])
        #expect(try Self.readAgain(read).bytes == bytes)
        // A state that takes the place of another one replaces it.
        read.variables[0].remote?.agreed.scope = preview
        #expect(
            try Self.readAgain(read).0.otherAgreements[Self.project]?.map(\.key)
                == ["ERASED", "NONE", "OTHER"])
        read.forgetOtherAgreements { $0.variable == owner }
        #expect(read.otherAgreements[Self.project]?.map(\.key) == ["ERASED", "NONE"])
        // They end with their project.
        read.variables = []
        #expect(try SectionContent.all(of: read)[Self.project] != nil)
        read.projects = []
        #expect(try SectionContent.all(of: read).isEmpty)
    }

    @Test func `a variable without one that stands has the first one that ended`() throws {
        var index = Self.index([Self.variable("KEY", Scope(targets: .all))])
        let owner = index.variables[0].id
        func ended(_ key: String) -> Agreement { VectorVault.agreement(key, variable: owner) }
        index.otherAgreements[Self.project] = [ended("B"), ended("A")]
        #expect(try Self.readAgain(index).0.variables[0].remote?.key == "A")
        var stands = ended("C")
        (stands.record, stands.endedAt) = ("env_1", 0)
        index.otherAgreements[Self.project]?.append(stands)
        let read = try Self.readAgain(index).0
        #expect(read.variables[0].remote?.key == "C")
        #expect(read.otherAgreements[Self.project]?.map(\.key).sorted() == ["A", "B"])
    }

    @Test func `what was opened without them gets them once they are needed`() throws {
        let fixture = try VaultFixture()
        let scope = Scope(targets: .production)
        func update(_ body: (inout VaultTransaction) throws -> Void) throws {
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID, body)
        }
        try update { transaction in
            let position = transaction.positionOfVariable("KEY")
            transaction.index.variables[position].remote =
                Self.variable("KEY", scope, remote: scope).remote
            let project = transaction.index.variables[position].project
            transaction.index.otherAgreements[project] = [VectorVault.agreement()]
        }
        let vault = try fixture.open()
        for extent in [VaultIndex.Extent.valuesOnly, .listing, .currentValues, .everything] {
            let index = try vault.index(with: fixture.keys, extent: extent)
            #expect((index.variables[0].remote == nil) == (extent == .valuesOnly))
            #expect(index.otherAgreements.isEmpty == (extent == .valuesOnly))
        }
        // Nothing is lost with a write, and all that is theirs with a variable and a project.
        try fixture.set("KEY", "value")
        let written = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(written.variables[0].remote?.id == "env_KEY")
        #expect(written.otherAgreements.values.map(\.count) == [1])
        try update { transaction in
            transaction.erase([transaction.index.variables[0].id])
            transaction.index.projects = []
        }
        let left = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(left.sections.isEmpty && left.otherAgreements.isEmpty)
    }
}
