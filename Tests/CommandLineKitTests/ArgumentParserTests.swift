import CommandLineKit
import Testing

@Suite struct `Commands are found` {
    @Test(arguments: [
        (["list"], "list"),
        (["ls"], "list"),
        (["--json", "list"], "list"),
        (["-p", "web", "list"], "list"),
        (["-pweb", "list"], "list"),
        (["--project=list", "set", "KEY"], "set"),
        (["deployment", "list"], "deployment list"),
        (["deployment", "--json", "list"], "deployment list"),
        (["deployment", "-p", "promote", "list"], "deployment list"),
        (["slot", "add", "file", "PATH"], "slot add file"),
        (["history", "KEY"], "history"),
        (["history", "prune", "KEY"], "history prune"),
        (["history", "--", "prune"], "history"),
        (["history", "--limit", "3", "prune"], "history"),
    ])
    func `by their words, with global options between`(_ arguments: [String], _ name: String) throws
    {
        #expect(try Fixture.command(arguments).spec.name == name)
    }

    @Test func `and an argument may be spelled like a command`() throws {
        let command = try Fixture.command(["reveal", "list", "set"])
        #expect(command.spec.name == "reveal")
        #expect(command.arguments("KEY") == ["list", "set"])
    }

    @Test(arguments: [
        (["--json"], UsageError.Code.missingCommand),
        (["--json"], .missingCommand),
        (["-p", "web"], .missingCommand),
        (["deployment"], .missingCommand),
        (["slot", "add"], .missingCommand),
        (["--", "list"], .missingCommand),
        (["frobnicate"], .unknownCommand),
        (["deployment", "frobnicate"], .unknownCommand),
        ([""], .unknownCommand),
        (["-"], .unknownCommand),
    ])
    func `or the error says what is missing`(_ arguments: [String], _ code: UsageError.Code) {
        #expect(Fixture.failure(arguments)?.code == code)
    }
}

@Suite struct `Options are read` {
    @Test(
        arguments: [
            ["set", "K", "--target", "production"],
            ["set", "--target=production", "K"],
            ["set", "-t", "production", "K"],
            ["set", "-tproduction", "K"],
            ["set", "-t=production", "K"],
            ["set", "-yt", "production", "K"],
            ["set", "-qytproduction", "K"],
        ])
    func `in every spelling of a value`(_ arguments: [String]) throws {
        let command = try Fixture.command(arguments)
        #expect(command.values("target") == ["production"])
        #expect(command.arguments("KEY") == ["K"])
    }

    @Test(arguments: [
        ["-qy", "list"], ["-yq", "list"], ["list", "-qy"], ["list", "--quiet", "--yes"],
        ["-q", "list", "-y"], ["--yes", "-q", "list", "--quiet"],
    ])
    func `as flags, alone or combined, before or after`(_ arguments: [String]) throws {
        let command = try Fixture.command(arguments)
        #expect(command.has("quiet"))
        #expect(command.has("yes"))
        #expect(!command.has("json"))
    }

    @Test func `repeated and parted at commas, in order`() throws {
        let command = try Fixture.command(["list", "-t", "b,a", "--target=c", "-ta"])
        #expect(command.values("target") == ["b", "a", "c", "a"])
    }

    @Test func `with a value that begins with a dash`() throws {
        #expect(try Fixture.command(["set", "K", "--comment", "-x y"]).value("comment") == "-x y")
        #expect(try Fixture.command(["set", "K", "--comment=--json"]).value("comment") == "--json")
        #expect(try Fixture.command(["set", "K", "--comment", "-"]).value("comment") == "-")
        #expect(try Fixture.command(["set", "K", "--comment=a=b"]).value("comment") == "a=b")
    }

    @Test func `with an empty value only where one is meant`() throws {
        #expect(try Fixture.command(["set", "K", "--comment="]).value("comment") == "")
        #expect(try Fixture.command(["set", "K", "--comment", ""]).value("comment") == "")
        #expect(Fixture.failure(["set", "K", "--branch="])?.code == .invalidValue)
        #expect(Fixture.failure(["--project", "", "list"])?.code == .invalidValue)
        #expect(Fixture.failure(["list", "-t", "a,,b"])?.code == .invalidValue)
    }

    @Test func `and a command may give a global one another meaning`() throws {
        let command = try Fixture.command(["-p", "a", "watch", "-p", "b", "--project=c"])
        #expect(command.values("project") == ["a", "b", "c"])
        #expect(Fixture.failure(["-p", "a", "list", "-p", "b"])?.code == .repeatedOption)
    }

    @Test func `and twice the same value is one`() throws {
        #expect(try Fixture.command(["-p", "a", "list", "--project=a"]).values("project") == ["a"])
    }

    @Test func `with numbers and times`() throws {
        #expect(try Fixture.command(["history", "K", "--limit", "1000"]).integer("limit") == 1000)
        #expect(
            try Fixture.command(["list", "--stale=90d"]).duration("stale") == .seconds(7_776_000))
    }

    @Test func `and cases of a type`() throws {
        enum Kind: String { case encrypted, plain }
        #expect(
            try Fixture.command(["set", "K", "--type", "plain"]).choice("type") == Kind.plain)
        #expect(try Fixture.command(["set", "K"]).choice("type") == Kind?.none)
    }

    @Test func `and a command's own version option is no question for the program's`() throws {
        #expect(try Fixture.command(["reveal", "K", "--version", "3"]).integer("version") == 3)
    }

    @Test(arguments: [
        (["list", "--nope"], UsageError.Code.unknownOption),
        (["list", "-x"], .unknownOption),
        (["list", "-qx"], .unknownOption),
        (["list", "-é"], .unknownOption),
        (["list", "---"], .unknownOption),
        (["--target", "a", "list"], .unknownOption),
        (["list", "--version"], .unknownOption),
        (["list", "--json=true"], .unexpectedValue),
        (["list", "--yes="], .unexpectedValue),
        (["list", "-y=1"], .unexpectedValue),
        (["list", "--vault"], .missingValue),
        (["list", "-p"], .missingValue),
        (["list", "--vault", "--json"], .missingValue),
        (["list", "--vault", "--target=x"], .missingValue),
        (["list", "--vault", "-qy"], .missingValue),
        (["list", "--vault", "-t"], .missingValue),
        (["run", "-t", "--", "cmd"], .missingValue),
        (["history", "K", "--limit", "0"], .invalidValue),
        (["history", "K", "--limit", "1001"], .invalidValue),
        (["history", "K", "--limit", "99999999999999999999999"], .invalidValue),
        (["history", "K", "--limit", "1x"], .invalidValue),
        (["history", "K", "--limit", "-1"], .invalidValue),
        (["list", "--stale", "90"], .invalidValue),
        (["list", "--stale", "d"], .invalidValue),
        (["set", "K", "--type", "encrypt"], .invalidValue),
        (["set", "K", "--branch", "a", "--branch", "b"], .repeatedOption),
        (["set", "K", "--from-file", "a", "--generate", "b"], .conflictingOptions),
    ])
    func `or refused`(_ arguments: [String], _ code: UsageError.Code) {
        #expect(Fixture.failure(arguments)?.code == code)
    }
}

@Suite struct `Arguments are read` {
    @Test func `in the order of their description`() throws {
        let command = try Fixture.command(["rename", "A", "B"])
        #expect(command.argument("KEY") == "A")
        #expect(command.required("NEW") == "B")
        #expect(command.positionals == ["A", "B"])
    }

    @Test func `with the last one apart from a list before it`() throws {
        let command = try Fixture.command(["move", "a", "b", "c", "here"])
        #expect(command.arguments("SOURCE") == ["a", "b", "c"])
        #expect(command.argument("TARGET") == "here")
    }

    @Test func `after two dashes too`() throws {
        #expect(
            try Fixture.command(["reveal", "A", "--", "-b", "--json"]).positionals == [
                "A", "-b", "--json",
            ])
        #expect(try Fixture.command(["reveal", "-"]).positionals == ["-"])
        #expect(try Fixture.command(["reveal", "--", "--"]).positionals == ["--"])
    }

    @Test func `as absent where they may be`() throws {
        #expect(try Fixture.command(["list"]).argument("PATTERN") == nil)
        #expect(try Fixture.command(["list"]).arguments("PATTERN").isEmpty)
    }

    @Test func `untouched behind the dashes of a command to run`() throws {
        let arguments = [
            "run", "-t", "dev", "--", "env", "--json", "--", "-x", "", "A=b", "--help",
        ]
        let command = try Fixture.command(arguments)
        #expect(command.rest == ["env", "--json", "--", "-x", "", "A=b", "--help"])
        #expect(command.restIndex == 4)
        #expect(!command.has("json"))
        #expect(command.positionals.isEmpty)
    }

    @Test(arguments: [
        (["set"], UsageError.Code.missingArgument),
        (["rename", "A"], .missingArgument),
        (["move", "a"], .missingArgument),
        (["reveal"], .missingArgument),
        (["run"], .missingArgument),
        (["run", "--"], .missingArgument),
        (["run", "env"], .unexpectedArgument),
        (["run", "env", "--", "x"], .unexpectedArgument),
        (["set", "A", "b"], .unexpectedArgument),
        (["list", "a", "b"], .unexpectedArgument),
        (["slot", "list", "x"], .unexpectedArgument),
        (["reveal", ""], .invalidValue),
        (["move", "a", "nowhere"], .invalidValue),
    ])
    func `or refused`(_ arguments: [String], _ code: UsageError.Code) {
        #expect(Fixture.failure(arguments)?.code == code)
    }

    @Test func `and the error names the one that is missing`() {
        #expect(Fixture.failure(["rename", "A"])?.message == "rename needs NEW.")
        #expect(Fixture.failure(["move", "a"])?.message == "move needs TARGET.")
        #expect(Fixture.failure(["move"])?.message == "move needs SOURCE.")
    }
}

@Suite struct `Help and version are asked for` {
    @Test(arguments: [
        ["help"], ["--help"], ["-h"], ["--json", "--help"], ["help", "--json"], ["help", "--help"],
        ["--vault", "list", "--help"], [],
    ])
    func `for the program`(_ arguments: [String]) throws {
        #expect(try topic(arguments) == .program)
    }

    @Test(arguments: [
        ["help", "set"], ["set", "--help"], ["--help", "set"], ["set", "K", "--bogus", "--help"],
        ["set", "-h"], ["set", "a", "b", "--help"], ["help", "--json", "set"],
        ["-p", "list", "set", "--help"], ["help", "set", "--help"],
    ])
    func `for a command`(_ arguments: [String]) throws {
        #expect(try topic(arguments) == .command(Fixture.set))
    }

    @Test(arguments: [["help", "slot", "add"], ["slot", "add", "--help"], ["slot", "-h", "add"]])
    func `for a group`(_ arguments: [String]) throws {
        #expect(try topic(arguments) == .group(["slot", "add"]))
    }

    @Test func `and the version before any command`() throws {
        for arguments in [["--version"], ["--json", "--version"]] {
            guard case .version = try Fixture.parser.parse(arguments) else {
                Issue.record("no version for \(arguments)")
                continue
            }
        }
    }

    @Test func `but not behind the dashes`() throws {
        #expect(try Fixture.command(["run", "--", "x", "--help"]).rest == ["x", "--help"])
        #expect(try Fixture.command(["reveal", "--", "--help"]).positionals == ["--help"])
    }

    @Test(arguments: [["help", "sett"], ["sett", "--help"]])
    func `and a slip is answered`(_ arguments: [String]) {
        let error = Fixture.failure(arguments)
        #expect(error?.code == .unknownCommand)
        #expect(error?.hint == "Did you mean \"set\"?")
    }

    @Test(arguments: [
        (["help", "options"], HelpTopic.options), (["help", "environment"], .environment),
        (["help", "exit-codes"], .exitCodes),
    ])
    func `for a topic`(_ arguments: [String], _ expected: HelpTopic) throws {
        #expect(try topic(arguments) == expected)
    }

    @Test(arguments: [
        (["set", "--help-all"], true), (["--help-all", "set"], true), (["set", "--help"], false),
        (["help", "set"], false),
    ])
    func `in full, or short`(_ arguments: [String], _ isFull: Bool) throws {
        guard case .help(let topic, let full) = try Fixture.parser.parse(arguments) else {
            Issue.record("no help")
            return
        }
        #expect(topic == .command(Fixture.set) && full == isFull)
    }

    func topic(_ arguments: [String]) throws -> HelpTopic? {
        guard case .help(let topic, _) = try Fixture.parser.parse(arguments) else { return nil }
        return topic
    }
}
