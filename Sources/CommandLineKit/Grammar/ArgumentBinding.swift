/// The second pass: checks the scanned arguments against the command's spec.
struct ArgumentBinding {
    let scan: ArgumentScan
    let command: CommandSpec

    func parsed() throws(UsageError) -> ParsedCommand {
        let options = scan.program.options(of: command)
        let occurrences = try boundOptions(options)
        try checkExclusive(occurrences)
        let takesRest = command.takesProgram
        let after = scan.restIndex.map { Array(scan.arguments[$0...]) } ?? []
        let positionals = takesRest ? scan.positionals : scan.positionals + after
        let bound = try boundArguments(positionals)
        if takesRest, let last = command.arguments.last, after.isEmpty {
            throw UsageError(
                .missingArgument, "\(command.name) needs \(last.name) after --.", hint: usageHint)
        }
        return ParsedCommand(
            spec: command, positionals: positionals, rest: takesRest ? after : [],
            restIndex: takesRest ? scan.restIndex : nil, declaredOptions: options,
            occurrences: occurrences, arguments: bound)
    }

    private var usageHint: String {
        "Usage: \(scan.program.usage(of: command))"
    }

    private func boundOptions(
        _ options: [OptionSpec]
    ) throws(UsageError) -> [(name: String, value: String?)] {
        var bound: [(name: String, value: String?)] = []
        var seen: [String: String] = [:]
        for occurrence in scan.occurrences {
            // The command may redefine a global option given before it.
            let name = occurrence.option.name
            let option = options.first { $0.name == name } ?? occurrence.option
            guard let value = occurrence.value else {
                bound.append((name, nil))
                continue
            }
            if !option.isRepeatable, let before = seen.updateValue(value, forKey: name) {
                guard before.utf8.elementsEqual(value.utf8) else {
                    throw UsageError(
                        .repeatedOption,
                        "\(option.dashedName) was given twice with different values.")
                }
                continue
            }
            for part in parts(of: value, option) {
                try Self.check(
                    part, option.form, allowsEmpty: option.allowsEmpty, of: option.dashedName)
                bound.append((name, part))
            }
        }
        return bound
    }

    private func parts(of value: String, _ option: OptionSpec) -> [String] {
        guard option.isCommaSeparated else { return [value] }
        return value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    private func checkExclusive(
        _ occurrences: [(name: String, value: String?)]
    ) throws(UsageError) {
        for group in command.exclusiveOptions {
            let given = group.filter { name in occurrences.contains { $0.name == name } }
            guard given.count > 1 else { continue }
            let names = given.map { "--\($0)" }.joined(separator: " and ")
            throw UsageError(.conflictingOptions, "\(names) cannot be used together.")
        }
    }

    private func boundArguments(
        _ words: [String]
    ) throws(UsageError) -> [(name: String, values: [String])] {
        let specs = command.arguments.filter { $0.arity != .restAfterDashes }
        var bound: [(name: String, values: [String])] = []
        var next = 0
        for (position, spec) in specs.enumerated() {
            let needed = specs[(position + 1)...].reduce(0) { $0 + $1.minimum }
            // Words that later arguments require are left to them.
            let left = words.count - next
            let spare = max(spec.minimum == 1 ? min(1, left) : 0, left - needed)
            let count = spec.isVariadic ? spare : min(1, spare)
            guard count >= spec.minimum else {
                throw UsageError(
                    .missingArgument, "\(command.name) needs \(spec.name).", hint: usageHint,
                    missing: spec.completion.dynamicKind)
            }
            let values = Array(words[next..<(next + count)])
            for value in values {
                try Self.check(value, spec.form, allowsEmpty: spec.allowsEmpty, of: spec.name)
            }
            bound.append((spec.name, values))
            next += count
        }
        guard next == words.count else { throw tooMany(words.count, specs.count) }
        return bound
    }

    /// Returns the error for surplus words. It counts them and never repeats them: `set KEY value`
    /// ends here.
    private func tooMany(_ given: Int, _ taken: Int) -> UsageError {
        if command.takesProgram {
            return UsageError(
                .unexpectedArgument, "\(command.name) expects the program after --, not before it.",
                hint: scan.lineWithDashes.map { "Use: \($0)" } ?? usageHint)
        }
        let taken = taken == 0 ? "no arguments" : taken == 1 ? "1 argument" : "\(taken) arguments"
        return UsageError(
            .unexpectedArgument,
            "\(command.name) takes \(taken), but \(given) \(given == 1 ? "was" : "were") given.",
            hint: usageHint)
    }

    static func check(
        _ value: String, _ form: ValueForm, allowsEmpty: Bool, of name: String
    ) throws(UsageError) {
        if value.utf8.isEmpty {
            guard allowsEmpty else {
                throw UsageError(.invalidValue, "\(name) must not be empty.")
            }
            return
        }
        switch form {
        case .text: return
        case .integer(let range):
            guard value.utf8.count <= 20, let number = Int(value), range.contains(number) else {
                throw UsageError(
                    .invalidValue, "\(name) must be a whole number \(Self.text(of: range)).")
            }
        case .duration:
            guard DurationText.duration(value) == nil else { return }
            let isBare = value.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
            throw UsageError(
                .invalidValue,
                isBare ? "\(name) needs a unit." : "\(name) is not a valid duration.",
                hint: "Use a whole number followed by s, m, h or d, such as 15m.")
        case .oneOf(let words):
            guard !words.contains(where: { $0.utf8.elementsEqual(value.utf8) }) else { return }
            let near = Suggestion.nearest(to: value, among: words)
            throw UsageError(
                .invalidValue, "\(name) must be one of: \(words.joined(separator: ", ")).",
                hint: near.map { "Did you mean \($0)?" })
        }
    }

    private static func text(of range: ClosedRange<Int>) -> String {
        range.upperBound == .max
            ? "of at least \(range.lowerBound)"
            : "from \(range.lowerBound) to \(range.upperBound)"
    }
}
