import Testing

@testable import EnvOperations
@testable import Vault

/// What the sender makes of changes by others, refusals, and what is stored differently.
@Suite("Requests that do not end as planned")
struct RequestConflictTests {
    typealias Kind = MemoryPlatform.Kind

    private func done(_ kind: Kind) -> String { kind == .shared ? "verified" : "unverified" }

    private func summaries(_ outcomes: [RequestOutcome?]) -> [String?] { outcomes.map(\.?.summary) }

    // MARK: Changes by others

    @Test(arguments: Kind.allCases)
    func `a change since the plan sends nothing`(kind: Kind) throws {
        let run = SenderRun(kind)
        let platform = run.platform
        let ids = (1...3).map { platform.add("OLD\($0)", kind.targets, value: "a") }
        let outcomes = try run.send(
            [
                try run.change(ids[0]), try run.deletion(ids[1]), try run.change(ids[2]),
                run.creation("NEW"), run.creation("OTHER"),
            ],
            meanwhile: {
                platform.edit(ids[0])
                platform.edit(ids[1])
                platform.add("new", kind.targets, value: "b", by: "other")
                platform.add("NEW", kind.targets, value: "b", by: "other")
            })
        #expect(platform.writes.isEmpty && run.vault.open.isEmpty)
        #expect(
            summaries(outcomes) == [
                "conflict: it was changed on Vercel by another user",
                "conflict: it was changed on Vercel by another user", nil,
                "conflict: it was created on Vercel by another user", nil,
            ])
        #expect(outcomes.compactMap(\.?.isSent) == [false, false, false])
    }

    @Test(arguments: Kind.allCases)
    func `a record that is gone is a conflict, but not for its deletion`(kind: Kind) throws {
        let run = SenderRun(kind)
        let ids = (1...2).map { run.platform.add("OLD\($0)", kind.targets, value: "a") }
        let remove = { for id in ids { run.platform.remove(id) } }
        let both = try run.send(
            [try run.change(ids[0]), try run.deletion(ids[1])], meanwhile: remove)
        #expect(summaries(both) == ["conflict: it was removed on Vercel", nil])
        let other = SenderRun(kind)
        let id = other.platform.add("OLD", kind.targets, value: "a")
        let one = try other.send(
            [try other.deletion(id)], meanwhile: { other.platform.remove(id) })
        #expect(summaries(one) == ["verified"] && other.vault.open.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a change right before the write stops only that request`(kind: Kind) throws {
        let run = SenderRun(kind)
        let ids = (1...2).map { run.platform.add("OLD\($0)", kind.targets, value: "a") }
        run.platform.events[.checking(1)] = {
            run.platform.events = [:]
            run.platform.edit(ids[0]) { $0.value = "theirs" }
        }
        let outcomes = try run.send(
            [try run.change(ids[0]), try run.change(ids[1]), run.creation("NEW")])
        #expect(
            summaries(outcomes) == [
                "conflict: it was changed on Vercel by another user", done(kind), done(kind),
            ])
        #expect(try run.record(ids[0]).value == "theirs" && run.vault.open.isEmpty)
        let owner = try #require(outcomes[0]?.request.owner)
        guard case .seen(let seen?) = run.vault.known[owner.variable] else {
            Issue.record("the change is not recorded as seen")
            return
        }
        #expect(seen.author == "other")
    }

    @Test func `a listing from before a pause is not trusted, a younger one is`() throws {
        for isPaused in [true, false] {
            let run = SenderRun(.shared)
            let id = run.platform.add("OLD", [.production], value: "a")
            run.platform.pace = 1
            run.platform.events[.checking(1)] = {
                run.platform.edit(id)
                if isPaused { run.platform.pauseCount += 1 }
            }
            let outcomes = try run.send([try run.change(id)])
            #expect(outcomes[0]?.isConflict == isPaused)
            #expect(run.platform.writes.isEmpty == isPaused)
        }
    }

    @Test(arguments: Kind.allCases)
    func `what is hidden since the plan ends the sending`(kind: Kind) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.events[.checking(1)] = {
            run.platform.hiddenCount = 1
            run.platform.clock += 2_000
        }
        let outcomes = try run.send([try run.change(id), run.creation("NEW")])
        #expect(
            summaries(outcomes) == [
                "failed: Vercel hides 1 production variable from this token, more than a moment ago",
                "failed: not sent",
            ])
        #expect(run.platform.writes.isEmpty && run.vault.open.isEmpty)
    }

    @Test func `a record that was made again under its name is another one`() throws {
        let run = SenderRun(.shared)
        let ids = (1...2).map { run.platform.add("OLD\($0)", [.production], value: "a") }
        run.platform.events[.sending(1)] = {
            run.platform.remove(ids[0])
            run.platform.add("OLD1", [.production], value: "theirs", by: "other")
        }
        let outcomes = try run.send(try ids.map { try run.change($0) })
        #expect(summaries(outcomes) == ["conflict: it was removed on Vercel", "verified"])
        #expect(run.platform.writes == ["change OLD1 OLD2"] && run.vault.open.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a change right after the write is a conflict, and both sides keep the response`(
        kind: Kind
    ) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        let fresh = run.creation("NEW")
        run.platform.events[.sending(2)] = { run.platform.edit(id) { $0.value = "theirs" } }
        let outcomes = try run.send([try run.change(id), fresh])
        #expect(
            summaries(outcomes) == [
                "conflict: it was changed on Vercel by another user right after it was sent",
                done(kind),
            ])
        #expect(run.vault.open.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a record made in the place of a creation explains its refusal`(kind: Kind) throws {
        let run = SenderRun(kind)
        run.platform.events[.sending(1)] = {
            run.platform.add("NEW", kind.targets, value: "theirs", by: "other")
        }
        let outcomes = try run.send([run.creation("new"), run.creation("NEXT")])
        let isTaken = kind == .separate
        #expect(summaries(outcomes)[1] == done(kind) && run.vault.open.isEmpty)
        // Only there is a name of other case the same one.
        #expect(run.platform.records.count == (isTaken ? 2 : 3))
        #expect(
            summaries(outcomes)[0]
                == (isTaken
                    ? "conflict: a variable for production was created on Vercel while the command was running by another user"
                    : "verified"))
        #expect(outcomes[0]?.isSent == !isTaken)
    }

    @Test func `a value that was changed right before an update without it is a conflict`()
        throws
    {
        let run = SenderRun(.shared)
        let id = run.platform.add("OLD", [.production, .preview], value: "a")
        run.platform.events[.sending(1)] = { run.platform.edit(id) { $0.value = "theirs" } }
        let outcomes = try run.send([
            try run.change(id, nil) { $0.scope = Scope(targets: .preview) }
        ])
        #expect(
            summaries(outcomes) == [
                "conflict: its value was changed on Vercel right before the update"
            ])
    }

    // MARK: Refusals

    @Test(arguments: Kind.allCases)
    func `a refused record does not keep the others back`(kind: Kind) throws {
        let run = SenderRun(kind)
        let ids = (1...3).map { run.platform.add("OLD\($0)", kind.targets, value: "a") }
        run.platform.forbidden = ["NEW2", "OLD2"]
        let outcomes = try run.send(
            try ids.map { try run.change($0) } + (1...3).map { run.creation("NEW\($0)") })
        let each = [done(kind), "failed: not accepted", done(kind)]
        #expect(summaries(outcomes) == each + each)
        #expect(run.vault.open.isEmpty && run.platform.records.count == 5)
        #expect(run.platform.writes.count == (kind == .shared ? 2 : 6))
        #expect(try run.record(ids[1]).value == "a")
    }

    @Test func `a refused request is sent again record by record`() throws {
        let run = SenderRun(.shared)
        let ids = (1...3).map { run.platform.add("OLD\($0)", [.production], value: "a") }
        run.platform.faults[1] = .refused
        run.platform.forbidden = ["OLD2"]
        let changed = try run.send(try ids.map { try run.change($0) })
        #expect(summaries(changed) == ["verified", "failed: not accepted", "verified"])
        let other = SenderRun(.shared)
        let left = (1...3).map { other.platform.add("OLD\($0)", [.production], value: "a") }
        other.platform.faults = [1: .refused, 3: .refused]
        let deleted = try other.send(try left.map { try other.deletion($0) })
        #expect(summaries(deleted) == ["verified", "failed: not accepted", "verified"])
        #expect(run.vault.open.isEmpty && other.vault.open.isEmpty)
    }

    // MARK: What is stored

    @Test(arguments: Kind.allCases)
    func `another value is repaired where it shows`(kind: Kind) throws {
        let run = SenderRun(kind)
        run.platform.faults[1] = .storing { $0.value = "other" }
        let outcomes = try run.send([run.creation("NEW")])
        #expect(summaries(outcomes) == [done(kind)] && run.vault.open.isEmpty)
        #expect(run.platform.records.map(\.value) == [kind == .shared ? "new" : "other"])
    }

    @Test func `a value that stays different is not agreed on`() throws {
        for (value, reason) in [
            ("other", "Vercel has a different value"), ("", "Vercel stored an empty value"),
        ] {
            let run = SenderRun(.shared)
            for number in 1...2 { run.platform.faults[number] = .storing { $0.value = value } }
            let outcomes = try run.send([run.creation("NEW")])
            #expect(summaries(outcomes) == ["failed: \(reason)"] && run.vault.open.isEmpty)
            let owner = try #require(outcomes[0]?.request.owner)
            #expect(run.vault.agreed(owner.variable)?.version == 0)
            #expect(run.platform.writes == ["create NEW", "change NEW"])
        }
    }

    @Test(arguments: Kind.allCases)
    func `another type, scope or comment is found, and the type is repaired where it can be`(
        kind: Kind
    ) throws {
        func send(
            _ type: VariableAttributes.Kind, _ edit: @escaping (inout VariableAttributes) -> Void
        ) throws -> [String?] {
            let run = SenderRun(kind)
            let id = run.platform.add("OLD", kind.targets, value: "a")
            for number in 1...2 { run.platform.faults[number] = .storing { edit(&$0.attributes) } }
            let outcomes = try run.send([try run.change(id) { $0.kind = type }])
            #expect(run.vault.open.isEmpty)
            return summaries(outcomes)
        }
        #expect(
            try send(.encrypted) { $0.comment = "theirs" } == [
                "conflict: it was changed on Vercel by your account while the command was running"
            ])
        #expect(
            try send(.encrypted) { $0.kind = .sensitive } == [
                "failed: Vercel stored it as sensitive instead of encrypted"
            ])
        #expect(
            try send(.sensitive) { $0.kind = .encrypted } == [
                "failed: Vercel stored it as encrypted instead of sensitive"
            ])
        #expect(
            try send(.encrypted) { $0.scope = Scope(targets: .development) } == [
                "failed: Vercel has it only for development"
            ])
    }

    @Test(arguments: Kind.allCases)
    func `another comment leaves both sides at what they had before`(kind: Kind) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.faults[1] = .storing { $0.attributes.comment = "theirs" }
        let request = try run.change(id)
        _ = try run.send([request])
        let owner = try #require(request.owner)
        guard case .seen(let seen?) = run.vault.known[owner.variable] else {
            Issue.record("the comment is not recorded as seen")
            return
        }
        #expect(seen.attributes.comment == "theirs")
        #expect(run.vault.witness(owner.variable) == request.before?.updatedAt)
    }

    @Test func `what was stored as readable is made sensitive by a second request`() throws {
        let run = SenderRun(.shared)
        run.platform.faults[1] = .storing { $0.attributes.kind = .encrypted }
        let outcomes = try run.send([run.creation("NEW", kind: .sensitive)])
        #expect(summaries(outcomes) == ["unverified"])
        #expect(run.platform.records.map(\.attributes.kind) == [.sensitive])
    }

    @Test(arguments: Kind.allCases)
    func `a write that was reported and not done is not taken for done`(kind: Kind) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        let gone = run.platform.add("GONE", kind.targets, value: "a")
        for number in 1...4 { run.platform.faults[number] = .ignored }
        let outcomes = try run.send(
            [try run.change(id), run.creation("NEW"), try run.deletion(gone)])
        #expect(
            summaries(outcomes) == [
                "failed: Vercel accepted the change but did not store it",
                "conflict: it was removed on Vercel right after it was sent",
                "failed: it is still on Vercel",
            ])
    }

    @Test(arguments: Kind.allCases)
    func `a change within one second of the last one is done, unless each change has its time`(
        kind: Kind
    ) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.pace = 0
        let outcomes = try run.send([try run.change(id)])
        #expect(
            summaries(outcomes) == [
                kind == .shared
                    ? "failed: Vercel accepted the change but did not store it" : "unverified"
            ])
        #expect(try run.record(id).value == "new" && run.vault.open.isEmpty)
    }
}
