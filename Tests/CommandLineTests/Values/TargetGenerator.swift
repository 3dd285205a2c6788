import TestSupport

/// Generates the commands of a sequence. The same random numbers give the same commands.
struct TargetGenerator {
    static let keys = ["STRIPE", "DATABASE", "MAILER", "QUEUE"]
    /// Names that a rename may choose.
    static let newKeys = keys + ["PORTAL"]
    static let fileNames = [
        ".env", ".env.local", ".env.production", ".env.production.local", ".env.preview",
        ".env.preview.local", ".env.development", ".env.development.local", ".env.qa",
        ".env.test", ".env.test.local", "vars.env", "laptop.local",
    ]

    /// What is left out, so that a fault of one kind does not hide others.
    enum Omission: String, CaseIterable {
        /// Types and comments.
        case types
        /// Files that say by name or content where they belong, and what stands for a value.
        case files
        /// Targets.
        case targets
    }

    private let omissions: Set<Omission>
    private var random: ProofRandom
    /// How many values were made.
    private var count = 0

    init(_ random: ProofRandom, without omissions: Set<Omission> = []) {
        self.random = random
        self.omissions = omissions
    }

    /// Returns the next command.
    mutating func command() -> TargetCommand {
        // A variable has several values only after a few commands that change it.
        switch Int.random(in: 0..<100, using: &random) {
        case ..<28: return set()
        case ..<51: return load()
        case ..<60: return copy()
        case ..<67: return edit()
        case ..<74: return remove()
        case ..<77:
            var command = TargetCommand(action: .rename(to: pick(Self.newKeys)))
            command.key = pick(Self.keys)
            return command
        case ..<85: return restore()
        case ..<97: return push()
        default: return omissions.contains(.types) ? push() : harden()
        }
    }

    // MARK: The commands

    private mutating func set() -> TargetCommand {
        var command = TargetCommand(action: .set(value()), key: pick(Self.newKeys))
        command.targets = targets()
        command.type = type()
        if chance(12), !omissions.contains(.types) { command.comment = "note \(count)" }
        addPush(to: &command)
        return command
    }

    private mutating func load() -> TargetCommand {
        var command = TargetCommand(action: .load(file()))
        command.targets = chance(35) ? targets() : nil
        if chance(40) { command.type = type() }
        command.allowsEmpty = chance(4) && !omissions.contains(.files)
        addPush(to: &command)
        return command
    }

    private mutating func file() -> EnvFile {
        var file = EnvFile(name: pick(Self.fileNames), lines: [])
        let isNeutral = omissions.contains(.files)
        if isNeutral { file.name = "vars.env" }
        let isTest = file.name.hasPrefix(".env.test")
        if !isTest, !isNeutral {
            switch Int.random(in: 0..<10, using: &random) {
            case ..<3: file.head = .vercelCLI
            case 3: file.head = .target(pick(TargetNames.standard))
            default: break
            }
        }
        let number = Int.random(in: 1...3, using: &random)
        file.lines = Array(Self.keys.shuffled(using: &random).prefix(number)).map { name in
            .init(name: name, content: content(of: file))
        }
        if file.head == .vercelCLI {
            let name = chance(30) ? EnvFile.tokenName : pick(EnvFile.namesOfCLI)
            file.lines.append(.init(name: name, content: .value(newValue())))
        } else if chance(5), !isNeutral {
            file.lines.append(
                .init(name: EnvFile.tokenName, content: .value(newValue())))
        }
        return file
    }

    private mutating func content(of file: EnvFile) -> EnvFile.Content {
        if omissions.contains(.files) { return .value(value()) }
        if file.head == .vercelCLI, chance(25) { return .empty }
        if chance(file.head == .vercelCLI ? 20 : 6) { return .standIn(pick(EnvFile.standIns)) }
        // What a file with a target and an empty value says is not decided.
        if file.head == .none, chance(4) { return .empty }
        return .value(value())
    }

    private mutating func copy() -> TargetCommand {
        var command = TargetCommand(
            action: .copy(to: pick(TargetNames.all)), key: pick(Self.keys))
        command.targets = chance(70) ? [pick(TargetNames.all)] : targets()
        if chance(20) { command.type = type() }
        command.allowsEmpty = chance(50) && !omissions.contains(.files)
        return command
    }

    private mutating func edit() -> TargetCommand {
        let isWhole = chance(40)
        let value = value()
        var command = TargetCommand(
            action: isWhole ? .editTarget(value) : .edit(value), key: pick(Self.keys))
        command.targets = isWhole ? [pick(TargetNames.all)] : targets()
        return command
    }

    private mutating func remove() -> TargetCommand {
        var command = TargetCommand(action: .remove(all: chance(15)), key: pick(Self.keys))
        if command.action != .remove(all: true) { command.targets = targets() }
        addPush(to: &command)
        return command
    }

    private mutating func restore() -> TargetCommand {
        var command = TargetCommand(
            action: .restore(Int.random(in: 0..<5, using: &random)), key: pick(Self.newKeys))
        command.targets = targets()
        if chance(20) { command.type = type() }
        return command
    }

    private mutating func push() -> TargetCommand {
        var command = TargetCommand(action: .push)
        command.allowsWeaker = chance(30)
        if chance(20) { command.key = pick(Self.keys) }
        return command
    }

    private mutating func harden() -> TargetCommand {
        var command = TargetCommand(action: .harden)
        if chance(60) { command.key = pick(Self.keys) }
        return command
    }

    private mutating func addPush(to command: inout TargetCommand) {
        command.pushes = chance(12)
    }

    // MARK: Their parts

    private mutating func newValue() -> TargetCommand.Value {
        count += 1
        return .new("value-\(count)-made")
    }

    /// A value, now and then one that the variable has.
    private mutating func value() -> TargetCommand.Value {
        count += 1
        let text = "value-\(count)-made"
        return chance(15) ? .same(pick(TargetNames.all), otherwise: text) : .new(text)
    }

    /// What `-t` names; nil for a command without it.
    private mutating func targets() -> [String]? {
        if omissions.contains(.targets) { return nil }
        switch Int.random(in: 0..<10, using: &random) {
        case ..<3: return nil
        case ..<8: return [pick(TargetNames.all)]
        default:
            let number = Int.random(in: 2...3, using: &random)
            let chosen = TargetNames.all.shuffled(using: &random).prefix(number)
            return TargetNames.all.filter { chosen.contains($0) }
        }
    }

    /// What `--type` names; nil for a command without it.
    private mutating func type() -> ValueType? {
        if omissions.contains(.types) { return nil }
        return switch Int.random(in: 0..<10, using: &random) {
        case ..<5: nil
        case ..<8: .sensitive
        case 8: .encrypted
        default: .plain
        }
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func pick<T>(_ items: [T]) -> T {
        items[Int.random(in: items.indices, using: &random)]
    }
}
