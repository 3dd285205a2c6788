import CommandLineKit
import Testing

@Suite struct `A description` {
    @Test func `that is sound has no problems`() {
        #expect(Fixture.program.problems() == [])
    }

    @Test(
        arguments: [
            (
                "Two commands are",
                [CommandSpec(["a"], "A", section: "S"), CommandSpec(["a"], "A", section: "S")]
            ),
            ("is no name", [CommandSpec(["A b"], "A", section: "S")]),
            ("is no name", [CommandSpec(["help"], "A", section: "S")]),
            ("not one line", [CommandSpec(["a"], "Do it.", section: "S")]),
            ("no section", [CommandSpec(["a"], "Do it", section: "")]),
            ("no summary", [CommandSpec(["a"], "", section: "S")]),
            ("not described", [CommandSpec(["a"], "A", section: "S", exitCodes: [77])]),
            ("to exclude", [CommandSpec(["a"], "A", section: "S", exclusive: [["x"]])]),
            (
                "without the program",
                [
                    CommandSpec(["a"], "A", section: "S", examples: [CommandSpec.Example("x", "y")])
                ]
            ),
            (
                "behind the dashes",
                [
                    CommandSpec(
                        ["a"], "A", section: "S",
                        arguments: [
                            ArgumentSpec("A", .restAfterDashes, "a"), ArgumentSpec("B", .one, "b"),
                        ])
                ]
            ),
            (
                "number is open",
                [
                    CommandSpec(
                        ["a"], "A", section: "S",
                        arguments: [
                            ArgumentSpec("A", .optional, "a"), ArgumentSpec("B", .zeroOrMore, "b"),
                        ])
                ]
            ),
            (
                "shares -q",
                [
                    CommandSpec(
                        ["a"], "A", section: "S", options: [OptionSpec(flag: "x", short: "q", "X")])
                ]
            ),
            (
                "there twice",
                [
                    CommandSpec(
                        ["a"], "A", section: "S",
                        options: [OptionSpec(flag: "x", "X"), OptionSpec(flag: "x", "X")])
                ]
            ),
            (
                "another kind",
                [
                    CommandSpec(
                        ["a"], "A", section: "S", options: [OptionSpec("quiet", value: "N", "X")])
                ]
            ),
            (
                "parser's own",
                [
                    CommandSpec(["a"], "A", section: "S", options: [OptionSpec(flag: "help", "X")])
                ]
            ),
            (
                "wrong letter",
                [
                    CommandSpec(
                        ["a"], "A", section: "S", options: [OptionSpec(flag: "x", short: "é", "X")])
                ]
            ),
        ] as [(String, [CommandSpec])])
    func `that is not says so`(_ problem: String, _ commands: [CommandSpec]) {
        let program = ProgramSpec(
            name: "tool", version: "1", summary: "A", globalOptions: Fixture.globals,
            commands: commands)
        #expect(program.problems().contains { $0.contains(problem) })
    }
}
