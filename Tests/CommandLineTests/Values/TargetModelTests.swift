import TestSupport
import Testing

/// The sequence test's own parts: its generator, its rules, and that it notices what breaks them.
@Suite("The model of values and their targets")
struct TargetModelTests {
    private typealias Cell = TargetHistory.Cell
    private typealias Cells = TargetHistory.Cells

    private static func commands(_ stream: UInt64) -> [TargetCommand] {
        var generator = TargetGenerator(ProofRandom(stream))
        return (0..<300).map { _ in generator.command() }
    }

    @Test func `a seed determines the commands, and they are of every kind`() {
        let commands = Self.commands(1)
        #expect(commands == Self.commands(1))
        #expect(commands != Self.commands(2))
        #expect(
            Set(commands.map(\.name)) == [
                "set", "import", "copy", "edit", "rm", "rename", "restore-version", "push",
                "harden",
            ])
        let files = commands.compactMap { command -> EnvFile? in
            if case .load(let file) = command.action { file } else { nil }
        }
        #expect(files.contains { $0.head == .vercelCLI })
        #expect(files.contains { $0.stored.count < $0.lines.count })
        #expect(Set(files.map(\.name)).count > 8)
    }

    @Test func `every new value is another one`() {
        var values: [String] = []
        for command in Self.commands(3) {
            switch command.action {
            case .set(.new(let value)), .edit(.new(let value)), .editTarget(.new(let value)):
                values.append(value)
            case .load(let file):
                for case .value(.new(let value)) in file.lines.map(\.content) {
                    values.append(value)
                }
            default: break
            }
        }
        #expect(Set(values).count == values.count)
        #expect(values.count > 100)
    }

    @Test func `the first line, the name or the writer of a file choose its targets`() {
        let cases: [(String, EnvFile.Head, EnvFile.Choice)] = [
            (".env", .none, .standard), ("vars.env", .none, .standard),
            (".env", .vercelCLI, .targets(["development"])),
            ("vars.env", .vercelCLI, .targets(["development"])),
            (".env.local", .none, .targets(["development"])),
            ("laptop.local", .none, .targets(["development"])),
            (".env.production", .none, .targets(["production"])),
            (".env.production.local", .vercelCLI, .targets(["production"])),
            (".env.preview.local", .none, .targets(["preview"])),
            (".env.qa", .none, .targets(["qa"])), (".env.test", .none, .refused),
            (".env.test.local", .none, .refused),
            (".env.local", .target("production"), .targets(["production"])),
        ]
        for (name, head, choice) in cases {
            #expect(EnvFile(name: name, head: head, lines: []).choice == choice, "\(name) \(head)")
        }
    }

    @Test func `stand-ins and names of the CLI are not stored`() {
        var file = EnvFile(
            name: ".env", head: .vercelCLI,
            lines: [
                .init(name: "A", content: .value(.new("a"))), .init(name: "B", content: .empty),
                .init(name: "C", content: .standIn("[SENSITIVE]")),
                .init(name: "VERCEL_URL", content: .value(.new("x"))),
                .init(name: EnvFile.tokenName, content: .value(.new("y"))),
            ])
        #expect(file.stored.map(\.name) == ["A"])
        file.head = .none
        #expect(file.stored.map(\.name) == ["A", "B", "VERCEL_URL"])
    }

    // MARK: What it notices

    private static let secret = Cell(value: "old", type: .sensitive, comment: "billing")
    private static let open = Cell(value: "old", type: .encrypted, comment: nil)
    private static let plain = Cell(value: "new", type: .encrypted, comment: nil)

    private static func found(
        in vault: Cells, _ command: TargetCommand, leaving left: Cells, succeeded: Bool = true,
        sending: Cells? = nil, listing: Cells? = nil
    ) -> [TargetChecker.Problem.Kind] {
        let sent = sending ?? [:]
        var checker = TargetChecker(vault: vault, listing: sent)
        let expected = checker.history.outcome(of: command) { _, value in
            switch value {
            case .new(let text), .same(_, let text): text
            }
        }
        checker.check(
            command, expected, succeeded: succeeded, vault: left, listing: listing ?? sent)
        return checker.problems.map(\.kind)
    }

    private static func set(_ targets: String..., type: ValueType? = nil) -> TargetCommand {
        TargetCommand(
            action: .set(.new("new")), key: "K", targets: targets.isEmpty ? nil : targets,
            type: type)
    }

    @Test func `VAL-F1: a split keeps the type and the comment, and the other target`() {
        let vault: Cells = ["K": ["production": Self.secret, "preview": Self.secret]]
        func found(_ cell: Cell, _ rest: Cell? = Self.secret, type: ValueType? = nil) -> [String] {
            var left: Cells = ["K": ["production": cell]]
            left["K"]?["preview"] = rest
            return Self.found(in: vault, Self.set("production", type: type), leaving: left)
                .map(\.rawValue)
        }
        #expect(found(Cell(value: "new", type: .sensitive, comment: "billing")) == [])
        #expect(found(Cell(value: "new", type: .encrypted, comment: "billing")) == ["type"])
        #expect(found(Cell(value: "new", type: .sensitive, comment: nil)) == ["comment"])
        #expect(found(Cell(value: "old", type: .sensitive, comment: "billing")) == ["value"])
        let kept = Cell(value: "new", type: .sensitive, comment: "billing")
        #expect(found(kept, kept) == ["value"])
        #expect(found(kept, nil) == ["value"])
        let asked = Cell(value: "new", type: .encrypted, comment: "billing")
        #expect(found(asked, type: .encrypted) == [])
        #expect(found(kept, type: .encrypted) == ["type"])
    }

    @Test func `VAL-F6: an equal value changes nothing`() {
        let vault: Cells = ["K": ["production": Self.secret, "preview": Self.secret]]
        var command = Self.set("production")
        command.action = .set(.new("old"))
        #expect(Self.found(in: vault, command, leaving: vault) == [])
        let left: Cells = ["K": ["production": Self.open, "preview": Self.secret]]
        #expect(Self.found(in: vault, command, leaving: left) == [.type, .comment])
    }

    @Test func `a new target takes the strictest type that it may have`() {
        let vault: Cells = ["K": ["production": Self.secret]]
        func found(_ target: String, _ type: ValueType) -> Bool {
            var left = vault
            left["K"]?[target] = Cell(value: "new", type: type, comment: nil)
            return Self.found(in: vault, Self.set(target), leaving: left).isEmpty
        }
        #expect(found("preview", .sensitive))
        #expect(!found("preview", .encrypted))
        #expect(found("development", .encrypted))
        #expect(!found("development", .sensitive))
        let both = Self.set("production", "development")
        #expect(Self.found(in: vault, both, leaving: vault) == [.accepted])
        #expect(Self.found(in: vault, both, leaving: vault, succeeded: false) == [])
        #expect(
            Self.found(in: vault, Self.set("qa"), leaving: vault, succeeded: false) == [.refused])
    }

    @Test func `VAL-F2 VAL-F5: a file of one target changes no other, and a stand-in nothing`() {
        let vault: Cells = ["K": ["production": Self.secret]]
        func load(_ name: String, _ head: EnvFile.Head, _ content: EnvFile.Content) -> TargetCommand
        {
            TargetCommand(
                action: .load(
                    EnvFile(name: name, head: head, lines: [.init(name: "K", content: content)])))
        }
        let local = load(".env.local", .none, .value(.new("new")))
        let wrong: Cells = [
            "K": ["production": Cell(value: "new", type: .sensitive, comment: "billing")]
        ]
        #expect(Self.found(in: vault, local, leaving: wrong) == [.value, .value])
        var right = vault
        right["K"]?["development"] = Self.plain
        #expect(Self.found(in: vault, local, leaving: right) == [])

        let empty: Cells = [
            "K": ["production": Cell(value: "", type: .sensitive, comment: "billing")]
        ]
        for command in [
            load(".env.production", .vercelCLI, .empty), load(".env.production", .none, .empty),
        ] {
            #expect(Self.found(in: vault, command, leaving: empty) == [.value])
            #expect(Self.found(in: vault, command, leaving: vault) == [])
        }
        let test = load(".env.test", .none, .value(.new("new")))
        #expect(Self.found(in: vault, test, leaving: vault) == [.accepted])
    }

    @Test func `copies, removals and renames reach only what they name`() {
        let vault: Cells = ["K": ["production": Self.secret, "preview": Self.plain]]
        let copy = TargetCommand(
            action: .copy(to: "preview"), key: "K", targets: ["production"])
        var left = vault
        left["K"]?["preview"] = Cell(value: "old", type: .encrypted, comment: nil)
        #expect(Self.found(in: vault, copy, leaving: left) == [.type])
        left["K"]?["preview"]?.type = .sensitive
        #expect(Self.found(in: vault, copy, leaving: left) == [])

        let remove = TargetCommand(
            action: .remove(all: false), key: "K", targets: ["preview"])
        #expect(Self.found(in: vault, remove, leaving: [:]) == [.value])
        #expect(Self.found(in: vault, remove, leaving: vault) == [.value])
        left["K"]?["preview"] = nil
        #expect(Self.found(in: vault, remove, leaving: left) == [])

        let rename = TargetCommand(action: .rename(to: "N"), key: "K")
        #expect(Self.found(in: vault, rename, leaving: ["N": vault["K"] ?? [:]]) == [])
        #expect(Self.found(in: vault, rename, leaving: vault).count == 4)
    }

    @Test func `what Vercel shows or has is noticed`() {
        let vault: Cells = ["K": ["production": Self.secret]]
        let readable: Cells = ["K": ["production": Self.open]]
        let push = TargetCommand(action: .push)
        #expect(Self.found(in: vault, push, leaving: vault, listing: vault) == [])
        #expect(Self.found(in: vault, push, leaving: vault, listing: [:]) == [.vercel])
        let failing = Self.found(
            in: vault, push, leaving: vault, succeeded: false, sending: vault, listing: readable)
        #expect(failing == [.shown, .shown])
        let elsewhere: Cells = ["K": ["preview": Self.secret]]
        #expect(
            Self.found(
                in: vault, push, leaving: vault, succeeded: false, listing: elsewhere)
                == [.vercel])
        var allowed = Self.set("production", type: .encrypted)
        allowed.pushes = true
        let left: Cells = [
            "K": ["production": Cell(value: "new", type: .encrypted, comment: "billing")]
        ]
        #expect(
            Self.found(in: vault, allowed, leaving: left, sending: vault, listing: left)
                == [.shown])
        allowed.allowsWeaker = true
        #expect(
            Self.found(in: vault, allowed, leaving: left, sending: vault, listing: left) == [])
    }
}
