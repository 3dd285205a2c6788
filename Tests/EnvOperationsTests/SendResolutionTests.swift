import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

/// How writes of unknown outcome are resolved.
@Suite("Writes of unknown outcome")
struct SendResolutionTests {
    private func send(
        _ action: SendEntry.Action, _ variable: Variable, target: SendEntry.Target? = nil,
        version: UInt64? = nil, author: String = "me", sentAfter: UInt64 = 15
    ) -> SendEntry {
        SendEntry(
            createdAt: 1, action: action, project: variable.project, variable: variable.id,
            vercelProject: "prj", author: author, target: target, key: variable.name,
            attributes: variable.attributes, version: version ?? variable.currentVersion,
            sendsValue: action != .delete && version ?? variable.currentVersion > 0,
            sentAfter: sentAfter)
    }

    private func there(
        _ id: String, _ variable: Variable, _ kind: VariableAttributes.Kind? = nil,
        targets: Scope.Targets? = nil, updatedAt: UInt64 = 20, author: String? = nil
    ) throws -> VercelRecord {
        let names = (targets ?? variable.attributes.scope.targets).names
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        let by = author.map { "\"\($0)\"" } ?? "null"
        let json = """
            {"id":"\(id)","key":"\(variable.name)",
            "type":"\((kind ?? variable.attributes.kind).name)","target":[\(list)],
            "updatedAt":\(updatedAt),"createdBy":\(by)}
            """
        let decoded = try #require(
            Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
        return VercelRecord(decoded, environments: CustomEnvironmentNames([]))
    }

    private func pushed(_ variable: Variable, _ id: String) -> Variable {
        var variable = variable
        variable.remote = RemoteState(
            id: id, key: variable.name, account: "me", pushedVersion: 1,
            agreed: variable.attributes, updatedAt: 10, pushedAt: 1)
        return variable
    }

    private func resolve(
        _ sends: [SendEntry], _ variables: [Variable], _ platform: ListedRecords,
        _ evidence: SendResolution.Evidence? = nil
    ) -> SendResolution {
        let all = evidence.map { value in
            Dictionary(uniqueKeysWithValues: sends.map { ($0.id, value) })
        }
        return SendResolution(
            of: sends, variables: variables, platform: platform, evidence: all ?? [:],
            account: "me", time: 30)
    }

    @Test func `a missing creation did not happen`() {
        let variable = record(.all)
        let entry = send(.create, variable)
        let found = resolve([entry], [variable], [])
        #expect(found.remotes.isEmpty && found.settled == [entry.id])
    }

    @Test(
        arguments: [
            (.holds(1), 1), (.empty, 0), (.other, nil), (.unknown, 0),
        ] as [(SendResolution.Evidence, UInt64?)])
    func `an existing creation is ours if the value matches, else the value is sent again`(
        evidence: SendResolution.Evidence, version: UInt64?
    ) throws {
        let variable = record(.all)
        let found = resolve(
            [send(.create, variable)], [variable], [try there("a", variable)], evidence)
        #expect(found.remotes[variable.id]?.pushedVersion == version)
    }

    @Test(
        "SYNC-A4: a value that is not shown is sent again only where the write may have moved it",
        arguments: [
            // Sent after, until, moved at, whether it may have been the write.
            (15_000, 0, 15_000, true), (15_000, 0, 66_000, true), (15_000, 0, 66_001, false),
            (15_000, 20_000, 21_000, true), (15_000, 20_000, 21_001, false),
            (15_000, 0, 14_999, false), (0, 0, 20_000, false), (0, 20_000, 20_000, false),
            (.max, 0, 20_000, false), (15_000, 3, 15_000, true),
        ] as [(UInt64, UInt64, UInt64, Bool)])
    func window(after: UInt64, until: UInt64, moved: UInt64, isOurs: Bool) throws {
        let variable = pushed(record(.production, kind: .sensitive), "a")
        var entry = send(
            .change, variable, target: .init(id: "a", updatedAt: 10), sentAfter: after)
        if until > 0 { entry = entry.until(until) }
        let there = try there("a", variable, updatedAt: moved, author: "me")
        let found = resolve([entry], [variable], [there])
        #expect(found.remotes[variable.id]?.pushedVersion == (isOurs ? 0 : nil))
        #expect(found.remotes[variable.id]?.agreedUpdatedAt == (isOurs ? moved : nil))
    }

    @Test func `a write may have left exactly what was sent`() throws {
        let variable = record([.production, .preview], kind: .sensitive)
        func ours(_ there: VercelRecord, _ entry: SendEntry? = nil) -> Bool {
            resolve([entry ?? send(.create, variable)], [variable], [there]).remotes.count == 1
        }
        #expect(ours(try there("a", variable)))
        #expect(ours(try there("a", variable, author: "me")))
        #expect(!ours(try there("a", variable, author: "them")))
        // The token's user is unknown.
        #expect(
            !ours(try there("a", variable, author: "them"), send(.create, variable, author: "")))
        #expect(!ours(try there("a", variable, targets: .production)))
        #expect(!ours(try there("a", variable, targets: .all)))
        #expect(!ours(try there("a", variable, .encrypted)))
        // A team's policy may have made it sensitive.
        let readable = record(.production)
        #expect(
            resolve(
                [send(.create, readable)], [readable], [try there("a", readable, .sensitive)]
            ).remotes.count == 1)
    }

    @Test func `a record that belongs to another one in the vault is not taken`() throws {
        let variable = record(.all)
        let other = pushed(record(.all, at: 2), "a")
        let found = resolve(
            [send(.create, variable)], [variable, other], [try there("a", variable)], .holds(1))
        #expect(found.remotes.isEmpty)
    }

    @Test func `a change counts only if the record was changed since`() throws {
        var variable = pushed(record(.all, kind: .sensitive), "a")
        variable.currentVersion = 3
        let entry = send(.change, variable, target: .init(id: "a", updatedAt: 10), version: 2)
        let same = try there("a", variable, updatedAt: 10)
        #expect(resolve([entry], [variable], [same]).remotes.isEmpty)
        let changed = resolve([entry], [variable], [try there("a", variable)])
        #expect(changed.remotes[variable.id]?.pushedVersion == 0)
        #expect(changed.remotes[variable.id]?.agreedUpdatedAt == 20)
        // Without a value the earlier one remains.
        let narrowed = send(.change, variable, target: .init(id: "a", updatedAt: 10), version: 0)
        let kept = resolve([narrowed], [variable], [try there("a", variable)])
        #expect(kept.remotes[variable.id]?.pushedVersion == 1)
    }

    @Test func `only the old record of a renamed variable is a leftover`() throws {
        let renamed = pushed(record(.production, key: "NEW", kind: .sensitive), "new")
        let old = record(.production, key: "OLD", kind: .sensitive)
        func deletion(_ id: String, _ variable: Identifier?) -> SendEntry {
            SendEntry(
                createdAt: 1, action: .delete, project: renamed.project, variable: variable,
                vercelProject: "prj", author: "me", target: .init(id: id, updatedAt: 20),
                key: "OLD", attributes: old.attributes, version: 0, sendsValue: false, sentAfter: 15
            )
        }
        let platform: ListedRecords = [
            try there("old", old), try there("new", renamed, updatedAt: 10),
        ]
        #expect(
            resolve([deletion("old", renamed.id)], [renamed], platform).leftovers
                == [platform[0]])
        // A record that the vault still has, or never had, is planned by the vault's state.
        #expect(resolve([deletion("new", renamed.id)], [renamed], platform).leftovers.isEmpty)
        #expect(resolve([deletion("old", nil)], [renamed], platform).leftovers.isEmpty)
        let changed: ListedRecords = [try there("old", old, updatedAt: 21)]
        let left = resolve([deletion("old", renamed.id)], [renamed], changed)
        #expect(left.leftovers.isEmpty && left.abandoned == changed.records)
    }
}

@Suite("Versions sent by a write of unknown outcome")
struct NeededVersionsTests {
    @Test func `are not pruned while the write is in the journal`() throws {
        var variable = record(.production, version: 9)
        variable.highestVersion = 9
        var index = VaultIndex(extent: .everything)
        index.variables = [variable]
        index.earlierVersions = (1...8).map { number in
            StoredVersion(
                variable: variable.id, version: number, id: .random(), batch: .random(), offset: 0,
                length: 1,
                checksum: .init([UInt8](repeating: 0, count: 32)), createdAt: 1, formerName: nil)
        }
        let time = History.protectedMilliseconds * 2
        func prunable() -> [UInt64] {
            History(of: variable, in: index).prunable(keeping: 1, at: time).map(
                \.version)
        }
        #expect(prunable() == [1, 2, 3, 4, 5, 6, 7])
        let send = SendEntry(
            createdAt: 1, action: .create, project: variable.project, variable: variable.id,
            vercelProject: "prj", author: "", target: nil, key: variable.name,
            attributes: variable.attributes, version: 3, sendsValue: true, sentAfter: 0)
        index.journal = [send.entry]
        #expect(prunable() == [1, 2, 4, 5, 6, 7])
    }
}
