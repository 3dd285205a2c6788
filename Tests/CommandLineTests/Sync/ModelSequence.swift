import Sandbox
import TestSupport

/// A sequence of steps in its own world.
struct ModelSequence {
    /// The result.
    struct Outcome {
        var steps: [ModelStep] = []
        var script = ModelScript()
        var counts = ModelCounts()
        /// What broke at the last step; empty if nothing did.
        var problems: [String] = []
        /// The last command's output.
        var said = ""
    }

    /// Runs steps until one breaks a promise.
    ///
    /// - Parameters:
    ///   - next: Returns the next step for the current state of Vercel and the vaults; nil at the
    /// end.
    ///   - note: Receives the end of each command.
    static func run(
        in world: ModelWorld,
        next: ([StoredVariable], [ModelMachine.Contents]) -> ModelStep?,
        note: (ModelRun) -> Void = { _ in }
    ) throws -> Outcome {
        try world.begin()
        var sequence = try ModelSequence(in: world)
        while let step = next(world.stored, sequence.vaults) {
            if let run = try sequence.perform(step) { note(run) }
            if !sequence.checker.problems.isEmpty { break }
        }
        if ModelChecker.followsAdvice, sequence.checker.problems.isEmpty {
            try sequence.followAdvice()
        }
        sequence.outcome.counts = sequence.checker.counts
        sequence.outcome.counts.add("steps", sequence.outcome.steps.count)
        sequence.outcome.problems = sequence.checker.problems
        return sequence.outcome
    }

    private let world: ModelWorld
    private var outcome = Outcome()
    private var checker: ModelChecker
    private var vaults: [ModelMachine.Contents]

    private init(in world: ModelWorld) throws {
        self.world = world
        checker = ModelChecker(
            machines: world.machines.count, ownUser: world.platform.server.userIds.own)
        vaults = try world.machines.map { try $0.contents() }
        checker.values = vaults.reduce(into: Set(world.stored.map(\.value))) {
            $0.formUnion($1.values)
        }
    }

    /// Runs a step and checks the promises.
    @discardableResult
    private mutating func perform(_ step: ModelStep) throws -> ModelRun? {
        outcome.steps.append(step)
        checker.values.formUnion(Self.values(in: step))
        var end = "done"
        defer { outcome.script.add(step, end) }
        switch step {
        case .clock(let seconds): world.advance(seconds)
        case .policy(let separates): try world.set(separates: separates)
        case .act(let act):
            if try !world.perform(act) { end = "refused" }
            checker.count("acts \(end)")
        case .command(let command):
            let run = try world.run(command, before: vaults[command.machine])
            vaults[command.machine] = run.after
            checker.check(run)
            end = run.end
            outcome.said = ([run.words] + run.requests).joined(separator: "\n#   ")
            return run
        }
        return nil
    }

    // MARK: The end

    /// Every machine gets to a push and a pull with nothing left to do by typing what is printed:
    /// the commands of a message in order, and for one that fails the commands that it prints
    /// instead of the rest.
    private mutating func followAdvice() throws {
        for machine in world.machines.indices {
            // Some for each variable with a problem, and those that find it.
            var left = 5 * max(vaults[machine].records.count, 1)
            var (printed, queue): ([[String]], [[String]]) = ([], [])
            while let failed = try failure(of: machine) {
                if failed.isRefusedForHiding {
                    left -= 1
                    guard left > 0 else { return checker.problem("no end: \(failed.words)") }
                    guard try followHiding(failed, on: machine) else { return }
                    queue = []
                    continue
                }
                if queue.isEmpty {
                    printed = Self.advice(of: failed)
                    queue = printed
                }
                repeat {
                    guard !queue.isEmpty, left > 0 else {
                        checker.problem("\(left > 0 ? "no advice" : "no end"): \(failed.words)")
                        return
                    }
                    left -= 1
                    let run = try type(queue.removeFirst(), left, on: machine)
                    guard let run, checker.problems.isEmpty else { return }
                    let advice = run.status == 0 ? [] : Self.advice(of: run)
                    if advice.isEmpty { break }
                    // A message that repeats itself leaves its remaining commands.
                    if advice != printed || queue.isEmpty { (printed, queue) = (advice, advice) }
                } while true
            }
        }
    }

    /// Types what can be sent nevertheless, which must not lead back here, and then uses a token that
    /// may see production. Returns false if a promise was broken.
    private mutating func followHiding(_ failed: ModelRun, on machine: Int) throws -> Bool {
        for words in Self.advice(of: failed) where words[0] == "push" {
            guard let run = try type(words, 0, on: machine), checker.problems.isEmpty else {
                return false
            }
            if run.isRefusedForHiding {
                checker.problem("what is printed is refused too: \(words)")
                return false
            }
        }
        try perform(.act("show-production"))
        return true
    }

    private static func advice(of run: ModelRun) -> [[String]] {
        let keys = Set(run.words.matches(of: /conflict +([A-Z_]+)/).map { String($0.1) })
        return ModelAdvice(in: run.words, keys: keys.sorted()).commands
    }

    /// Types a command, with a value if it takes one, and with a yes if it asks.
    private mutating func type(
        _ words: [String], _ number: Int, on machine: Int
    ) throws -> ModelRun? {
        var command = ModelCommand(machine: machine, words: words)
        let asks = ["push", "pull", "rm", "harden", "rotate", "redeploy"].contains(words[0])
        if asks || command.has("--push") { command.words.append("--yes") }
        if words[0] == "set" { command.input = "value-\(9_000 + number)-told" }
        return try perform(.command(command))
    }

    /// The command that does not succeed yet; nil if nothing is left to do.
    private mutating func failure(of machine: Int) throws -> ModelRun? {
        for name in ["pull", "push"] {
            let command = ModelCommand(machine: machine, words: [name, "-p", "web", "--yes"])
            if let run = try perform(.command(command)), run.status != 0 { return run }
        }
        return nil
    }

    /// The values that a step introduces.
    private static func values(in step: ModelStep) -> [String] {
        let texts: [String] =
            switch step {
            case .clock, .policy: []
            case .act(let act): [act]
            case .command(let command):
                command.faults + [command.input ?? "", command.interlude ?? ""]
            }
        return texts.flatMap { $0.matches(of: /value-\d+-[a-z]+/).map { String($0.0) } }
    }
}
