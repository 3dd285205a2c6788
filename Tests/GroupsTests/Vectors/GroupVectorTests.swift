import Foundation
import Sealing
import Testing
import Vault

@testable import Groups

/// `Tests/GroupVectors/vectors.json`: what programs that read `docs/group-format.md` must find.
///
/// With ZG_ENV_VECTORS=write, makes the file again.
@Suite("The vectors of groups", .serialized)
struct GroupVectorTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "GroupVectors/vectors.json")

    private static func made() throws -> [GroupVector] {
        try EntryVectors.all + ChangeVectors.all() + InviteVectors.all() + KeyVectors.all()
            + EntryRuleVectors.all() + ChangeRuleVectors.all() + StateRuleVectors.all()
            + FoldVectors.all()
    }

    /// Makes the file again once in a process, since that takes a while.
    private static let isWritten = Result { try write() }

    private static func write() throws {
        if ProcessInfo.processInfo.environment["ZG_ENV_VECTORS"] == "write" {
            let vectors = try made()
            let names = vectors.map(\.name)
            guard Set(names).count == names.count else {
                throw ModelFinding("two vectors have one name")
            }
            let data = try JSONSerialization.data(
                withJSONObject: vectors.map(\.json),
                options: [.sortedKeys, .withoutEscapingSlashes])
            // One vector a line.
            let text = String(decoding: data, as: UTF8.self).replacingOccurrences(
                of: "},{\"", with: "},\n{\"")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data((text + "\n").utf8).write(to: file)
        }
    }

    private static func read() throws -> [[String: Any]] {
        try isWritten.get()
        let data = try Data(contentsOf: file)
        return try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    private static func bytes(_ vector: [String: Any], _ name: String) throws -> [UInt8] {
        let bytes = GroupVector.bytes(try #require(vector[name] as? String))
        guard name == "object", let zeros = vector["zeros"] as? Int else { return bytes }
        return bytes + [UInt8](repeating: 0, count: zeros)
    }

    @Test func `are read as they say`() throws {
        let vectors = try Self.read()
        #expect(vectors.count >= 700)
        var results: Set<String> = []
        for vector in vectors {
            let name = vector["name"] as? String ?? "?"
            let expected = try #require(vector["result"] as? String)
            results.insert(expected)
            var found = "ok"
            do throws(any Error) {
                switch vector["kind"] as? String {
                case "entry": try entry(vector)
                case "change": try change(vector)
                case "invite": try invite(vector)
                case "join": try join(vector)
                case "keys": try self.keys(vector)
                default: try fold(vector)
                }
            } catch {
                guard let error = error as? GroupError else { throw error }
                found = error.code.rawValue
            }
            #expect(found == expected, "\(name)")
        }
        #expect(
            results
                == Set(GroupError.Code.allCases.map(\.rawValue)).union(["ok"]).subtracting([
                    "unusable-key", "out-of-memory",
                ]))
    }

    @Test func `of histories have every reason`() throws {
        var (late, waiting, contested, refused):
            (Set<String>, Set<String>, Set<String>, Set<String>)
        (late, waiting, contested, refused) = ([], [], [], [])
        for vector in try Self.read() where vector["kind"] as? String == "fold" {
            let state = vector["state"] as? [String: Any] ?? [:]
            late.formUnion((state["late"] as? [String: String] ?? [:]).values)
            waiting.formUnion((state["waiting"] as? [String: String] ?? [:]).values)
            for record in state["records"] as? [[String: Any]] ?? [] {
                contested.formUnion(record["contested"] as? [String] ?? [])
            }
            let membership = vector["membership"] as? [String: Any] ?? [:]
            refused.formUnion((membership["refused"] as? [String: String] ?? [:]).values)
        }
        #expect(late == Set(LateReason.allCases.map(\.rawValue)))
        #expect(waiting == Set(WaitingReason.allCases.map(\.rawValue)))
        #expect(contested == Set(RecordState.Contest.allCases.map(\.rawValue)))
        #expect(refused == Set(EntryRefusal.allCases.map(\.rawValue)))
    }

    private func entry(_ vector: [String: Any]) throws {
        let object = try Self.bytes(vector, "object")
        let entry = try Entry.decode(object)
        // The encoder gives the same bytes, but for the signature.
        let again = entry.signed(with: TestPool.members[0].authority)
        #expect(again.dropLast(64) == object.dropLast(64))
    }

    private func change(_ vector: [String: Any]) throws {
        let object = try Self.bytes(vector, "object")
        let change = try Change(object)
        let keys = MemberKeys(
            write: try Self.bytes(vector, "writeKey"),
            authority: try Self.bytes(vector, "authorityKey"), indexBox: [], valueBox: [])
        guard change.isSigned(by: keys) else { throw GroupError(.signature, "another signature") }
        let key = try IndexKeyOfEpoch(TestRandom.secret(Self.bytes(vector, "indexKey")))
        let content = try change.open(with: key)
        let secret = try ValueSecretOfEpoch(TestRandom.secret(Self.bytes(vector, "valueSecret")))
        let values = try change.openValues(content, with: secret, in: SecretArena())
        let texts = values.map { slice in
            slice.withBytes { bytes in
                GroupVector.hexadecimal((0..<bytes.byteCount).map { bytes.byte(at: $0) })
            }
        }
        if let expected = vector["values"] as? [String] { #expect(texts == expected) }
    }

    private func invite(_ vector: [String: Any]) throws {
        let object = try Self.bytes(vector, "object")
        let code = try GroupInviteCode(TestRandom.secret(Self.bytes(vector, "code")))
        _ = try Invite.accept(object, code: code)
        guard Invite.isSigned(object, by: try Self.bytes(vector, "authorityKey")) else {
            throw GroupError(.signature, "another signature")
        }
    }

    private func join(_ vector: [String: Any]) throws {
        let object = try Self.bytes(vector, "object")
        _ = try Join.decode(object)
        guard Join.isSigned(object, codeKey: try Self.bytes(vector, "codeKey")) else {
            throw GroupError(.signature, "another signature")
        }
    }

    private func keys(_ vector: [String: Any]) throws {
        let group = try #require(GroupHash(Self.bytes(vector, "group")))
        let entries = try #require(vector["entries"] as? [String])
        let found = try KeyVectors.expected(
            of: #require(Identifier(Self.bytes(vector, "member"))),
            in: RuleVectors.chain(group, entries.map(GroupVector.bytes)),
            indexSeed: Self.bytes(vector, "indexBoxSeed"),
            valueSeed: Self.bytes(vector, "valueBoxSeed"))
        let name = vector["name"] as? String ?? "?"
        try expect(found, vector.filter { found[$0.key] != nil }, name)
    }

    private func fold(_ vector: [String: Any]) throws {
        let group = try #require(GroupHash(Self.bytes(vector, "group")))
        let compartment = try #require(Identifier(Self.bytes(vector, "compartment")))
        let entries = try #require(vector["entries"] as? [String])
        let chain = RuleVectors.chain(group, entries.map(GroupVector.bytes))
        let keys = try #require(vector["indexKeys"] as? [String: String])
        let objects = try #require(vector["changes"] as? [String])
        let changes = try objects.compactMap { text in
            try RuleVectors.received(GroupVector.bytes(text), in: compartment, of: chain) {
                keys[compartment.hexadecimal + ":" + $0.hexadecimal].map(GroupVector.bytes)
            }
        }
        let state = CompartmentFold.state(of: changes, chain: chain)
        let name = vector["name"] as? String ?? "?"
        try expect(StateJSON.state(state), vector["state"], name)
        try expect(StateJSON.membership(chain), vector["membership"], name)
        let heads = try #require(vector["heads"] as? [String: [String]])
        var byCompartment: [Identifier: [GroupHash]] = [:]
        for (id, names) in heads {
            let id = try #require(Identifier(GroupVector.bytes(id)))
            byCompartment[id] = names.compactMap { GroupHash(GroupVector.bytes($0)) }
        }
        #expect(byCompartment[compartment] ?? [] == state.heads)
        #expect(
            GroupVector.hexadecimal(StateWords.bytes(of: chain, heads: byCompartment))
                == vector["stateWords"] as? String)
    }

    private func expect(_ found: [String: Any], _ expected: Any?, _ name: String) throws {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
        let left = try JSONSerialization.data(withJSONObject: found, options: options)
        let right = try JSONSerialization.data(
            withJSONObject: try #require(expected), options: options)
        #expect(
            left == right,
            "\(name): \(String(decoding: left, as: UTF8.self)) is not \(String(decoding: right, as: UTF8.self))"
        )
    }
}
