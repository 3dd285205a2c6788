/// What a command may leave of the places that it names; all others stay as they are.
struct TargetOutcome: Sendable {
    /// Why the command must fail; nil if it need not.
    var refusal: String?
    /// Whether nothing allows the command to fail.
    var mustSucceed = false
    var places: [TargetHistory.Place: PlaceOutcome] = [:]

    static func refused(_ reason: String) -> TargetOutcome { TargetOutcome(refusal: reason) }

    /// Both, for two variables of one command.
    mutating func join(_ other: TargetOutcome) {
        refusal = refusal ?? other.refusal
        mustSucceed = mustSucceed && other.mustSucceed
        places.merge(other.places) { $1 }
    }
}

/// What a command may leave of one place.
struct PlaceOutcome: Equatable, Sendable {
    /// Whether it may stay as it is.
    var mayStay = false
    /// Whether it must lose its value.
    var isRemoved = false
    var values: Set<String> = []
    var types: ClosedRange<ValueType> = .plain ... .sensitive
    var comments: Set<String?> = []
}

extension TargetHistory {
    /// Returns what a command may leave.
    ///
    /// - Parameters:
    ///   - value: Finds the text of a value of a variable.
    ///   - restored: The value that the number of a `restore-version` stands for; nil for none.
    func outcome(
        of command: TargetCommand, value: (String, TargetCommand.Value) -> String,
        restored: String? = nil
    ) -> TargetOutcome {
        let key = command.key
        return switch command.action {
        case .set(let given): set(value(key, given), command)
        case .load(let file): load(file, command, value)
        case .copy(let target): copy(to: target, command)
        case .edit(let given): edit(value(key, given), command)
        case .editTarget(let given):
            assigned(value(key, given), to: key, command.targets ?? [], command)
        case .remove(let all): remove(all: all, command)
        case .rename(let new): renamed(key, to: new)
        case .restore: restore(restored, command)
        case .push: TargetOutcome()
        case .harden: harden()
        }
    }

    // MARK: A new value

    /// The targets of a command without `-t`: those that the variable has with one value, or the
    /// standard ones; nil if the values differ.
    private func unnamed(_ key: String, _ type: ValueType?) -> [String]? {
        let own = targets(of: key)
        guard !own.isEmpty else {
            return TargetNames.standard.filter {
                type != .sensitive || $0 != TargetNames.development
            }
        }
        return Set(own.compactMap { cells[key]?[$0]?.value }).count == 1 ? own : nil
    }

    private func set(_ value: String, _ command: TargetCommand) -> TargetOutcome {
        if value.isEmpty, !command.allowsEmpty { return .refused("the value is empty") }
        guard let named = command.targets ?? unnamed(command.key, command.type) else {
            return .refused("the values of \(command.key) differ")
        }
        var outcome = assigned(
            value, to: command.key, named, command, isNamed: command.targets != nil)
        outcome.mustSucceed = outcome.refusal == nil && command.targets?.count == 1
        return outcome
    }

    /// Returns the outcome of giving a variable a value in some targets.
    ///
    /// - Parameter isNamed: Whether `-t` names them.
    private func assigned(
        _ value: String, to key: String, _ named: [String], _ command: TargetCommand,
        isNamed: Bool = true
    ) -> TargetOutcome {
        let own = cells[key] ?? [:]
        let changesNoMore = command.type == nil && command.comment == nil
        if changesNoMore, named.allSatisfy({ own[$0]?.value == value }) { return TargetOutcome() }
        let hasDevelopment = named.contains(TargetNames.development)
        let isSecret = named.contains { own[$0]?.type == .sensitive }
        if hasDevelopment, own[TargetNames.development]?.type != .sensitive,
            command.type == .sensitive && !isNamed
                || command.type == nil && isSecret && command.targets != nil
                    && own[TargetNames.development] == nil
        {
            return .refused("development cannot be sensitive")
        }
        var outcome = TargetOutcome()
        let ranges = named.map { type(of: Place(key: key, target: $0)) }
        let strictest = ranges.map(\.upperBound).max() ?? .encrypted
        for (target, range) in zip(named, ranges) {
            let place = Place(key: key, target: target)
            var left = PlaceOutcome(values: [value])
            if let type = command.type {
                left.types = type...type
            } else {
                left.types = range
            }
            left.comments = command.comment.map { [$0] } ?? comments(of: place, among: named)
            // A new variable that was sensitive leaves out development.
            left.mayStay =
                command.targets == nil && own.isEmpty && strictest == .sensitive
                && target == TargetNames.development
            outcome.places[place] = left
        }
        if let comment = command.comment,
            named.allSatisfy({
                own[$0]?.value == value && (command.type ?? own[$0]?.type) == own[$0]?.type
            })
        {
            // A comment alone may be one of all targets that have the value.
            for (target, cell) in own where !named.contains(target) && cell.value == value {
                outcome.places[Place(key: key, target: target)] = PlaceOutcome(
                    mayStay: true, values: [value], types: cell.type...cell.type,
                    comments: [comment])
            }
        }
        return outcome
    }

    // MARK: Files

    private func load(
        _ file: EnvFile, _ command: TargetCommand, _ value: (String, TargetCommand.Value) -> String
    ) -> TargetOutcome {
        var command = command
        let isNamed = command.targets != nil
        if command.targets == nil {
            switch file.choice {
            case .refused: return .refused("\(file.name) is for tests")
            case .targets(let targets): command.targets = targets
            case .standard: break
            }
        }
        var outcome = TargetOutcome(
            mustSucceed: command.targets?.count == 1 && !file.stored.isEmpty)
        for line in file.stored {
            let key = line.name
            var text = ""
            if case .value(let given) = line.content { text = value(key, given) }
            // What a file with a target and an empty value says is not decided.
            let isOpen = text.isEmpty && file.head != .none
            guard let named = command.targets ?? unnamed(key, command.type) else {
                if isOpen { continue }
                return .refused("the values of \(key) differ")
            }
            var one = assigned(text, to: key, named, command, isNamed: isNamed)
            one.mustSucceed = outcome.mustSucceed && !text.isEmpty
            if text.isEmpty, !command.allowsEmpty { keepValues(in: &one) }
            if isOpen {
                one.refusal = nil
                for place in one.places.keys { one.places[place]?.mayStay = true }
            }
            outcome.join(one)
        }
        if outcome.refusal != nil { outcome.mustSucceed = false }
        return outcome
    }

    /// A file's empty value replaces no value.
    private func keepValues(in outcome: inout TargetOutcome) {
        for place in outcome.places.keys {
            if let cell = cell(place), !cell.value.isEmpty { outcome.places[place]?.values = [] }
            outcome.places[place]?.mayStay = true
        }
    }

    // MARK: The others

    private func copy(to target: String, _ command: TargetCommand) -> TargetOutcome {
        let sources = (command.targets ?? targets(of: command.key))
            .compactMap { cells[command.key]?[$0] }
        guard let value = sources.first?.value else { return .refused("no value to copy") }
        guard Set(sources.map(\.value)).count == 1 else { return .refused("the values differ") }
        let place = Place(key: command.key, target: target)
        var outcome = TargetOutcome(mustSucceed: command.targets?.count == 1)
        if cell(place)?.value == value, (command.type ?? cell(place)?.type) == cell(place)?.type {
            return outcome
        }
        let strictest = sources.map(\.type).max() ?? .plain
        let own = cell(place)
        guard
            command.type != nil
                || strictest <= max(Self.strictest(in: target), own?.type ?? .plain)
        else { return .refused("development cannot be sensitive") }
        if value.isEmpty, own != nil, !command.allowsEmpty {
            return .refused("an empty value would replace another one")
        }
        let lower = max(strictest, own?.type ?? .plain)
        let upper = max(lower, type(of: place).upperBound)
        outcome.places[place] = PlaceOutcome(
            values: [value],
            types: command.type.map { $0...$0 } ?? lower...(own == nil ? upper : lower),
            comments: own.map { [$0.comment] }
                ?? comments(of: place, among: targets(of: command.key)))
        return outcome
    }

    private func edit(_ value: String, _ command: TargetCommand) -> TargetOutcome {
        let named = command.targets ?? targets(of: command.key)
        let shown = Set(named.compactMap { cells[command.key]?[$0]?.value })
        guard let old = shown.first else { return .refused("no value to edit") }
        guard shown.count == 1 else { return .refused("the values differ") }
        var outcome =
            old == value ? TargetOutcome() : assigned(value, to: command.key, named, command)
        outcome.mustSucceed = outcome.refusal == nil && command.targets?.count == 1
        return outcome
    }

    private func remove(all: Bool, _ command: TargetCommand) -> TargetOutcome {
        let own = targets(of: command.key)
        let gone = own.filter { command.targets?.contains($0) ?? true }
        guard !gone.isEmpty else { return .refused("no value to remove") }
        let values = Set(own.compactMap { cells[command.key]?[$0]?.value })
        if command.targets == nil, !all, values.count > 1 { return .refused("the values differ") }
        var outcome = TargetOutcome(mustSucceed: all || command.targets != nil)
        for target in gone {
            outcome.places[Place(key: command.key, target: target)] = PlaceOutcome(isRemoved: true)
        }
        return outcome
    }

    private func renamed(_ key: String, to new: String) -> TargetOutcome {
        let own = cells[key] ?? [:]
        guard !own.isEmpty else { return .refused("no variable to rename") }
        var outcome = TargetOutcome(mustSucceed: true)
        if key == new { return outcome }
        guard cells[new]?.isEmpty ?? true else { return .refused("the name is taken") }
        for (target, cell) in own {
            let strictest = wasSensitive(new) ? Self.strictest(in: target) : cell.type
            outcome.places[Place(key: key, target: target)] = PlaceOutcome(isRemoved: true)
            outcome.places[Place(key: new, target: target)] = PlaceOutcome(
                values: [cell.value], types: cell.type...max(cell.type, strictest),
                comments: [cell.comment])
        }
        return outcome
    }

    /// A restored version comes back in the named targets, whichever had it; without `-t`, in those of
    /// a variable with one value, or where a removed one was last.
    private func restore(_ value: String?, _ command: TargetCommand) -> TargetOutcome {
        let key = command.key
        guard let value else { return .refused("there is no such version") }
        let own = targets(of: key)
        let isAmbiguous = Set(own.compactMap { cells[key]?[$0]?.value }).count > 1
        if command.targets == nil, isAmbiguous { return .refused("the values of \(key) differ") }
        let named = command.targets ?? (own.isEmpty ? TargetNames.all : own)
        let development = Place(key: key, target: TargetNames.development)
        if command.targets?.contains(TargetNames.development) == true,
            command.type == nil, cell(development)?.type != .sensitive,
            exposes(value, in: development)
        {
            return .refused("development cannot be sensitive")
        }
        let empties = named.contains { cells[key]?[$0].map { !$0.value.isEmpty } ?? false }
        if value.isEmpty, empties, !command.allowsEmpty {
            return .refused("an empty value would replace another one")
        }
        var outcome = TargetOutcome()
        outcome.mustSucceed =
            command.targets?.count == 1 && command.targets != [TargetNames.development]
        for place in named.map({ Place(key: key, target: $0) }) {
            let (top, comments) = restored(in: place)
            var lower = cell(place)?.type ?? .plain
            if exposes(value, in: place) { lower = Self.strictest(in: place.target) }
            outcome.places[place] = PlaceOutcome(
                mayStay: command.targets == nil, values: [value],
                types: command.type.map { $0...$0 } ?? lower...max(lower, top),
                comments: comments)
        }
        return outcome
    }

    /// Makes values sensitive where that is possible.
    private func harden() -> TargetOutcome {
        var outcome = TargetOutcome()
        for (key, targets) in cells {
            for (target, cell) in targets {
                // Development only where Vercel hides it.
                outcome.places[Place(key: key, target: target)] = PlaceOutcome(
                    mayStay: target == TargetNames.development, values: [cell.value],
                    types: cell.type ... .sensitive,
                    comments: [cell.comment])
            }
        }
        return outcome
    }
}
