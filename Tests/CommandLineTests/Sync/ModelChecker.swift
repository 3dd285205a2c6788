import EnvOperations
import Foundation
import Sandbox
import TestSupport
import Vault

/// Checks what commands did against the promises of docs/sync.md.
struct ModelChecker {
    typealias Stored = StoredVariable

    /// Requests that change a value that Vercel never shows, and whose outcome the machine does not
    /// know.
    struct Attempt {
        var names: Set<String>
        /// The period, by Vercel's clock in milliseconds, in which a change may have been this one.
        let times: ClosedRange<Int64>
    }

    /// A write whose command was killed before the answer, and the vault at that time.
    struct Begun {
        let attempt: Attempt
        let vault: ModelMachine.Contents
        /// The times of change that it had listed before, by id.
        let listed: [String: Int64]
    }

    /// What one machine knows.
    private struct Hearing {
        var attempts: [Attempt] = []
        /// The last one, until a command has looked up its outcome.
        var begun: Begun?
        /// Records that somebody declared to be as in the vault, with their time of change.
        var asserted: [String: Int64] = [:]
        /// Records that a push was to delete or change by force and may not have, with their time of
        /// change.
        var condemned: [String: Int64] = [:]
    }

    /// Whether the promises of a command's advice are checked as well.
    static let followsAdvice =
        ProcessInfo.processInfo.environment["ZG_ENV_MODEL_ADVICE"] == "follow"

    private var hearings: [Hearing]
    /// The rotations of each machine, in order.
    var rotations: [Int: [(key: String, new: String)]] = [:]
    private let ownUser: String
    /// All values ever written.
    var values: Set<String> = []
    private(set) var counts = ModelCounts()
    var problems: [String] = []

    init(machines: Int, ownUser: String) {
        hearings = Array(repeating: Hearing(), count: machines)
        self.ownUser = ownUser
    }

    /// Checks everything that a command did.
    mutating func check(_ run: ModelRun) {
        count(run)
        checkEnd(of: run)
        checkVault(of: run)
        checkWords(of: run)
        checkWritePath(of: run)
        checkFirstWrite(of: run)
        checkUpserts(of: run)
        checkSuccessors(of: run)
        checkLosses(of: run)
        checkUnsent(of: run)
        checkIdentity(of: run, hearings[run.command.machine].attempts)
        checkOwnWrite(of: run, hearings[run.command.machine].begun)
        learn(from: run)
        checkClaims(of: run)
        checkSuccess(of: run)
        checkHidden(of: run)
        checkManaged(of: run)
        checkSecrets(of: run)
    }

    mutating func problem(_ text: String) { problems.append(text) }

    mutating func count(_ what: String) { counts.add(what) }

    private mutating func count(_ run: ModelRun) {
        counts.add("commands")
        counts.add("requests", run.moments.count)
        counts.add("\(run.command.name) \(run.end)")
        if run.isKilled { counts.add("kills") }
        for fault in run.moments.compactMap(\.fault) {
            counts.add("faults", fault.components(separatedBy: ", ").count)
        }
    }

    // MARK: Every command

    private mutating func checkEnd(of run: ModelRun) {
        if run.result.timedOut { problem("it did not end") }
        if case .signalled(let signal) = run.result.end, !run.isKilled, !run.result.timedOut {
            problem("it ended with signal \(signal)")
        }
        let changes = run.moments.filter { $0.isWrite && $0.asked != $0.served }
        if run.words.contains("Nothing was sent"), !changes.isEmpty {
            problem(
                "it says that nothing was sent, and \(changes.map(\.request.path)) changed something"
            )
        }
    }

    /// A vault never loses a value.
    private mutating func checkVault(of run: ModelRun) {
        let lost = run.before.values.subtracting(run.after.values)
        if !lost.isEmpty { problem("the vault has lost \(lost.sorted())") }
    }

    /// No message contains a value, except those that docs/threat-model.md lists as not withheld.
    private mutating func checkWords(of run: ModelRun) {
        let text = run.words.lowercased()
        // All values have a distinctive form.
        let echoes = run.moments.filter { $0.fault?.contains("echoes-value") ?? false }
        guard !run.words.isEmpty, echoes.allSatisfy(\.isAboutVariables) else { return }
        let isRefusedChange = echoes.contains { $0.request.method != "GET" }
        for value in isRefusedChange ? run.before.values : values {
            let bytes = Array(value.utf8)
            let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            let base64 = Data(bytes).base64EncodedString()
            if text.contains(value) || text.contains(hex) || run.words.contains(base64) {
                problem("it shows the value \(value): \(run.words)")
            }
        }
    }

    // MARK: Writes

    /// A listing is fresh for a second, plus what a busy machine takes.
    private static let listingAge: Duration = .milliseconds(1_900)

    /// Before each change there is a listing, unless the last one is younger than a second and
    /// later than the last question, wait and retry.
    private mutating func checkWritePath(of run: ModelRun) {
        for place in run.moments.indices where run.moments[place].isChange {
            guard !isFresh(at: place, of: run) else { continue }
            problem(
                "\(run.moments[place].request.method) \(run.moments[place].request.path) (request \(place + 1)) without a listing right before it"
            )
        }
    }

    /// If a record turns out to be another one than planned before the first write, nothing is
    /// written.
    private mutating func checkFirstWrite(of run: ModelRun) {
        guard run.command.name == "push", let plan = run.firstListing,
            let first = run.moments.indices.first(where: { run.moments[$0].isWrite }),
            let listing = run.listing(before: first), listing > plan
        else { return }
        let conflicts = Set(run.report?.keys("conflicts") ?? [])
        for old in run.moments[plan].listed where conflicts.contains(old.key) {
            let now = run.moments[listing].listed.first { $0.id == old.id }
            guard now?.updatedAt != old.updatedAt,
                let record = run.before.record(of: old.id), record.sync == .ahead
            else { continue }
            // A push whose answer got lost had sent it: nothing is left to write.
            if record.value == old.value, old.kind == record.variable.attributes.kind.name {
                continue
            }
            problem("\(old.key) was seen to have changed, and others were sent")
        }
    }

    /// Returns whether the last listing before a request is fresh enough for it.
    func isFresh(at place: Int, of run: ModelRun) -> Bool {
        guard let listing = run.listing(before: place) else { return false }
        if let asked = run.interludeAt, run.moments[listing].arrivedAt < asked { return false }
        let age = run.moments[place].arrivedAt - run.moments[listing].arrivedAt
        return age < Self.listingAge
            && !run.moments[(listing + 1)..<place].contains(where: \.makesWait)
    }

    // MARK: Losses

    /// A value that this machine does not have is changed or deleted only by somebody who knew of
    /// it.
    private mutating func checkLosses(of run: ModelRun) {
        let own = run.before.values.union(run.after.values)
        for place in run.moments.indices where run.moments[place].isWrite {
            let left = run.moments[place].served
            for old in run.moments[place].asked
            where !old.value.isEmpty && !own.contains(old.value)
                && !left.contains(where: { $0.value == old.value })
            {
                guard let reason = excuse(for: old, at: place, of: run) else {
                    problem(
                        "request \(place + 1), \(run.moments[place].request.method) \(run.moments[place].request.path), took \(old.value) of \(old.key) \(old.targets) (\(old.id)), which nobody here had seen"
                    )
                    continue
                }
                counts.add(reason)
            }
        }
    }

    /// The reason why a value could be lost: its record was known, or named with `--force` or
    /// `--prune`; or a case that docs/sync.md calls possible. Nil without one.
    private func excuse(for old: Stored, at place: Int, of run: ModelRun) -> String? {
        // A value that Vercel never shows: a vault that has seen its record cannot have it.
        if !old.isShown, let record = run.before.record(of: old.id),
            record.variable.remote?.agreedUpdatedAt == UInt64(old.updatedAt)
        {
            return "replaced knowingly"
        }
        if run.command.has("--force") || run.command.has("--prune"),
            let first = run.firstListing, run.moments[first].listed.contains(old)
        {
            return "replaced by force"
        }
        // docs/sync.md: each push retries what a push could not delete, and finishes a killed one.
        if isCondemned(old, on: run.command.machine) {
            return "replaced by force, later"
        }
        let beginning = run.beginning(of: old)
        if let listing = run.listing(before: place), beginning > 4 * listing + 1,
            isFresh(at: place, of: run)
        {
            return "window of a second"
        }
        guard !old.isShown, isOwn(old) else { return nil }
        let attempts =
            hearings[run.command.machine].attempts + Self.attempts(of: run, before: place)
        let isOwn = attempts.contains { attempt in
            attempt.times.contains(old.updatedAt)
                && (attempt.names.contains(old.id) || attempt.names.contains(old.key))
        }
        return isOwn ? "window of an unheard write" : nil
    }

    /// The periods in which writes without an answer may have arrived, by docs/sync.md.
    static func attempts(of run: ModelRun, before end: Int) -> [Attempt] {
        var attempts = run.moments.indices.prefix(end).compactMap { place -> Attempt? in
            let moment = run.moments[place]
            guard moment.isWrite, !run.isHeard(place), let listing = run.listing(before: place)
            else { return nil }
            let after = run.moments.indices.prefix(end).first {
                $0 > place && run.moments[$0].isListing && run.isHeard($0)
            }
            return Attempt(
                names: moment.names,
                times: times(
                    from: run.moments[listing].date, until: after.map { run.moments[$0].date }))
        }
        if end == run.moments.count, let names = run.lostNames, let listing = run.lastListing {
            attempts.append(
                Attempt(names: names, times: times(from: run.moments[listing].date, until: nil)))
        }
        return attempts
    }

    /// From one listing to the next; a killed program has none.
    private static func times(from before: Int64, until after: Int64?) -> ClosedRange<Int64> {
        // `Date` has a resolution of a second.
        let start = before / 1_000 * 1_000
        return start...max(start, after.map { $0 / 1_000 * 1_000 + 1_000 } ?? start + 51_000)
    }

    /// Returns whether the machines' user was the last to write a record, as far as Vercel shows.
    func isOwn(_ record: Stored) -> Bool {
        (record.updatedBy ?? record.createdBy ?? ownUser) == ownUser
    }

    // MARK: A machine's knowledge

    /// Returns whether a push by force was to change or delete a record as it is.
    func isCondemned(_ record: Stored, on machine: Int) -> Bool {
        hearings[machine].condemned[record.id] == record.updatedAt
    }

    private mutating func learn(from run: ModelRun) {
        let machine = run.command.machine
        let attempts = Self.attempts(of: run, before: run.moments.count)
        hearings[machine].attempts += attempts
        if run.isKilled, let place = run.moments.indices.last, run.moments[place].isWrite,
            !run.isHeard(place), var attempt = attempts.last
        {
            // A lost request may have had any name; only those in the journal were begun.
            if run.lostNames != nil {
                attempt.names.formIntersection(
                    run.after.sends.flatMap { [$0.key, $0.target?.id ?? $0.key] })
            }
            let listed = run.listing(before: place).map { run.moments[$0].listed } ?? []
            hearings[machine].begun = Begun(
                attempt: attempt, vault: run.after,
                listed: Dictionary(
                    listed.map { ($0.id, $0.updatedAt) }, uniquingKeysWith: { first, _ in first }))
        } else if run.firstListing != nil, !["pull", "list"].contains(run.command.name) {
            hearings[machine].begun = nil
        }
        if run.command.has("--force"), let plan = run.firstListing {
            // A killed one may have heard that a value was stored which was not.
            let writes = run.moments.filter {
                $0.isWrite && (run.isKilled || $0.request.method == "DELETE")
            }
            let names = writes.reduce(into: run.lostNames ?? []) { $0.formUnion($1.names) }
            for old in run.moments[plan].listed where names.contains(old.id) {
                hearings[machine].condemned[old.id] = old.updatedAt
            }
            // What a killed one had begun, but not what an earlier push had.
            let earlier = Set(run.before.sends.map(\.id))
            for send in run.after.sends where run.isKilled && !earlier.contains(send.id) {
                guard let target = send.target else { continue }
                hearings[machine].condemned[target.id] = Int64(clamping: target.updatedAt)
            }
        }
        // `pull KEY --force` of a hidden value declares both sides equal.
        if run.command.name == "pull", run.command.has("--force"), run.status == 0 {
            for key in run.report?.keys("unreadable") ?? [] {
                for record in run.after.records where record.variable.name == key {
                    guard let remote = record.variable.remote else { continue }
                    hearings[machine].asserted[remote.id] = Int64(clamping: remote.agreedUpdatedAt)
                }
            }
        }
    }

    /// What a vault calls synced is what Vercel had when this machine listed it last.
    private mutating func checkClaims(of run: ModelRun) {
        // A failed command, and the reads of `harden` and `rotate`, need not be recorded for
        // records that they do not change.
        let isRefused =
            run.status == 5 && !run.result.output.isEmpty
            && (run.report?["conflicts"] != nil || run.moments.allSatisfy(\.isAnswered))
        let keepsAll =
            (run.status == 0 || isRefused)
            && (!["harden", "rotate"].contains(run.command.name)
                || run.moments.contains(where: \.isWrite))
        let listed = run.lastListing.map { place in
            Dictionary(
                run.moments[place].listed.map { ($0.id, $0) },
                uniquingKeysWith: { first, _ in first })
        }
        for record in run.after.records {
            guard let remote = record.variable.remote else { continue }
            let isChanged = run.before.record(like: record)?.variable.remote != remote
            guard let listed else {
                // A record may become out of sync without a request, but not synced.
                if isChanged, record.sync == .synced {
                    problem("list calls \(record.name) synced since nobody looked")
                }
                continue
            }
            guard keepsAll || isChanged, !isUnlisted(record, run) else { continue }
            let there = heard(of: remote, run) ?? listed[remote.id]
            switch record.sync {
            case .synced where record.variable.isRemovedEverywhere:
                if listed[remote.id] != nil {
                    problem("\(record.name) counts as gone, and is there")
                }
            case .synced: checkClaim(of: record, remote, there, run)
            case .unreadable:
                if let there, there.isShown, there.type != "system",
                    UInt64(there.updatedAt) == remote.agreedUpdatedAt, record.variable.isLive
                {
                    problem("\(record.name) counts as unreadable, and Vercel shows such values")
                }
            case .local, .ahead, .behind, .diverged: break
            }
        }
    }

    /// What a killed command recorded: it may have listed the record again since.
    private func heard(of remote: RemoteState, _ run: ModelRun) -> Stored? {
        guard run.isKilled else { return nil }
        let listings = run.moments.indices.filter { run.moments[$0].isListing && run.isHeard($0) }
        return listings.reversed().compactMap { place in
            run.moments[place].listed.first {
                $0.id == remote.id && UInt64($0.updatedAt) == remote.agreedUpdatedAt
            }
        }.first
    }

    /// Returns whether somebody set a value right before this command changed something else in its
    /// record: a hidden value cannot reveal that.
    private func hidWithin(_ run: ModelRun, _ there: Stored) -> Bool {
        run.moments.indices.contains { place in
            guard run.moments[place].isChange, isFresh(at: place, of: run),
                let listing = run.listing(before: place),
                let old = run.moments[place].asked.first(where: { $0.id == there.id })
            else { return false }
            return run.moments[place].served.contains { $0.id == there.id && $0 != old }
                && old.value == there.value && run.beginning(of: old) > 4 * listing + 1
        }
    }

    private mutating func checkClaim(
        of record: ModelMachine.Contents.Record, _ remote: RemoteState, _ there: Stored?,
        _ run: ModelRun
    ) {
        func say(_ what: String) { problem("list calls \(record.name) synced, and \(what)") }
        guard let there else { return say("Vercel does not have it") }
        guard UInt64(there.updatedAt) == remote.agreedUpdatedAt else {
            return say(
                "Vercel's time of change is \(there.updatedAt) in place of \(remote.agreedUpdatedAt)"
            )
        }
        let attributes = record.variable.attributes
        guard there.key == record.variable.name else { return say("it is \(there.key) there") }
        guard Set(there.targets) == Set(attributes.scope.targets.names) else {
            return say("it is for \(there.targets) there")
        }
        guard there.kind == attributes.kind.name else { return say("it is \(there.kind) there") }
        guard (there.comment ?? "") == (attributes.comment ?? "") else {
            return say("its comment there is another one")
        }
        guard there.value != record.value else { return }
        if hearings[run.command.machine].asserted[there.id] == there.updatedAt {
            return counts.add("taken for the same")
        }
        // Vercel stored nothing of the value, hides it, and answers as if it had: this cannot be
        // detected.
        if !there.isShown, there.value.isEmpty { return counts.add("emptied unseen") }
        // Values are read after the listing.
        let start = run.lastListing.map { 4 * $0 + 1 } ?? run.moments.count * 4
        let later = (start..<max(start, run.moments.count * 4)).contains { time in
            run.stored(at: time).contains { $0.id == there.id && $0.value == record.value }
        }
        if later { return counts.add("read later than listed") }
        if !there.isShown, hidWithin(run, there) {
            // Later commands cannot see it either.
            hearings[run.command.machine].asserted[there.id] = there.updatedAt
            return counts.add("window of a second, hidden")
        }
        say("Vercel has \(there.value) in place of \(record.value ?? "no value")")
    }
}
