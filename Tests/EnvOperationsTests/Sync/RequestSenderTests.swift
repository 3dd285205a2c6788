import Testing

@testable import EnvOperations
@testable import Vault

/// The sender over two kinds of platforms: one as Vercel, and one that shows no value and knows a
/// change only by the second.
@Suite("Sending requests")
struct RequestSenderTests {
    typealias Kind = MemoryPlatform.Kind

    /// How a request ends whose value was sent and stored.
    private func done(_ kind: Kind) -> String { kind == .shared ? "verified" : "unverified" }

    private func summaries(_ outcomes: [RequestOutcome?]) -> [String?] { outcomes.map(\.?.summary) }

    @Test(arguments: Kind.allCases)
    func `each request is carried out, and the vault knows what is there`(kind: Kind) throws {
        let run = SenderRun(kind)
        let (old, gone) = (
            run.platform.add("OLD", kind.targets, value: "a"),
            run.platform.add("GONE", kind.targets, value: "b")
        )
        let requests = [
            try run.change(old) { $0.comment = "note" }, run.creation("Fresh", comment: "first"),
            try run.deletion(gone),
        ]
        let outcomes = try run.send(requests)
        #expect(summaries(outcomes) == [done(kind), done(kind), "verified"])
        #expect(
            run.platform.records.map { [$0.key, $0.value, $0.attributes.comment ?? ""] } == [
                ["OLD", "new", "note"], [kind == .shared ? "Fresh" : "FRESH", "new", "first"],
            ])
        #expect(run.vault.open.isEmpty)
        for request in requests.prefix(2) {
            let owner = try #require(request.owner)
            #expect(run.vault.agreed(owner.variable)?.version == 7)
        }
        #expect(try run.vault.gone == [#require(requests[2].before).id])
    }

    @Test(arguments: Kind.allCases)
    func `requests are as large as the platform takes them`(kind: Kind) throws {
        let run = SenderRun(kind)
        let ids = (1...4).map { run.platform.add("OLD\($0)", kind.targets, value: "a") }
        let left = (1...4).map { run.platform.add("LEFT\($0)", kind.targets, value: "a") }
        let outcomes = try run.send(
            try ids.map { try run.change($0) } + (1...4).map { run.creation("NEW\($0)") }
                + left.map { try run.deletion($0) })
        #expect(Set(summaries(outcomes)) == [done(kind), "verified"])
        #expect(run.platform.writes.count == (kind == .shared ? 6 : 12))
        #expect(run.platform.records.count == 8 && run.vault.open.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a record that the vault does not have is deleted, and production remembers it`(
        kind: Kind
    ) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("GONE", kind.targets, value: "b")
        let outcomes = try run.send([try run.deletion(id, isKnown: false)])
        #expect(summaries(outcomes) == ["verified"] && run.vault.departed == [id])
        #expect(run.vault.known.isEmpty && run.vault.open.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `an old record goes only after its successor is there`(kind: Kind) throws {
        for isRefused in [false, true] {
            let run = SenderRun(kind)
            let old = run.platform.add("OLD", kind.targets, value: "a")
            let new = run.creation("NEW")
            if isRefused { run.platform.forbidden = ["NEW"] }
            let outcomes = try run.send(
                [new, try run.deletion(old, waitsFor: [new.key], isKnown: false)])
            #expect(run.platform.records.map(\.key) == [isRefused ? "OLD" : "NEW"])
            #expect(
                summaries(outcomes)[1]
                    == (isRefused
                        ? "failed: not deleted, because the variable does not exist under its new name"
                        : "verified"))
            #expect(run.vault.open.isEmpty)
        }
    }

    // MARK: Responses that are lost

    @Test(arguments: Kind.allCases)
    func `a lost response of a creation never makes two records`(kind: Kind) throws {
        for isDone in [true, false] {
            let run = SenderRun(kind)
            run.platform.faults[1] = .lost(isDone: isDone)
            let outcomes = try run.send([run.creation("NEW")])
            #expect(summaries(outcomes) == [done(kind)])
            #expect(outcomes[0]?.isPresumed == isDone)
            #expect(run.platform.records.count == 1 && run.vault.open.isEmpty)
            #expect(run.platform.writes.count == (isDone ? 1 : 2))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a creation that is never answered stays in the journal`(kind: Kind) throws {
        let run = SenderRun(kind)
        for number in 1...3 { run.platform.faults[number] = .lost(isDone: false) }
        let outcomes = try run.send([run.creation("NEW")])
        #expect(summaries(outcomes) == ["failed: no response"])
        #expect(run.vault.open.map(\.key) == ["NEW"] && run.platform.writes.count == 3)
    }

    @Test(arguments: Kind.allCases)
    func `a lost response of a change is compared, or sent again where no value shows`(
        kind: Kind
    ) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.faults[1] = .lost(isDone: true)
        let outcomes = try run.send([try run.change(id)])
        #expect(summaries(outcomes) == [done(kind)])
        #expect(try run.record(id).value == "new" && run.vault.open.isEmpty)
        #expect(run.platform.writes.count == (kind == .shared ? 1 : 2))
    }

    @Test(arguments: Kind.allCases)
    func `a change that was not carried out fails, and the rest is not sent`(kind: Kind) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.faults[1] = .lost(isDone: false)
        let outcomes = try run.send([try run.change(id), run.creation("NEW")])
        #expect(summaries(outcomes) == ["failed: no response", "failed: not sent"])
        #expect(outcomes.map(\.?.isSent) == [true, false])
        // The journal has it, with the time by which it was over.
        #expect(run.vault.open.map(\.target?.id) == [id])
        #expect(run.vault.open.allSatisfy { $0.sentUntil >= $0.sentAfter })
        #expect(run.platform.records.count == 1)
    }

    @Test(arguments: Kind.allCases)
    func `a hidden change without response is another user's if the author is unknown`(
        kind: Kind
    ) throws {
        let run = SenderRun(kind)
        run.author = ""
        let id = run.platform.add("OLD", kind.targets, value: "a", kind: .sensitive)
        run.platform.faults[1] = .lost(isDone: true)
        let outcomes = try run.send([try run.change(id)])
        #expect(summaries(outcomes) == ["conflict: it was changed on Vercel"])
        #expect(run.platform.writes.count == 1 && run.vault.open.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a lost response of a deletion stays in the journal`(kind: Kind) throws {
        for isDone in [true, false] {
            let run = SenderRun(kind)
            let id = run.platform.add("OLD", kind.targets, value: "a")
            run.platform.faults[1] = .lost(isDone: isDone)
            let outcomes = try run.send([try run.deletion(id)])
            #expect(summaries(outcomes) == ["failed: no response"])
            #expect(run.vault.open.map(\.action) == [.delete])
            #expect(run.platform.records.isEmpty == isDone)
        }
    }

    @Test(arguments: Kind.allCases)
    func `what the response leaves out is looked up`(kind: Kind) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.faults = [1: .silent, 2: .silent]
        let outcomes = try run.send([try run.change(id), run.creation("NEW")])
        #expect(summaries(outcomes) == [done(kind), done(kind)])
        #expect(outcomes.allSatisfy { $0?.isPresumed == true } && run.vault.open.isEmpty)
    }

    // MARK: Ends of the process

    @Test(arguments: Kind.allCases)
    func `wherever the process ends, the journal covers what may have changed`(
        kind: Kind
    ) throws {
        for (isLost, isStored) in [(false, true), (true, true), (false, false)] {
            let run = SenderRun(kind)
            let platform = run.platform
            let (old, gone) = (
                platform.add("OLD", kind.targets, value: "a"),
                platform.add("GONE", kind.targets, value: "b")
            )
            if isLost { platform.faults[2] = .lost(isDone: true) }
            if !isStored { platform.faults[1] = .storing { $0.value = "other" } }
            let before = platform.records
            var stops = 0
            platform.observer = { moment in
                if case .checking = moment { return }
                stops += 1
                #expect(Self.uncovered(run, before).isEmpty, "\(moment)")
            }
            _ = try run.send([
                try run.change(old), run.creation("NEW"), try run.deletion(gone),
            ])
            #expect(stops >= 6 && Self.uncovered(run, before).isEmpty && run.vault.open.isEmpty)
        }
    }

    /// Returns the names of records that changed and of which the vault has neither a response nor
    /// a journal entry.
    private static func uncovered(
        _ run: SenderRun, _ before: [MemoryPlatform.Record]
    ) -> [String] {
        let now = run.platform.records
        let known = run.vault.known.values.compactMap { knowledge -> VercelRecord? in
            switch knowledge {
            case .sent(let record, _, _), .agreed(let record, _, _), .matched(let record, _, _):
                record
            case .gone, .released, .seen: nil
            }
        }
        let isGoneKnown = !run.vault.gone.isEmpty
        let changed = now.filter { record in
            !before.contains(record)
                && !known.contains { $0.id == record.id }
                && !run.vault.open.contains {
                    $0.target?.id == record.id
                        || $0.action == .create
                            && run.platform.traits.isSameName($0.key, record.key)
                }
        }
        let gone = before.filter { record in
            !now.contains { $0.id == record.id } && !isGoneKnown
                && !run.vault.open.contains { $0.action == .delete && $0.target?.id == record.id }
        }
        return (changed + gone).map(\.key)
    }

    @Test(arguments: Kind.allCases)
    func `an entry is renewed if its attempt begins late`(kind: Kind) throws {
        let run = SenderRun(kind)
        let id = run.platform.add("OLD", kind.targets, value: "a")
        run.platform.events[.checking(1)] = { run.platform.clock += 20_000 }
        var entry: SendEntry?
        run.platform.observer = { if $0 == .sending(1) { entry = run.vault.open.first } }
        let outcomes = try run.send([try run.change(id)])
        #expect(summaries(outcomes) == [done(kind)])
        #expect(entry?.sentAfter == run.platform.time - 1_000 && run.vault.open.isEmpty)
    }
}
