import EnvOperations
import JSON
import Sandbox
import TestSupport
import Testing
import Vault

/// Two clones of a vault and a dashboard edit one project in random order. No change is lost
/// without a conflict, and in the end all three agree.
///
/// 20 rounds; with ZG_ENV_PROOF=full 1,000. The seed is printed.
@Suite("Two clones and a dashboard")
struct TwoClonesTests {
    @Test func `no change is lost without a conflict, and all three converge`() throws {
        let random = ProofRandom(77)
        let world = try SyncWorld(random: random)
        for round in 0..<Proof.count(short: 20, full: 1_000) {
            try world.begin()
            for _ in 0..<14 { try world.step() }
            try world.converge()
            if (round + 1).isMultiple(of: 100) { print("proof: \(round + 1) rounds") }
            guard world.problems.isEmpty else {
                Issue.record(
                    """
                    \(random.seedText), round \(round):
                    \(world.problems.joined(separator: "\n"))
                    after:
                    \(world.trace.joined(separator: "\n"))
                    """)
                return
            }
        }
        // Rounds without any interaction would prove nothing.
        let counts = world.counts
        print("proof: \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        for what in ["pull 0", "push 0", "pull 5", "push 5"] {
            #expect((counts[what] ?? 0) > 0, "\(counts)")
        }
    }
}

/// The two clones, the sandbox between them, and what each may assume.
final class SyncWorld {
    private let platform: SandboxHome
    private let clones: [VaultClone]
    private let template: (vault: [UInt8], log: [UInt8])
    private var random: ProofRandom
    private var valueNumber = 0
    /// The last agreement of each clone with the sandbox, by the sandbox's ids.
    private var seen: [[String: StoredVariable]] = []
    /// Each clone's record at the last agreement of both sides, by the vault's ids.
    private var agreed: [[Identifier: VaultClone.Content]] = []
    private(set) var trace: [String] = []
    private(set) var problems: [String] = []
    private(set) var counts: [String: Int] = [:]

    private static let keys = ["ONE", "TWO", "THREE"]

    init(random: ProofRandom) throws {
        self.random = random
        let platform = try SandboxHome()
        done(try platform.run("pull", "-p", "web"))
        template = (
            try platform.home.vaultBytes(),
            try platform.home.directory.read(Self.logName(platform.home))
        )
        clones = try ["a", "b"].map {
            try VaultClone($0, home: platform.home, url: platform.url)
        }
        self.platform = platform
    }

    private static func logName(_ home: CommandHome) throws -> String {
        let log = try json(home.run(["log", "--json"]))["log"]?.text ?? ""
        return String(log.dropFirst(home.directory.path.count + 1))
    }

    /// Starts a round with the seed and two fresh clones.
    func begin() throws {
        for record in platform.stored where record.key != "SEED_ONLY" {
            try platform.teammate.send("DELETE", "/v9/projects/web/env/\(record.id)")
        }
        for clone in clones { try clone.reset(to: template.vault, log: template.log) }
        seen = [[:], [:]]
        agreed = [[:], [:]]
        trace = []
        for number in clones.indices { try note(number) }
    }

    /// Somebody acts.
    func step() throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: try dashboard()
        case let who: try edit(who % 2)
        }
    }

    // MARK: In the dashboard

    private func dashboard() throws {
        // Two changes in one millisecond would have the same timestamp.
        platform.server.advanceClock(bySeconds: 0.005)
        let records = platform.stored.filter { $0.key != "SEED_ONLY" }
        let record = records.randomElement(using: &random)
        let action = Int.random(in: 0..<7, using: &random)
        // What the sandbox refuses did not happen.
        guard action > 1, let record else {
            let key = Self.keys.randomElement(using: &random) ?? "ONE"
            try dashboard("create \(key)") {
                try platform.create(
                    key, value(), ["target": targets()],
                    type: Int.random(in: 0..<6, using: &random) == 0 ? "sensitive" : "encrypted")
            }
            return
        }
        let path = "/v9/projects/web/env/\(record.id)"
        func change(_ what: String, _ body: JSONValue) throws {
            try dashboard("\(what) of \(record.key) \(record.id)") {
                try platform.teammate.send("PATCH", path, body)
            }
        }
        switch action {
        case 2, 3: try change("value", ["value": .string(value())])
        case 4: try change("targets", ["target": targets()])
        case 5:
            let body: JSONValue =
                Bool.random(using: &random)
                ? ["type": "sensitive"] : ["comment": .string(value())]
            try change("type or comment", body)
        default:
            try dashboard("delete \(record.key) \(record.id)") {
                try platform.teammate.send("DELETE", path)
            }
        }
    }

    private func dashboard(_ what: String, _ body: () throws -> Void) throws {
        let isDone = (try? body()) != nil
        trace.append("dashboard: \(what)\(isDone ? "" : " (refused)")")
    }

    private func value() -> String {
        valueNumber += 1
        return "value \(valueNumber)"
    }

    private func targets() -> JSONValue {
        let all: [[JSONValue]] = [
            ["production"], ["preview"], ["production", "preview"],
            ["production", "preview", "development"],
        ]
        return .array(all.randomElement(using: &random) ?? [])
    }

    // MARK: In a clone

    private func edit(_ number: Int) throws {
        let key = Self.keys.randomElement(using: &random) ?? "ONE"
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3: try set(key, in: number)
        case 3: _ = try run(number, ["rm", key, "-p", "web", "--all", "--yes"])
        case 4, 5: try push(number)
        default: try pull(number)
        }
    }

    private func set(_ key: String, in number: Int) throws {
        let file = try platform.home.directory.write(value(), to: "value")
        var arguments = ["set", key, "-p", "web", "--raw", "--from-file", file]
        let places = ["", "production", "preview", "production,preview"]
        if let place = places.randomElement(using: &random), !place.isEmpty {
            arguments += ["-t", place]
        }
        if Int.random(in: 0..<6, using: &random) == 0 { arguments += ["--type", "sensitive"] }
        _ = try run(number, arguments)
    }

    private func run(
        _ number: Int, _ arguments: [String]
    ) throws -> (status: Int32, output: [UInt8]) {
        let result = try clones[number].run(arguments)
        let words = arguments.joined(separator: " ")
        trace.append("\(clones[number].name): \(words) -> \(result.status)")
        counts["\(arguments[0]) \(result.status)", default: 0] += 1
        return result
    }

    /// A pull changes no record that was changed here since the last agreement, and removes none of
    /// those, also beside a conflict; without one the vault then equals the sandbox.
    private func pull(_ number: Int) throws {
        let before = try clones[number].records()
        let result = try run(number, ["pull", "-p", "web", "--yes", "--json"])
        let after = try clones[number].records()
        expect([0, 5].contains(result.status), "pull ended with \(result.status)")
        // A trace is dropped when production has the name again; it never had a value.
        for (id, old) in before where !old.variable.isTrace {
            let new = after[id]
            let isSame =
                new?.content == old.content && new?.variable.isLive == old.variable.isLive
            if isSame { continue }
            let keeps = new.map {
                $0.variable.isLive == old.variable.isLive
                    && $0.content.keeps(old.content, since: agreed[number][id])
            }
            expect(
                old.variable.isLive
                    && (keeps ?? false || agreed[number][id] == old.content),
                "a pull lost a local change of \(old.variable.name)")
        }
        if result.status == 0 { try expectPulled(after) }
        try note(number)
    }

    private func expectPulled(_ records: [Identifier: VaultClone.Record]) throws {
        let platform = platform.stored
        let byID = Dictionary(
            records.values.compactMap { record in record.variable.remote.map { ($0.id, record) } },
            uniquingKeysWith: { first, _ in first })
        for there in platform {
            guard let here = byID[there.id] else {
                expect(false, "a pull left out \(there.key)")
                continue
            }
            guard here.isUnchanged else { continue }
            expect(
                here.variable.attributes.scope.targets.names == there.targets,
                "after a pull \(there.key) has other targets")
            expect(
                there.type == "sensitive" || here.value == there.value,
                "after a pull \(there.key) has another value")
            expect(here.value != "", "\(there.key) became empty")
        }
        let ids = Set(platform.map(\.id))
        for record in records.values where record.isUnchanged {
            expect(
                ids.contains(record.variable.remote?.id ?? ""),
                "after a pull \(record.variable.name) is still there")
        }
    }

    /// A push changes or deletes no record that this clone has not seen in its current state, and
    /// with a conflict none at all.
    private func push(_ number: Int) throws {
        let before = platform.stored
        let result = try run(number, ["push", "-p", "web", "--yes", "--json"])
        let after = Dictionary(
            platform.stored.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        // 1: the type of a sensitive variable never changes.
        expect([0, 1, 2, 5].contains(result.status), "push ended with \(result.status)")
        if result.status == 2 {
            let said = try clones[number].said()
            expect(said.contains("This push needs --allow-weaker: "), "push refused: \(said)")
        }
        let isRefused = [2, 5].contains(result.status)
        if isRefused { expect(after.count == before.count, "sent, and refused") }
        for old in before where after[old.id] != old {
            expect(
                !isRefused && seen[number][old.id] == old,
                "a push overwrote a change of \(old.key) that it had not seen")
        }
        try note(number)
    }

    /// Records a clone's current agreement with the sandbox, from its vault.
    private func note(_ number: Int) throws {
        let there = Dictionary(
            platform.stored.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (id, record) in try clones[number].records() {
            guard let remote = record.variable.remote, let stored = there[remote.id] else {
                continue
            }
            let time = UInt64(stored.updatedAt)
            // All of a variable that became sensitive in the dashboard was pulled, except its
            // hidden value.
            let isTaken = stored.type == "sensitive" && time == remote.seenUpdatedAt
            guard time == remote.agreedUpdatedAt || isTaken else { continue }
            if time == remote.agreedUpdatedAt { seen[number][stored.id] = stored }
            if record.isUnchanged { agreed[number][id] = record.content }
        }
    }

    private func expect(_ isTrue: Bool, _ problem: @autoclosure () -> String) {
        if !isTrue { problems.append("\(problem()) (\(trace.last ?? ""))") }
    }

    // MARK: The end

    /// Both clones resolve their conflicts either way; then all three agree, and nothing is left to
    /// do.
    func converge() throws {
        guard problems.isEmpty else { return }
        for number in [0, 1] { try settle(number, mayOverwrite: true) }
        // The other clone has to resolve again what one overwrites, since a sensitive value is
        // hidden: in the end one has to yield.
        for number in [0, 1, 0] { try settle(number, mayOverwrite: false) }
        // By target: which of them share a record is each side's own affair.
        let there = Dictionary(
            platform.stored.flatMap { stored in
                stored.targets.map { ("\(stored.key) \($0)", stored) }
            },
            uniquingKeysWith: { first, _ in first })
        for (number, clone) in clones.enumerated() {
            let records = try clone.records().values.filter(\.variable.isLive)
            let here = records.flatMap { record in
                record.variable.attributes.scope.targets.names.map {
                    ("\(record.variable.name) \($0)", record)
                }
            }
            expect(
                here.map(\.0).sorted() == there.keys.sorted(),
                "\(clone.name) has other targets than Vercel: \(here.map(\.0).sorted()), \(there.keys.sorted())"
            )
            for (target, here) in here where there[target]?.type != "sensitive" {
                expect(
                    here.value == there[target]?.value, "\(clone.name) has another \(target)")
            }
            for here in records {
                let state = SyncState(of: here.variable)
                expect(
                    state == .synced || state == .unreadable,
                    "\(here.variable.name) of \(clone.name) is \(state)")
            }
            for command in ["pull", "push"] {
                let result = try run(number, [command, "-p", "web", "--yes", "--json"])
                let report = try JSONDocument(result.output)
                let isQuiet = ["created", "updated", "deleted", "conflicts"].allSatisfy {
                    report[$0] == []
                }
                expect(result.status == 0 && isQuiet, "\(command) still finds something: \(report)")
            }
        }
    }

    /// Pulls and pushes until both are done; conflicts are resolved for one side, and what neither
    /// can resolve, such as two overlapping records, by removing the key here.
    private func settle(_ number: Int, mayOverwrite: Bool) throws {
        for attempt in 0..<6 {
            let pulled = try run(number, ["pull", "-p", "web", "--yes", "--json"])
            if pulled.status == 5 {
                try resolve(
                    number, try JSONDocument(pulled.output), mayOverwrite, isLast: attempt > 2)
                continue
            }
            let pushed = try run(
                number, ["push", "-p", "web", "--yes", "--allow-weaker", "--json"])
            if pushed.status == 0 { return }
            try resolve(
                number, try JSONDocument(pushed.output), mayOverwrite, isLast: attempt > 2)
        }
        let said = try clones[number].said()
        expect(false, "\(clones[number].name) does not come to an end: \(said)")
    }

    private func resolve(
        _ number: Int, _ report: JSONDocument, _ mayOverwrite: Bool, isLast: Bool
    ) throws {
        let keys = Set(report.keys("conflicts") + report.keys("failed")).sorted()
        let takesTheirs = Bool.random(using: &random) || !mayOverwrite
        let commands: [[String]] =
            isLast
            ? keys.map { ["rm", $0, "-p", "web", "--all", "--yes"] } + [["push"]]
            : [[takesTheirs ? "pull" : "push"]]
        for command in commands {
            _ = try run(
                number,
                command.count > 1
                    ? command : command + keys + ["-p", "web", "--force", "--yes", "--json"])
        }
    }
}
