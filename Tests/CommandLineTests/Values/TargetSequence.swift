import TestSupport

/// A sequence of commands in its own world.
struct TargetSequence {
    /// The result.
    struct Outcome {
        var commands: [TargetCommand] = []
        /// The commands as shell lines.
        var lines: [String] = []
        var counts = ModelCounts()
        /// What broke at the last command; empty if nothing did.
        var problems: [TargetChecker.Problem] = []
        /// The last command's output.
        var said = ""
    }

    /// Runs commands until one breaks a promise.
    ///
    /// - Parameter next: Returns the next command; nil at the end.
    static func run(
        in world: TargetWorld, next: () -> TargetCommand?
    ) throws -> Outcome {
        try world.begin()
        var sequence = try TargetSequence(in: world)
        while sequence.checker.problems.isEmpty, let command = next() {
            try sequence.perform(command)
        }
        sequence.outcome.problems = sequence.checker.problems
        if sequence.outcome.problems.isEmpty {
            sequence.outcome.problems = try world.shown(sequence.vault.cells).map {
                .init(kind: .value, text: $0)
            }
        }
        return sequence.outcome
    }

    private let world: TargetWorld
    private var outcome = Outcome()
    private var checker: TargetChecker
    private var vault: TargetObservation

    private init(in world: TargetWorld) throws {
        self.world = world
        vault = try world.vault()
        checker = TargetChecker(vault: vault.cells, listing: world.listing)
        checker.learn(numbers: vault.numbers)
    }

    private mutating func perform(_ command: TargetCommand) throws {
        let history = checker.history
        func text(_ key: String, _ value: TargetCommand.Value) -> String {
            switch value {
            case .new(let text): text
            case .same(let target, let text): history.cells[key]?[target]?.value ?? text
            }
        }
        var number: UInt64 = 1
        if case .restore(let age) = command.action {
            let numbers = (history.numbers[command.key] ?? [:]).keys.sorted(by: >)
            number = numbers.isEmpty ? 1 : numbers[age % numbers.count]
        }
        let expected = history.outcome(
            of: command, value: text, restored: history.numbers[command.key]?[number])
        let run = try world.run(command, number: number, value: text)
        vault = try world.vault()
        outcome.commands.append(command)
        outcome.lines.append(run.line)
        let listing = world.listing
        outcome.said = run.result.output + run.result.error + run.result.screen
        let succeeded = run.result.status == 0
        checker.check(
            command, expected, succeeded: succeeded, vault: vault.cells, listing: listing)
        checker.learn(numbers: vault.numbers)
        if !vault.contested.isEmpty { checker.noteContested(vault.contested) }
        if succeeded { count(command, history) }
        outcome.counts.add("\(command.name) \(run.result.status.map { "\($0)" } ?? "killed")")
    }
}

extension TargetSequence {
    /// Counts what a successful command did that the rules are about.
    private mutating func count(_ command: TargetCommand, _ before: TargetHistory) {
        if case .load(let file) = command.action, file.stored.count < file.lines.count {
            outcome.counts.add("stand-ins")
        }
        for (key, targets) in vault.cells {
            let old = before.cells[key] ?? [:]
            let changed = targets.filter { old[$0.key] != nil && old[$0.key] != $0.value }.keys
            // Another target keeps the value that this one had.
            let split = changed.filter { target in
                old.contains { $0.value.value == old[target]?.value && $0.value == targets[$0.key] }
            }
            if !split.isEmpty { outcome.counts.add("splits") }
            if split.contains(where: { old[$0]?.type == .sensitive }) {
                outcome.counts.add("sensitive splits")
            }
        }
    }
}

/// Removes from a failed sequence what it does not need to fail in the same way.
enum TargetShrinking {
    /// The most sequences to try.
    private static let maximumTries = 120

    /// Returns a shorter sequence that breaks the same promise.
    static func shortened(
        _ outcome: TargetSequence.Outcome, in world: TargetWorld
    ) throws -> TargetSequence.Outcome {
        var best = outcome
        var tries = 0
        let kind = outcome.problems.first?.kind
        /// Whether these commands fail as well.
        func fails(_ commands: [TargetCommand]) throws -> Bool {
            guard tries < maximumTries else { return false }
            tries += 1
            var rest = commands[...]
            let tried = try TargetSequence.run(in: world) { rest.popFirst() }
            guard tried.problems.first?.kind == kind else { return false }
            best = tried
            return true
        }
        // Halves, quarters and so on, from the end: others are least likely to depend on it.
        var size = best.commands.count / 2
        while size > 0 {
            var end = best.commands.count - 1
            while end > 0 {
                let start = max(0, end - size)
                var commands = best.commands
                commands.removeSubrange(start..<end)
                _ = try fails(commands)
                end = min(start, best.commands.count - 1)
            }
            size /= 2
        }
        for place in best.commands.indices {
            var others: [TargetCommand] = []
            repeat {
                guard place < best.commands.count else { break }
                others = simplified(best.commands[place])
                guard
                    try others.contains(where: { simpler in
                        var commands = best.commands
                        commands[place] = simpler
                        return try fails(commands)
                    })
                else { break }
            } while true
        }
        return best
    }

    /// The same command with one part less.
    private static func simplified(_ command: TargetCommand) -> [TargetCommand] {
        var simpler: [TargetCommand] = []
        func add(_ change: (inout TargetCommand) -> Void) {
            var other = command
            change(&other)
            if other != command { simpler.append(other) }
        }
        add { $0.pushes = false }
        add { $0.comment = nil }
        add { $0.type = nil }
        add { $0.allowsEmpty = false }
        if let targets = command.targets, targets.count > 1 {
            add { $0.targets = targets.dropLast() }
        }
        if case .load(let file) = command.action, file.lines.count > 1 {
            for place in file.lines.indices {
                var other = file
                other.lines.remove(at: place)
                add { $0.action = .load(other) }
            }
        }
        return simpler
    }
}
