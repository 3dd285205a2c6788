import TestSupport
import Testing

/// A vault and a Vercel that do exactly what the naive history says.
struct IdealVault {
    private(set) var cells: TargetHistory.Cells = [:]
    private(set) var listing: TargetHistory.Cells = [:]
    /// Whether it takes the strictest of the allowed types, as one record for several targets does.
    let isStrict: Bool

    init(isStrict: Bool) { self.isStrict = isStrict }

    /// Performs a command. Returns whether it succeeded.
    mutating func perform(_ command: TargetCommand, _ expected: TargetOutcome) -> Bool {
        guard expected.refusal == nil else { return false }
        for (place, left) in expected.places {
            let own = cells[place.key]?[place.target]
            if left.isRemoved {
                cells[place.key]?[place.target] = nil
            } else if let value = left.values.min(), !left.mayStay || own != nil {
                let comment = left.comments.contains(own?.comment) ? own?.comment : nil
                cells[place.key, default: [:]][place.target] = .init(
                    value: value, type: isStrict ? left.types.upperBound : left.types.lowerBound,
                    comment: left.comments.contains(comment) ? comment : left.comments.first ?? nil)
            }
        }
        cells = cells.filter { !$0.value.isEmpty }
        return !command.sends || push(command)
    }

    private mutating func push(_ command: TargetCommand) -> Bool {
        let keys = command.key.isEmpty ? Set(cells.keys).union(listing.keys) : [command.key]
        let isWeaker = keys.contains { key in
            (cells[key] ?? [:]).contains { target, cell in
                cell.type.isReadable && listing[key]?[target]?.type == .sensitive
            }
        }
        guard !isWeaker || command.allowsWeaker else { return false }
        for key in keys { listing[key] = cells[key] }
        return true
    }
}

@Suite("The rules of values and their targets")
struct TargetRulesTests {
    @Test(arguments: [true, false])
    func `what follows the rules is not reported`(isStrict: Bool) {
        var found: [String] = []
        for stream in 0..<(Proof.count(short: 40, full: 1_000)) where found.isEmpty {
            var generator = TargetGenerator(ProofRandom(UInt64(stream)))
            var vault = IdealVault(isStrict: isStrict)
            var checker = TargetChecker(vault: [:], listing: [:])
            var lines: [String] = []
            for _ in 0..<50 where checker.problems.isEmpty {
                let command = generator.command()
                let history = checker.history
                var restored: String?
                if case .restore(let age) = command.action {
                    let values = history.series[command.key] ?? []
                    if !values.isEmpty {
                        restored = values[values.count - 1 - age % values.count]
                    }
                }
                let expected = history.outcome(
                    of: command,
                    value: { key, value in
                        switch value {
                        case .new(let text): text
                        case .same(let target, let text):
                            history.cells[key]?[target]?.value ?? text
                        }
                    }, restored: restored)
                let succeeded = vault.perform(command, expected)
                lines.append("\(command) \(succeeded)")
                checker.check(
                    command, expected, succeeded: succeeded, vault: vault.cells,
                    listing: vault.listing)
            }
            guard !checker.problems.isEmpty else { continue }
            found = lines + checker.problems.map(\.description)
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }
}
