import Foundation
import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

@Suite("Answers on the disk")
struct AnswerCacheTests {
    /// Of this machine, as the times of files are.
    private static let now = UInt64(Date().timeIntervalSince1970 * 1_000)
    private static let address = AnswerAddress(
        origin: "https://api.example", account: "account u 1 me", scope: "", subject: .projects)

    /// What a hostile or generous platform says of a project: values wherever one could stand.
    private static let projects = #"""
        [{"id":"prj_1","name":"web","accountId":"team_1","framework":"nextjs","updatedAt":5,
          "env":[{"key":"K","value":"MARKER-env"}],"value":"MARKER-value","link":{"deployHooks":[
          {"url":"https://MARKER-hook"}]},"targets":{"production":{"id":"dpl_1","url":"a.b",
          "readyState":"READY","env":["MARKER-names"],"buildEnv":{"A":"MARKER-build"},
          "meta":{"secretFlag":"MARKER-meta","githubCommitMessage":"Mend it"},
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

        func cache(vault: UInt64 = 1, key: UInt64 = 3) throws -> AnswerCache {
            try AnswerCache(
                key: try KeyDerivation.derive(from: root, id: key, context: "zgv2sub_"),
                vault: Identifier(high: 0, low: vault), store: PosixAnswerStore(path: path),
                complain: { [unowned self] in complaints.append($0) })
        }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
        }

        func file(_ name: String) throws -> [UInt8] { try directory.read("cache/zg-env/\(name)") }
        func put(_ bytes: [UInt8], _ name: String, mode: mode_t = 0o600) throws {
            try directory.write(bytes, to: "cache/zg-env/\(name)", mode: mode)
        }
    }

    private static func answer<A: Decodable>(_ json: String, as type: A.Type) throws -> A {
        try #require(Array(json.utf8).withBytes { JSONDecoding.value(type, from: $0) })
    }

    private func keep(_ cache: AnswerCache, _ address: AnswerAddress = Self.address) throws {
        try cache.keep(
            ProjectsAnswer(try Self.answer(Self.projects, as: [Project].self)), at: address,
            askedAt: Self.now, now: Self.now)
    }

    @Test func `an answer comes back with what may be kept of it, and nothing else`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        #expect(try cache.answer(at: Self.address) == nil)
        try keep(cache)
        let kept = try #require(try setting.cache().answer(at: Self.address))
        #expect(kept.askedAt == Self.now && kept.address == Self.address)
        let project = try #require(kept.value(as: ProjectsAnswer.self)?.projects.first)
        #expect(project.id == "prj_1" && project.name == "web" && project.framework == "nextjs")
        #expect(project.updatedAt?.milliseconds == 5 && project.accountId == "team_1")
        #expect(project.production?.id == "dpl_1" && project.production?.url == "a.b")
        #expect(project.production?.commitMessage == "Mend it")
        #expect(project.production?.meta.count == 1)
        #expect(project.production?.errorMessage == nil && project.latestDeployments.isEmpty)
        let text = String(decoding: kept.content, as: UTF8.self)
        #expect(!text.contains("MARKER"), "\(text)")

        let shared = SharedVariablesAnswer(
            try Self.answer(Self.shared, as: [SharedVariable].self))
        let address = Self.address.asking(.sharedVariables(project: "prj_1"))
        try cache.keep(shared, at: address, askedAt: 1, now: Self.now)
        let second = try #require(try cache.answer(at: address))
        #expect(second.value(as: SharedVariablesAnswer.self) == shared)
        #expect(!String(decoding: second.content, as: UTF8.self).contains("MARKER"))
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
              "meta":{"gitlabCommitRef":"main","gitlabCommitSha":"c0","action":"redeploy",
              "originalDeploymentId":"dpl_8","deployHookName":"h","token":"MARKER"}}]
            """#
        let deployments = try Self.answer(json, as: [Deployment].self)
        let address = Self.address.asking(.deployments(project: "p", filter: "20"))
        try cache.keep(
            DeploymentsAnswer(current: "dpl_1", deployments: deployments), at: address, askedAt: 1,
            now: Self.now)
        let kept = try #require(try cache.answer(at: address))
        let answer = try #require(kept.value(as: DeploymentsAnswer.self))
        #expect(answer.current == "dpl_1")
        let (before, after) = (deployments[0], try #require(answer.deployments.first))
        #expect(after.id == before.id && after.state == before.state && after.url == before.url)
        #expect(after.substate == before.substate && after.createdAt == before.createdAt)
        #expect(after.customEnvironmentSlug == "qa" && after.customEnvironmentId == "env_q")
        #expect(after.branch == "main" && after.commit == "c0" && after.cause == before.cause)
        #expect(after.creator == "me" && after.errorCode == "E" && after.readyAt == before.readyAt)
        #expect(!String(decoding: kept.content, as: UTF8.self).contains("MARKER"))
    }

    @Test func `names and files give nothing away, and are the user's alone`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        try keep(cache)
        try keep(cache, Self.address.asking(.outage))
        #expect(setting.names.count == 2)
        for name in setting.names {
            #expect(name.wholeMatch(of: /[0-9a-f]{64}/) != nil)
            let file = try setting.file(name)
            // A nonce, a tag and whole steps of 4 KiB.
            #expect((file.count - 40) % 4_096 == 0)
            for text in ["web", "prj_", "projects", "api.example", "Mend", "account"] {
                #expect(Data(file).range(of: Data(text.utf8)) == nil)
            }
        }
        let attributes = { (path: String) in
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        }
        #expect(try attributes(setting.path) == 0o700)
        #expect(try attributes(setting.path + "/" + setting.names[0]) == 0o600)
        // The same answer again is sealed anew.
        let before = try setting.names.map { try setting.file($0) }
        try keep(cache)
        try keep(cache, Self.address.asking(.outage))
        for (old, name) in zip(before, setting.names) { #expect(try setting.file(name) != old) }
    }

    @Test func `no other account, scope, origin, subject, vault or key sees it`() throws {
        let setting = try Setting()
        try keep(try setting.cache())
        let own = Self.address
        func address(_ origin: String, _ account: String, _ scope: String) -> AnswerAddress {
            AnswerAddress(origin: origin, account: account, scope: scope, subject: .projects)
        }
        for other in [
            address(own.origin, "account v 1 you", ""), address(own.origin, own.account, "id t"),
            address("https://other", own.account, ""), own.asking(.outage),
            own.asking(.deployments(project: "", filter: "")),
            // Texts that together are the same.
            address(own.origin + "a", String(own.account.dropFirst()), ""),
        ] {
            #expect(try setting.cache().answer(at: other) == nil, "\(other)")
        }
        #expect(try setting.cache(vault: 2).answer(at: own) == nil)
        #expect(try setting.cache(key: 1).answer(at: own) == nil)
        #expect(try setting.cache().answer(at: own) != nil)
        // Moved to the name of another answer it is thrown away.
        let name = setting.names[0]
        try keep(try setting.cache(), own.asking(.outage))
        let second = try #require(setting.names.first { $0 != name })
        try setting.put(try setting.file(name), second)
        #expect(try setting.cache().answer(at: own.asking(.outage)) == nil)
        #expect(setting.names == [name])
    }

    @Test func `whatever was done to a file, it is thrown away and nothing fails`() throws {
        let setting = try Setting()
        try keep(try setting.cache())
        let name = setting.names[0]
        let good = try setting.file(name)
        var damaged: [[UInt8]] = [[], [0], Array(good.prefix(39)), Array(good.prefix(40))]
        damaged += [Array(good.dropLast()), good + [0], Array(good.prefix(good.count / 2))]
        for offset in stride(from: 0, to: good.count, by: 97) {
            var bytes = good
            bytes[offset] ^= 0x20
            damaged.append(bytes)
        }
        for bytes in damaged {
            try setting.put(bytes, name)
            #expect(try setting.cache().answer(at: Self.address) == nil)
            #expect(setting.names == [])
        }
        // A file that others can read is not taken, nor a link, nor a directory.
        try setting.put(good, name, mode: 0o644)
        #expect(try setting.cache().answer(at: Self.address) == nil)
        #expect(setting.names == [])
        try setting.put(good, "elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: setting.path + "/" + name, withDestinationPath: "elsewhere")
        #expect(try setting.cache().answer(at: Self.address) == nil)
        try keep(try setting.cache())
        #expect(try setting.cache().answer(at: Self.address) != nil)
        #expect(try setting.file("elsewhere") == good)
        try FileManager.default.removeItem(atPath: setting.path + "/" + name)
        try setting.directory.makeDirectory("cache/zg-env/\(name)")
        #expect(try setting.cache().answer(at: Self.address) == nil)
        try keep(try setting.cache())
        #expect(try setting.cache().answer(at: Self.address) != nil)
        #expect(setting.complaints == [])
    }

    @Test func `a place that cannot be written is told and is no failure`() throws {
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
        // A directory that was left open is closed to others.
        try FileManager.default.removeItem(atPath: setting.path)
        try FileManager.default.createDirectory(
            atPath: setting.path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755])
        try keep(try setting.cache())
        let mode =
            try FileManager.default.attributesOfItem(atPath: setting.path)[.posixPermissions]
        #expect(mode as? NSNumber == 0o700)
        #expect(setting.complaints.count == 2)
    }

    @Test func `dropping takes what is meant, and pruning what is old`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        let subjects: [AnswerAddress.Subject] = [
            .projects, .deployments(project: "a", filter: "1"),
            .deployments(project: "a", filter: "2"), .deployments(project: "b", filter: "1"),
        ]
        for subject in subjects { try keep(cache, Self.address.asking(subject)) }
        try setting.put([1, 2, 3], String(repeating: "a", count: 64))
        cache.drop {
            if case .deployments("a", _) = $0.address.subject { true } else { false }
        }
        #expect(
            try subjects.map { try cache.answer(at: Self.address.asking($0)) != nil } == [
                true, false, false, true,
            ])
        #expect(setting.names.count == 3)
        cache.drop(unreadable: true) { _ in false }
        #expect(setting.names.count == 2)

        try setting.put([1], String(repeating: "b", count: 64))
        try setting.put([1], ".tmp-0123")
        try setting.put([1], "notes.txt")
        let past = Date(timeIntervalSince1970: Double(Self.now) / 1_000 - 31 * 86_400)
        for name in [String(repeating: "b", count: 64), ".tmp-0123", "notes.txt"] {
            try FileManager.default.setAttributes(
                [.modificationDate: past], ofItemAtPath: setting.path + "/" + name)
        }
        try keep(cache, Self.address.asking(.outage))
        // What is not ours is left alone.
        #expect(setting.names.contains("notes.txt"))
        #expect(!setting.names.contains { $0.hasPrefix("bbbb") || $0.hasPrefix(".tmp") })
    }

    @Test func `an answer that is too long is not kept, nor an older one in its place`() throws {
        let setting = try Setting()
        let cache = try setting.cache()
        try keep(cache)
        let many = (0..<90).map { number in
            #"{"id":"prj_\#(number)","name":"\#(String(repeating: "n", count: 100_000))"}"#
        }
        let projects = try Self.answer(
            "[\(many.joined(separator: ","))]", as: [Project].self)
        try cache.keep(
            ProjectsAnswer(projects), at: Self.address, askedAt: Self.now, now: Self.now)
        #expect(setting.names == [])
        #expect(setting.complaints == ["An answer is too long to be kept."])
    }

    @Test func `a token names an account without being in the name`() throws {
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
    }

    @Test func `an address is read as it was written, and nothing else is one`() {
        for subject in [
            AnswerAddress.Subject.projects, .deployments(project: "p", filter: "20  qa"),
            .sharedVariables(project: "p"), .outage,
        ] {
            let address = Self.address.asking(subject)
            #expect(AnswerAddress(address.bytes) == address)
            #expect(AnswerAddress(address.bytes + [0]) == nil)
            #expect(AnswerAddress(Array(address.bytes.dropLast())) == nil)
        }
        for bytes: [UInt8] in [
            [], [255, 255, 255, 255], [1, 0, 0, 0, 0xFF], Array(repeating: 0, count: 24),
        ] {
            #expect(AnswerAddress(bytes) == nil)
            #expect(KeptAnswer(bytes) == nil)
        }
    }
}
