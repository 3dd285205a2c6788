import EnvOperations
import Sandbox
import TestSupport
import Vault

/// Chooses the next step by the seed and the current state.
struct ModelGenerator {
    typealias Stored = StoredVariable

    static let keys = ["ONE", "TWO", "THREE", "FOUR"]
    static let targets = [
        ["production"], ["preview"], ["production", "preview"], ["development"],
        ["production", "preview", "development"],
    ]

    private var random: ProofRandom
    private var valueNumber = 0
    private(set) var stored: [Stored] = []
    /// The requests that would send this.
    private var likely: [String] = []
    /// Its records in use: the key and the targets.
    private var known: [(key: String, targets: [String])] = []
    /// Keys that the current machine has changed and not pushed.
    private var changed: Set<String> = []
    /// The keys that blocked a machine's last push or pull.
    private var stuck: [Int: [String]] = [:]
    /// A machine whose last writes had no answer, and their keys.
    private var unanswered: (machine: Int, keys: Set<String>)?
    /// Whether a machine has an open rotation.
    private var openRotations: Set<Int> = []

    /// What a sequence has more of than others: events that rarely coincide by chance do so often
    /// in some.
    private struct Mood {
        /// Chances in percent.
        var (rivalry, faults, kills) = (25, 45, 22)
        /// How many of ten eligible values are sensitive.
        var sensitives = 5
        /// Numbers that select a few kinds of faults; none for all kinds.
        var favourites: [Int] = []
    }

    private var mood = Mood()
    /// The rest of the current passage.
    private var passage: ArraySlice<ModelStep> = []
    /// The passage that this sequence always has, and the number of steps before it.
    private var assigned: (passage: ModelPassage, delay: Int)?
    /// What its sequence has beside that.
    let circumstance: ModelCircumstance?
    /// Whether production Secrets must be separate.
    var isSeparated = false
    /// The passages that have begun.
    private(set) var begun: [ModelPassage] = []

    /// - Parameter number: The sequence's number, which selects its passage.
    init(random: ProofRandom, number: Int) {
        self.random = random
        circumstance = ModelCircumstance(sequence: number)
        let passages = ModelPassage.allCases
        assigned = (passages[number % passages.count], Int.random(in: 0...5, using: &self.random))
        mood.rivalry = pick([5, 25, 50], or: 25)
        mood.faults = pick([20, 45, 70], or: 45)
        mood.kills = pick([5, 22, 40], or: 22)
        mood.sensitives = pick([1, 5, 5, 9], or: 5)
        if chance(75) {
            mood.favourites = (0..<3).map { _ in Int.random(in: 0..<1_000, using: &self.random) }
        }
    }

    /// The kinds of these that this sequence uses.
    private func favoured<T>(_ items: [(Int, T)]) -> [(Int, T)] {
        mood.favourites.isEmpty
            ? items : mood.favourites.map { (1, items[$0 % items.count].1) }
    }

    // MARK: Chance

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    mutating func number(in range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    mutating func pick<T>(_ items: [T]) -> T? { items.randomElement(using: &random) }

    mutating func pick<T>(_ items: [T], or other: T) -> T {
        items.randomElement(using: &random) ?? other
    }

    /// Chooses an element, weighted by its number.
    mutating func weighted<T>(_ items: [(Int, T)], or other: T) -> T {
        var rest = Int.random(in: 0..<max(items.reduce(0) { $0 + $1.0 }, 1), using: &random)
        for (weight, item) in items {
            if rest < weight { return item }
            rest -= weight
        }
        return other
    }

    mutating func value() -> String {
        valueNumber += 1
        let letters = "bcdfghjkmnpqrstvwxz"
        let tail = (0..<5).map { _ in String(letters.randomElement(using: &random) ?? "q") }
            .joined()
        return "value-\(valueNumber)-\(tail)"
    }

    private mutating func scope() -> [String] {
        weighted(
            [
                (4, Self.targets[0]), (2, Self.targets[1]), (4, Self.targets[2]),
                (1, Self.targets[3]), (2, Self.targets[4]),
            ], or: Self.targets[0])
    }

    private mutating func type(for targets: [String]) -> String {
        targets.contains("development")
            ? weighted([(4, "encrypted"), (1, "plain")], or: "encrypted")
            : weighted(
                [
                    (8 - mood.sensitives * 8 / 10, "encrypted"), (1, "plain"),
                    (mood.sensitives, "sensitive"),
                ], or: "encrypted")
    }

    private mutating func key() -> String {
        chance(15) ? pick(["FIRST", "HIDDEN"], or: "FIRST") : pick(Self.keys, or: "ONE")
    }

    // MARK: Steps

    /// Every sequence begins with both kinds of variables, which all machines have seen.
    private var prelude: ArraySlice<ModelStep> =
        [
            .act("create,key=FIRST,value=value-0-first,targets=production+preview"),
            .act("create,key=HIDDEN,value=value-0-hidden,targets=production,type=sensitive"),
        ]
        + ModelScript.names.indices.map {
            .command(ModelCommand(machine: $0, words: ["pull", "-p", "web", "--yes", "--json"]))
        }

    /// Returns the next step.
    ///
    /// - Parameters:
    ///   - stored: The state of Vercel.
    ///   - isHidden: Whether production variables are hidden from the machines.
    ///   - vaults: The state of the machines.
    mutating func step(
        stored: [Stored], isHidden: Bool, vaults: [ModelMachine.Contents]
    ) -> ModelStep {
        self.stored = stored
        if let first = prelude.popFirst() { return first }
        if let circumstance, let next = step(of: circumstance, isHidden: isHidden, vaults) {
            return next
        }
        if let next = nextOfPassage(vaults) { return next }
        if let (machine, keys) = unanswered, chance(65) {
            return afterwards(on: machine, keys)
        }
        return weighted(
            [(26, 0), (4, 1), (70, 2)], or: 2
        ).choose {
            switch $0 {
            case 0: .act(act())
            case 1: .clock(Double(pick([2, 55, 70, 4_000], or: 55)))
            default: .command(command(vaults))
            }
        }
    }

    /// The next step of a passage, with possible steps of others in between; nil if none is in
    /// progress or begins.
    private mutating func nextOfPassage(_ vaults: [ModelMachine.Contents]) -> ModelStep? {
        if !passage.isEmpty { return chance(10) ? nil : passage.popFirst() }
        var next: ModelPassage?
        if let (passage, delay) = assigned {
            assigned = delay > 0 ? (passage, delay - 1) : nil
            if delay == 0 { next = passage }
        } else if chance(10) {
            next = pick(ModelPassage.allCases)
        }
        guard let next else { return nil }
        begun.append(next)
        passage = steps(of: next, vaults)[...]
        return passage.popFirst()
    }

    /// What may follow writes without an answer: the same person repairs it in the dashboard, time
    /// passes, and the machine pushes again.
    private mutating func afterwards(on machine: Int, _ keys: Set<String>) -> ModelStep {
        changed = keys
        defer { changed = [] }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: return .act(act())
        case 4..<6: return .clock(Double(pick([2, 55, 70], or: 55)))
        default:
            unanswered = nil
            var command = ModelCommand(machine: machine, words: ["push", "-p", "web"])
            command.words += ["--yes", "--json"]
            if chance(30) { spoil(&command) }
            return .command(command)
        }
    }

    /// Records how a command ended.
    mutating func note(_ run: ModelRun) {
        if run.isKilled || run.status == 1 || run.status == 7 {
            let names = run.moments.filter { $0.isWrite && !$0.isAnswered || run.isKilled }
                .reduce(into: Set<String>()) { $0.formUnion($1.names) }
            let keys = run.storedAfter.filter { names.contains($0.id) }.map(\.key)
            let met = names.intersection(Self.keys + ["FIRST", "HIDDEN"]).union(keys)
            if !met.isEmpty { unanswered = (run.command.machine, met) }
        }
        if ["push", "pull"].contains(run.command.name) {
            let keys = (run.report?.keys("conflicts") ?? []) + (run.report?.keys("failed") ?? [])
            stuck[run.command.machine] = run.status == 0 ? nil : Set(keys).sorted()
        }
        guard run.command.name == "rotate" else { return }
        let machine = run.command.machine
        if run.status == 11 || run.isKilled {
            openRotations.insert(machine)
        } else if run.status == 0 || run.status == 10 || run.status == 4 {
            openRotations.remove(machine)
        }
    }

    /// A dashboard action that probably succeeds.
    private mutating func act() -> String {
        let author = weighted([(5, "other"), (4, "self"), (1, "nobody")], or: "other")
        let met = stored.filter { changed.contains($0.key) }
        guard
            let record = (chance(70) && !met.isEmpty ? met : stored)
                .randomElement(using: &random), !chance(20)
        else {
            let targets = scope()
            let key = chance(60) ? pick(changed.sorted(), or: "ONE") : pick(Self.keys, or: "ONE")
            return
                "create,key=\(key),value=\(value()),targets=\(targets.joined(separator: "+")),type=\(type(for: targets)),by=\(author)"
        }
        // Not by its id: without an earlier step the ids differ.
        let which = "key=\(record.key),targets=\(record.targets.joined(separator: "+"))"
        let what: String =
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9: "set,\(which),value=\(value())"
            case 9..<11: "touch,\(which)"
            case 11..<13: "remove,\(which)"
            case 13..<15: "set,\(which),newTargets=\(scope().joined(separator: "+"))"
            case 15: "set,\(which),newKey=\(pick(Self.keys, or: "ONE"))"
            case 16..<18:
                "set,\(which),type=\(pick(["sensitive", "plain", "encrypted"], or: "plain"))"
            case 18: "set,\(which),comment=note \(valueNumber)"
            default: "set,\(which),value=\(value()),type=sensitive"
            }
        return what + ",by=\(author)"
    }

    private mutating func command(_ vaults: [ModelMachine.Contents]) -> ModelCommand {
        let machine = Int.random(in: 0..<vaults.count, using: &random)
        changed = Set(
            vaults[machine].records.filter { ![.synced, .unreadable].contains($0.sync) }
                .map(\.variable.name))
        likely = vaults[machine].records.compactMap { record in
            guard changed.contains(record.variable.name) else { return nil }
            guard record.variable.isLive else {
                return record.variable.remote == nil ? nil : "DELETE */env*"
            }
            return record.variable.remote == nil ? "POST */env" : "PATCH */env/*"
        }.sorted()
        known = vaults[machine].records.filter(\.variable.isLive).map {
            ($0.variable.name, $0.variable.attributes.scope.targets.names)
        }.sorted { ($0.0, $0.1.joined()) < ($1.0, $1.1.joined()) }
        defer { (changed, likely, known) = ([], [], []) }
        if openRotations.contains(machine), chance(60) { return proceeding(on: machine) }
        if let keys = stuck[machine], chance(45) { return deciding(keys, on: machine) }
        let vault = vaults[machine]
        // By name: the order of the records follows random ids.
        let here = vault.records.filter(\.variable.isLive).map(\.variable.name).sorted()
        let known = pick(here, or: key())
        let web = ["-p", "web"]
        var command = ModelCommand(machine: machine, words: [])
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<17: setting(&command, pushes: false)
        case 17..<27: setting(&command, pushes: true)
        case 27..<33:
            let place =
                chance(40) ? ["-t", pick(["production", "preview"], or: "preview")] : ["--all"]
            command.words = ["rm", known] + web + place + ["--yes"]
            if chance(45) { command.words += ["--push", "--json"] }
        case 33..<36: command.words = ["rename", known, pick(Self.keys, or: "TWO")] + web
        case 36..<40:
            command.words = ["import", "-"] + web + ["--yes"]
            command.input = (0..<3).map { _ in "\(pick(Self.keys, or: "ONE"))=\(value())\n" }
                .joined()
            if chance(40) { command.words += ["-t", "production,preview", "--type", "sensitive"] }
            if chance(40) { command.words += ["--push", "--json"] }
        case 40..<42:
            let record = vault.records.sorted { $0.name < $1.name }
                .randomElement(using: &random)
            let version = max(1, Int(record?.variable.highestVersion ?? 1) - (chance(50) ? 1 : 0))
            command.words =
                ["restore-version", record?.variable.name ?? "ONE", "\(version)"] + web
        case 42..<44: command.words = ["history", known] + web
        case 44..<69: pushing(&command, known)
        case 69..<83:
            command.words = ["pull"] + (chance(20) ? [known] : []) + web + ["--yes", "--json"]
            if chance(25) { command.words.append("--force") }
        case 83..<91:
            command.words = ["harden"] + (chance(50) ? [known] : []) + web + ["--yes", "--json"]
        case 91..<97: rotating(&command, vault)
        default: command.words = ["list"] + web + ["--refresh", "--json"]
        }
        spoil(&command)
        return command
    }

    /// Resolves a conflict with the vault's or Vercel's side.
    private mutating func deciding(_ keys: [String], on machine: Int) -> ModelCommand {
        var command = ModelCommand(machine: machine, words: [chance(50) ? "push" : "pull"])
        if chance(70), let key = keys.randomElement(using: &random) { command.words.append(key) }
        command.words += ["-p", "web", "--yes", "--json"]
        if chance(85) { command.words.append("--force") }
        spoil(&command)
        return command
    }

    private mutating func setting(_ command: inout ModelCommand, pushes: Bool) {
        command.words = ["set", key(), "-p", "web", "--raw"]
        command.input = value()
        if chance(50), let record = pick(known) {
            // Another value of the same variable.
            command.words[1] = record.key
            command.words += ["-t", record.targets.joined(separator: ",")]
        } else if chance(75) {
            let targets = scope()
            command.words += ["-t", targets.joined(separator: ",")]
            if chance(60) { command.words += ["--type", type(for: targets)] }
        } else if chance(30) {
            command.words += ["--type", "sensitive"]
        }
        if chance(10) { command.words += ["--comment", "note \(valueNumber)"] }
        changed.insert(command.words[1])
        if pushes { command.words += ["--push", "--yes", "--json"] }
    }

    private mutating func pushing(_ command: inout ModelCommand, _ known: String) {
        // There should be something to push.
        if changed.isEmpty, chance(70) { return setting(&command, pushes: chance(40)) }
        command.words = ["push"]
        if chance(25) { command.words.append(known) }
        command.words += ["-p", "web"]
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: command.words.append("--force")
        case 4..<6: command.words.append("--prune")
        default: break
        }
        guard chance(20) else {
            command.words += ["--yes", "--json"]
            return
        }
        command.interlude = act()
    }

    private mutating func rotating(_ command: inout ModelCommand, _ vault: ModelMachine.Contents) {
        let pushed = vault.records.filter { $0.sync == .synced && $0.variable.isLive }
        command.words = [
            "rotate", pick(pushed.map(\.variable.name).sorted(), or: key()), "-p", "web", "--raw",
            "--yes",
            "--json", "--timeout", "4s",
        ]
        command.input = value()
        if chance(60) { command.words.append("--redeploy") }
        if chance(40) {
            command.words += ["--check", pick(["true", "true", "false"], or: "true")]
        }
        if chance(30) { command.words.append("--allow-missing") }
        if chance(40) { command.words += ["--revoke", "cat >revoked"] }
        command.build = weighted(
            [
                (8, "ok"), (2, "fail"), (1, "keeps-old-env"), (1, "alias-late:0.3"),
                (1, "alias-error"), (1, "staged"), (1, "ignored"), (1, "blocked"),
                (1, "alias-never"),
            ], or: "ok")
    }

    private mutating func proceeding(on machine: Int) -> ModelCommand {
        var command = ModelCommand(
            machine: machine,
            words: [
                "rotate",
                weighted([(4, "--resume"), (4, "--abort"), (1, "--close")], or: "--abort"),
                "--yes", "--json",
            ])
        spoil(&command)
        return command
    }

    // MARK: Faults

    private mutating func spoil(_ command: inout ModelCommand) {
        let isAlone =
            ["rename", "restore-version", "history"].contains(command.name)
            || ["set", "rm", "import"].contains(command.name) && !command.has("--push")
        guard !isAlone else { return }
        if doesWrite(command), chance(mood.rivalry) {
            command.faults = rivalry(command)
        } else if chance(mood.faults) {
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                command.faults.append(fault(command))
            }
        }
        if command.interlude == nil,
            chance(["pull", "list"].contains(command.name) ? 6 : mood.kills)
        {
            let countsWrites = chance(60)
            command.kill = ModelCommand.Kill(
                request: Int.random(in: 1...(countsWrites ? 2 : 8), using: &random),
                countsWrites: countsWrites,
                fate: pick(ModelCommand.Kill.EntryAction.allCases, or: .late))
        }
    }

    private func doesWrite(_ command: ModelCommand) -> Bool {
        !["pull", "list"].contains(command.name)
    }

    /// Somebody changes what the command is about to write, which then takes two attempts or a long
    /// time.
    private mutating func rivalry(_ command: ModelCommand) -> [String] {
        let met = stored.filter { changed.contains($0.key) }
        let record = pick(met.isEmpty ? stored : met)
        let author = pick(["other", "self"], or: "other")
        let deed = record.map { record in
            let which = "key=\(record.key),targets=\(record.targets.joined(separator: "+"))"
            return weighted(
                [
                    (6, "set,\(which),value=\(value())"), (1, "touch,\(which)"),
                    (1, "remove,\(which)"),
                ], or: "touch,\(which)")
        }
        let method = writing(command)
        let pause = weighted(
            favoured([
                (2, "429:1 x1"), (2, "reset x1"), (1, "503 x1"), (1, "ongoing x1"),
                (3, "lost-answer x1"), (5, "slow:2.2 x1"), (2, "stores-nothing x1"),
            ]), or: "reset x1")
        let moment = pick(["before", "then"], or: "then")
        let act = deed.map { ["\(method) \(moment):\($0),by=\(author)"] } ?? []
        return act + ["\(method) \(pause)"]
    }

    private mutating func fault(_ command: ModelCommand) -> String {
        let reads = [
            "GET */env", "GET */env", "GET */env/*", "GET */env/pull/*", "GET */projects/*",
        ]
        let pattern =
            doesWrite(command) && chance(70)
            ? writing(command) : pick(reads + ["* *"], or: "* *")
        let first = chance(35) ? " @\(Int.random(in: 2...4, using: &random))" : ""
        if chance(35) {
            let moment = pick(["before", "then"], or: "then")
            return "\(pattern) \(moment):\(act().replacing(" ", with: "%20"))\(first)"
        }
        guard !pattern.hasPrefix("GET"), chance(65) else {
            return "\(pattern) \(anyFault())\(first)"
        }
        let fault = writeFault()
        // In a read it would produce other ids, values and comments.
        return (fault.hasPrefix("escapes") ? "PATCH */env/*" : pattern) + " " + fault + first
    }

    /// The requests by which a command is likely to change something.
    private mutating func writing(_ command: ModelCommand) -> String {
        if command.name == "rm" { return pick(["DELETE */env*", "PATCH */env/*"], or: "* *") }
        if command.name == "push", chance(80), let request = pick(likely) { return request }
        if command.name == "set", command.words.count > 1, chance(80) {
            let isKnown = known.contains { $0.key == command.words[1] }
            return isKnown && chance(70) ? "PATCH */env/*" : "POST */env"
        }
        if command.name == "harden", chance(70) { return "PATCH */env/*" }
        return pick(
            ["PATCH */env/*", "POST */env", "DELETE */env*", "POST */env", "* */env*"], or: "* *")
    }

    /// Faults of a change only.
    private mutating func writeFault() -> String {
        let key = pick(stored.map(\.key), or: "FIRST")
        return weighted(
            favoured([
                (4, "stores-nothing x1"), (3, "returns-old-record x1"), (2, "stores-empty x1"),
                (2, "drops-target x1"), (2, "forces-sensitive x1"), (2, "rejects-one x1"),
                (1, "silent-batch:some x1"), (1, "silent-batch:one x1"),
                (1, "silent-batch:empty x1"),
                (1, "silent-batch:all x1"), (1, "silent-batch:empty,keeps=all x1"),
                (3, "lost-answer x1"), (1, "lost-answer x3"), (2, "truncate x1"),
                (2, "ongoing x1"), (1, "echoes-value:\(key) x1"),
                (1, "echoes-value:\(key),as=base64,in=code x1"),
                (1, "echoes-value:\(key),as=upper,in=failed x1"),
                (1, "escapes:all x1"), (1, "escapes x1"),
            ]), or: "stores-nothing x1")
    }

    /// Faults of any request.
    private mutating func anyFault() -> String {
        let key = pick(stored.map(\.key), or: "FIRST")
        return weighted(
            [
                (2, "429:1 x1"), (1, "429 x2"), (2, "503 x1"), (1, "500 x2"), (1, "503 x9"),
                (2, "reset x1"), (2, "reset x3"), (1, "reset"), (3, "slow:1.2 x1"),
                (1, "lost-answer x1"), (1, "truncate x1"), (1, "challenge x1"), (1, "saml x1"),
                (1, "html x1"), (1, "redirect:http://127.0.0.1:9/ x1"), (1, "200 x1"),
                (1, "201 x1"), (1, "400 x1"), (1, "401 x1"), (1, "402 x1"), (1, "403 x1"),
                (1, "404 x1"), (1, "409 x1"), (1, "410 x1"), (1, "hides-values"),
                (1, "hides-values x1"), (1, "string-cursor"), (1, "decrypts-lists"),
                (1, "says:400:No"), (1, "escapes:400 x1"),
                (1, "echoes-value:\(key),as=hex,status=404 x1"),
            ], or: "503 x1")
    }
}

extension Int {
    /// The result of a weighted choice for this number.
    fileprivate func choose<T>(_ body: (Int) -> T) -> T { body(self) }
}
