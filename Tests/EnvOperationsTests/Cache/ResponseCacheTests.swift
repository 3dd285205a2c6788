import Foundation
import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

@Suite("Cached responses on disk")
struct ResponseCacheTests {
    /// On this machine's clock, like the times of files.
    private static let now = UInt64(Date().timeIntervalSince1970 * 1_000)
    private static let address = ResponseKey(
        origin: "https://api.example", account: "account u 1 me", scope: "", subject: .projects)

    /// A project as a hostile or generous API might send it: values in every possible place.
    private static let projects = #"""
        [{"id":"prj_1","name":"web","accountId":"team_1","framework":"nextjs","updatedAt":5,
          "env":[{"key":"K","value":"MARKER-env"}],"value":"MARKER-value","link":{"deployHooks":[
          {"url":"https://MARKER-hook"}]},"targets":{"production":{"id":"dpl_1","url":"a.b",
          "readyState":"READY","env":["MARKER-names"],"buildEnv":{"A":"MARKER-build"},
          "meta":{"secretFlag":"MARKER-meta","githubCommitMessage":"Repair it"},
          "errorMessage":"MARKER-log","inspectorUrl":"MARKER-url","alias":["MARKER-alias"]}},
          "latestDeployments":[{"id":"dpl_2","meta":{"x":"MARKER-latest"}}]}]
        """#

    private static let shared = #"""
        [{"id":"env_1","key":"SHARED","type":"encrypted","target":["production"],
          "projectId":["prj_1"],"value":"MARKER-shared","vsmValue":"MARKER-vsm",
          "legacyValue":"MARKER-legacy","comment":"note","createdAt":1,"updatedAt":2}]
        """#

    private final class Setting {
        let directory: TemporaryDirectory
        var complaints: [String] = []
        private let root: SecretBytes

        init() throws {
            directory = try TemporaryDirectory()
            root = try SecretBytes.random(count: 32)
        }

        var path: String { directory.path("cache/zg-env") }

        func cache(vault: UInt64 = 1, key: UInt64 = 3) throws -> ResponseCache {
            try ResponseCache(
                key: try KeyDerivation.derive(from: root, id: key, context: "zgv3sub_"),
                vault: Identifier(high: 0, low: vault), directory: path,
                complain: { [unowned self] in complaints.append($0) })
        }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
        }
        /// The names of tables.
        var tables: [String] { names.filter { $0.hasSuffix(".answers") } }

        func file(_ name: String) throws -> [UInt8] { try directory.read("cache/zg-env/\(name)") }
        func put(_ bytes: [UInt8], _ name: String, mode: mode_t = 0o600) throws {
            try directory.write(bytes, to: "cache/zg-env/\(name)", mode: mode)
        }
        func age(_ name: String, days: Double) throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)],
                ofItemAtPath: path + "/" + name)
        }
    }

    private static func answer<A: Decodable>(_ json: String, as type: A.Type) throws -> A {
        try #require(Array(json.utf8).withBytes { JSONDecoding.value(type, from: $0) })
    }

    private func keep(_ cache: ResponseCache, _ address: ResponseKey = Self.address) throws {
        let projects = try Self.answer(Self.projects, as: [Project].self)
        cache.keep([address: projects], askedAt: Self.now, now: Self.now)
    }

    private static func text(_ answer: CachedResponse) -> String {
        String(decoding: answer.line, as: UTF8.self)
    }

    @Test func `a response is read back with its cacheable members only`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        #expect(cache.answer(at: Self.address) == nil)
        try keep(cache)
        let kept = try #require(try setting.cache().answer(at: Self.address))
        #expect(kept.askedAt == Self.now && kept.address == Self.address)
        let project = try #require(kept.value(as: [Project].self)?.first)
        #expect(project.id == "prj_1" && project.name == "web" && project.framework == "nextjs")
        #expect(project.updatedAt?.milliseconds == 5 && project.accountId == "team_1")
        #expect(project.production?.id == "dpl_1" && project.production?.url == "a.b")
        #expect(project.production?.commitMessage == "Repair it")
        #expect(project.production?.meta.count == 1)
        #expect(project.production?.errorMessage == nil && project.latestDeployments.isEmpty)
        #expect(!Self.text(kept).contains("MARKER"), "\(Self.text(kept))")

        let shared = try Self.answer(Self.shared, as: [SharedVariable].self)
        let address = Self.address.asking(.sharedVariables(project: "prj_1"))
        cache.keep([address: shared], askedAt: Self.now - 1, now: Self.now)
        let second = try #require(cache.answer(at: address))
        #expect(second.value(as: [SharedVariable].self) == shared)
        #expect(!Self.text(second).contains("MARKER"))
        #expect(second.value(as: DeploymentsResponse.self) == nil)
        #expect(setting.complaints == [])
    }

    @Test func `a deployment keeps what a list shows of it`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        let json = #"""
            [{"uid":"dpl_9","name":"web","projectId":"p","url":"u","state":"BUILDING","target":null,
              "readySubstate":"STAGED","customEnvironment":{"id":"env_q","slug":"qa"},
              "source":"cli","creator":{"username":"me","email":"MARKER"},"created":7,
              "buildingAt":8,"ready":9,"errorCode":"E","aliasError":{"message":"MARKER"},
              "alias":["MARKER"],"inspectorUrl":"MARKER","errorMessage":"MARKER",
              "meta":{"gitlabCommitRef":"main","gitlabCommitSha":"c0","action":"redeploy",
              "githubCommitMessage":"one\ntwo","zgEnvMark":"MARKER","bitbucketCommitSha":12,
              "originalDeploymentId":"dpl_8","deployHookName":"h","token":"MARKER"}}]
            """#
        let deployments = try Self.answer(json, as: [Deployment].self)
        #expect(deployments[0].mark == "MARKER")
        #expect(deployments[0].meta["token"] == nil)
        let address = Self.address.asking(.deployments(project: "p", filter: "20"))
        cache.keep(
            [address: DeploymentsResponse(current: "dpl_1", deployments: deployments)],
            askedAt: Self.now, now: Self.now)
        let kept = try #require(cache.answer(at: address))
        let answer = try #require(kept.value(as: DeploymentsResponse.self))
        #expect(answer.current == "dpl_1")
        let (before, after) = (deployments[0], try #require(answer.deployments.first))
        #expect(after.id == before.id && after.state == before.state && after.url == before.url)
        #expect(after.substate == before.substate && after.createdAt == before.createdAt)
        #expect(after.customEnvironmentSlug == "qa" && after.customEnvironmentId == "env_q")
        #expect(after.branch == "main" && after.commit == "c0" && after.cause == before.cause)
        #expect(after.creator == "me" && after.errorCode == "E" && after.readyAt == before.readyAt)
        #expect(after.buildingAt == before.buildingAt && after.source == "cli")
        #expect(after.name == "web" && after.projectId == "p" && after.meta == before.meta)
        #expect(after.commitMessage == "one\ntwo" && after.meta["bitbucketCommitSha"] == "12")
        #expect(!Self.text(kept).contains("MARKER"))
    }

    @Test func `names and files reveal nothing, and only the user can access them`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        try keep(cache)
        try keep(cache, Self.address.asking(.sharedVariables(project: "prj_1")))
        #expect(cache.answers().count == 2)
        let name = try #require(setting.tables.first)
        #expect(setting.names == [name, name + ".lock"])
        #expect(name.wholeMatch(of: /[0-9a-f]{32}\.answers/) != nil)
        #expect(!name.hasPrefix(Identifier(high: 0, low: 1).hexadecimal))
        let file = try setting.file(name)
        // A nonce, a tag and whole steps of 4 KiB.
        #expect((file.count - 40) % 4_096 == 0)
        for text in ["web", "prj_", "projects", "api.example", "Repair", "account"] {
            #expect(Data(file).range(of: Data(text.utf8)) == nil)
        }
        let attributes = { (path: String) in
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        }
        #expect(try attributes(setting.path) == 0o700)
        for name in setting.names { #expect(try attributes("\(setting.path)/\(name)") == 0o600) }
        // The same responses are sealed again whenever something is written.
        cache.keep([Self.address: [Project]()], askedAt: Self.now, now: Self.now)
        try keep(cache)
        #expect(try setting.file(name) != file)
    }

    @Test func `no other account, scope, origin, subject, vault or key opens a response`() throws {
        let setting = try Setting()
        try keep(try setting.cache())
        let own = Self.address
        func address(_ origin: String, _ account: String, _ scope: String) -> ResponseKey {
            ResponseKey(origin: origin, account: account, scope: scope, subject: .projects)
        }
        for other in [
            address(own.origin, "account v 1 you", ""), address(own.origin, own.account, "id t"),
            address("https://other", own.account, ""), own.asking(.outage),
            own.asking(.deployments(project: "", filter: "")),
            // Texts that are equal when joined.
            address(own.origin + "a", String(own.account.dropFirst()), ""),
        ] {
            #expect(try setting.cache().answer(at: other) == nil, "\(other)")
        }
        let name = try #require(setting.tables.first)
        // Under the name of another vault or key it does not open.
        for (vault, key) in [(2, 3), (1, 1)] as [(UInt64, UInt64)] {
            let foreign = try setting.cache(vault: vault, key: key)
            #expect(foreign.answers() == [])
            try keep(foreign, own.asking(.sharedVariables(project: "p")))
            let theirs = try #require(setting.tables.first { $0 != name })
            try setting.put(try setting.file(name), theirs)
            #expect(foreign.answers() == [])
            foreign.dropUnreadable()
            #expect(setting.tables == [])
            try keep(try setting.cache())
        }
        #expect(try setting.cache().answer(at: own) != nil)
    }

    @Test func `a file changed in any way is ignored without an error`() throws {
        let setting = try Setting()
        try keep(try setting.cache())
        let name = try #require(setting.tables.first)
        let good = try setting.file(name)
        var damaged: [[UInt8]] = [[], [0], Array(good.prefix(39)), Array(good.prefix(40))]
        damaged += [Array(good.dropLast()), good + [0], Array(good.prefix(good.count / 2))]
        damaged.append(good + [UInt8](repeating: 0, count: 17 << 20))
        for offset in stride(from: 0, to: good.count, by: 97) {
            var bytes = good
            bytes[offset] ^= 0x20
            damaged.append(bytes)
        }
        for bytes in damaged {
            try setting.put(bytes, name)
            #expect(try setting.cache().answer(at: Self.address) == nil)
        }
        // The next response replaces it.
        try keep(try setting.cache())
        #expect(try setting.cache().answer(at: Self.address) != nil)
        // Files that others can read, links and directories are ignored.
        try setting.put(good, name, mode: 0o644)
        #expect(try setting.cache().answer(at: Self.address) == nil)
        try FileManager.default.removeItem(atPath: setting.path + "/" + name)
        try setting.put(good, "elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: setting.path + "/" + name, withDestinationPath: "elsewhere")
        #expect(try setting.cache().answer(at: Self.address) == nil)
        try keep(try setting.cache())
        #expect(try setting.cache().answer(at: Self.address) != nil)
        #expect(try setting.file("elsewhere") == good)
        #expect(setting.complaints == [])
        try FileManager.default.removeItem(atPath: setting.path + "/" + name)
        try setting.directory.makeDirectory("cache/zg-env/\(name)")
        #expect(try setting.cache().answer(at: Self.address) == nil)
        try keep(try setting.cache())
        #expect(setting.complaints.count == 1)
        #expect(setting.complaints.first?.hasPrefix("Cannot cache responses: ") == true)
    }

    @Test func `a directory that cannot be written is reported and is not an error`() throws {
        let setting = try Setting()
        _ = try setting.directory.makeDirectory("cache")
        try setting.directory.write("in the way", to: "cache/zg-env")
        try keep(try setting.cache())
        #expect(try setting.cache().answer(at: Self.address) == nil)
        #expect(setting.complaints.count == 1)
        #expect(setting.complaints.first?.contains(setting.path) == true)
        try FileManager.default.removeItem(atPath: setting.path)
        try FileManager.default.createSymbolicLink(
            atPath: setting.path, withDestinationPath: "/tmp")
        try keep(try setting.cache())
        #expect(setting.complaints.count == 2)
        // A directory open to others is closed.
        try FileManager.default.removeItem(atPath: setting.path)
        try FileManager.default.createDirectory(
            atPath: setting.path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755])
        try keep(try setting.cache())
        let mode =
            try FileManager.default.attributesOfItem(atPath: setting.path)[.posixPermissions]
        #expect(mode as? NSNumber == 0o700)
        #expect(setting.complaints.count == 2)
        // A directory of another user is not used either.
        let foreign = try ResponseCache(
            key: try SecretBytes.random(count: 32), vault: Identifier(high: 0, low: 1),
            directory: geteuid() == 0 ? try Self.directoryOfNobody(setting) : "/",
            complain: { setting.complaints.append($0) })
        try keep(foreign)
        #expect(setting.complaints.last?.contains("belongs to another user") == true)
    }

    private static func directoryOfNobody(_ setting: Setting) throws -> String {
        let path = try setting.directory.makeDirectory("nobody")
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        return path
    }

    @Test func `dropping removes what is named, and storing removes what is old`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        cache.drop { _ in true }
        cache.dropUnreadable()
        #expect(!FileManager.default.fileExists(atPath: setting.path))
        let subjects: [ResponseKey.Subject] = [
            .projects, .deployments(project: "a", filter: "1"),
            .deployments(project: "a", filter: "2"), .deployments(project: "b", filter: "1"),
        ]
        for subject in subjects { try keep(cache, Self.address.asking(subject)) }
        cache.drop {
            if case .deployments("a", _) = $0.address.subject { true } else { false }
        }
        #expect(
            subjects.map { cache.answer(at: Self.address.asking($0)) != nil } == [
                true, false, false, true,
            ])
        let table = try #require(setting.tables.first)
        let before = try setting.file(table)
        // A process that watches the directory is not woken without a change.
        cache.drop { _ in false }
        #expect(try setting.file(table) == before)

        try keep(try setting.cache(vault: 2))
        let others = String(repeating: "b", count: 32) + ".answers"
        for name in [others, others + ".lock", ".\(others).tmp-01", "notes.txt"] {
            try setting.put([1], name)
            try setting.age(name, days: 31)
        }
        try setting.put([1], ".\(table).tmp-0123")
        let second = try #require(setting.tables.first { $0 != table && $0 != others })
        try setting.age(second, days: 29)
        // Two tables and their locks, and other programs' files.
        try keep(cache)
        #expect(setting.names.count == 5 && setting.names.contains("notes.txt"))
        #expect(cache.answers().count == 2)
        cache.dropUnreadable()
        #expect(setting.tables == [table])
        cache.drop { _ in true }
        #expect(setting.names == [table + ".lock", "notes.txt"])
        #expect(setting.complaints == [])
    }

    @Test func `a response ends the outage of the requests that got it`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        let other = ResponseKey(
            origin: "https://other", account: "a", scope: "", subject: .outage)
        for address in [Self.address.asking(.outage), other] {
            cache.keep([address: OutageNote()], askedAt: Self.now, now: Self.now)
        }
        #expect(cache.answers().count == 2)
        try keep(cache)
        #expect(Set(cache.answers().map(\.address)) == [Self.address, other])
    }

    @Test func `a response written while another process holds the table is not lost`() throws {
        let setting = try Setting()
        let (one, other) = (try setting.cache(), try setting.cache())
        try keep(one)
        #expect(other.answers().count == 1)
        try keep(one, Self.address.asking(.deployments(project: "a", filter: "")))
        try keep(other, Self.address.asking(.deployments(project: "b", filter: "")))
        #expect(one.answers().count == 3 && one.answers() == other.answers())
        // Nor what was requested after the other process read the clock.
        let page = Self.address.asking(.deployments(project: "b", filter: "page"))
        one.keep([page: OutageNote()], askedAt: Self.now + 5_000, now: Self.now + 5_000)
        try keep(other, Self.address.asking(.deployments(project: "b", filter: "")))
        #expect(other.answer(at: page) != nil)
        one.drop { $0.address == page }
        // What was dropped does not return with the next response of another process.
        one.drop { $0.address == Self.address }
        try keep(other, Self.address.asking(.deployments(project: "c", filter: "")))
        #expect(one.answer(at: Self.address) == nil && one.answers().count == 3)
    }

    @Test func `while the lock is held nothing is stored, but drops still work`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        try keep(cache)
        let table = try #require(setting.tables.first)
        try PosixFileStore().withLock(setting.path + "/" + table) {
            try keep(cache, Self.address.asking(.sharedVariables(project: "p")))
            #expect(cache.answers().count == 1 && setting.complaints.count == 1)
            cache.drop { _ in true }
            #expect(cache.answers() == [] && setting.tables == [])
        }
    }

    @Test func `a response that is too long is not stored, nor an older one kept`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        try keep(cache)
        let many = (0..<90).map { number in
            #"{"id":"prj_\#(number)","name":"\#(String(repeating: "n", count: 100_000))"}"#
        }
        let projects = try Self.answer(
            "[\(many.joined(separator: ","))]", as: [Project].self)
        cache.keep([Self.address: projects], askedAt: Self.now, now: Self.now)
        #expect(setting.tables == [])
        #expect(setting.complaints == ["A response is too large to be cached."])
        // A table of the maximum length can be read back.
        for number in 0..<3 {
            cache.keep(
                [
                    Self.address.asking(.sharedVariables(project: "\(number)")):
                        Array(projects.prefix(80))
                ],
                askedAt: Self.now, now: Self.now)
        }
        #expect(try setting.cache().answers().count == 2)
    }

    @Test func `a token identifies an account without being part of the name`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        func account(_ token: String) throws -> String {
            let arena = SecretArena()
            return try cache.account(
                ofToken: try Array(token.utf8).withBytes { try arena.copy($0) })
        }
        #expect(try account("token-a") == account("token-a"))
        #expect(try account("token-a") != account("token-b"))
        #expect(try !account("token-a").contains("token-a"))
        #expect(try account("token-a").wholeMatch(of: /token [0-9a-f]{32}/) != nil)
    }

    @Test func `a line is parsed as written, and any other line is refused`() throws {
        for subject in [
            ResponseKey.Subject.projects, .deployments(project: "p", filter: "20 \n\u{0} qa"),
            .sharedVariables(project: "p"), .outage,
        ] {
            let answer = try CachedResponse(
                OutageNote(), at: Self.address.asking(subject), askedAt: Self.now)
            #expect(CachedResponse(line: answer.line) == answer)
            #expect(!answer.line.contains(UInt8(ascii: "\n")))
            #expect(CachedResponse(line: answer.line + [0]) == nil)
            #expect(CachedResponse(line: Array(answer.line.dropLast())) == nil)
        }
        for text in ["", "{}", "[]", "null", "\u{ff}", #"{"askedAt":1,"answer":{}}"#] {
            #expect(CachedResponse(line: Array(text.utf8)) == nil)
        }
    }
}
