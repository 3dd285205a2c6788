/// Removes from a failed sequence what it does not need to fail.
enum ModelShrinking {
    /// The most sequences to try.
    private static let maximumTries = 60

    /// Returns a shorter sequence that breaks a promise too.
    static func shortened(
        _ outcome: ModelSequence.Outcome, in world: ModelWorld
    ) throws -> ModelSequence.Outcome {
        var best = outcome
        var tries = 0
        /// Whether these steps fail as well.
        func fails(_ steps: [ModelStep]) throws -> Bool {
            guard tries < maximumTries else { return false }
            tries += 1
            var rest = steps[...]
            let tried = try ModelSequence.run(in: world, next: { _, _ in rest.popFirst() })
            guard !tried.problems.isEmpty else { return false }
            best = tried
            return true
        }
        // From the end: others are least likely to depend on the last steps.
        var place = best.steps.count - 2
        while place >= 0 {
            var steps = best.steps
            steps.remove(at: place)
            _ = try fails(steps)
            place = min(place, best.steps.count - 1) - 1
        }
        for place in best.steps.indices {
            guard place < best.steps.count, case .command(let command) = best.steps[place] else {
                continue
            }
            for simpler in simplified(command) {
                var steps = best.steps
                steps[place] = .command(simpler)
                if try fails(steps) { break }
            }
        }
        return best
    }

    /// The same command with fewer faults.
    private static func simplified(_ command: ModelCommand) -> [ModelCommand] {
        var simpler: [ModelCommand] = []
        if command.faults.count + (command.kill == nil ? 0 : 1) > 1 {
            for place in command.faults.indices {
                var other = command
                other.faults.remove(at: place)
                simpler.append(other)
            }
        }
        if !command.faults.isEmpty || command.kill != nil {
            var other = command
            other.faults = []
            other.kill = nil
            simpler.insert(other, at: 0)
        }
        return simpler
    }
}
