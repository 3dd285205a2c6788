import CommandLineKit
import Testing

@Suite struct `A description` {
    @Test func `that is sound has no problems`() {
        #expect(Fixture.program.problems() == [])
    }

    @Test(
        arguments: [
            (
                "Duplicate command",
                [CommandSpec(["a"], "A"), CommandSpec(["a"], "A")]
            ),
            ("not a valid command name", [CommandSpec(["A b"], "A")]),
            ("not a valid command name", [CommandSpec(["help"], "A")]),
            ("full stop or a line break", [CommandSpec(["a"], "Do it.")]),
            ("no summary", [CommandSpec(["a"], "")]),
            ("undocumented exit code", [CommandSpec(["a"], "A", exitCodes: [77])]),
            ("to exclude", [CommandSpec(["a"], "A", exclusive: [["x"]])]),
            (
                "without the program",
                [
                    CommandSpec(["a"], "A", examples: [CommandSpec.Example("x", "y")])
                ]
            ),
            (
                "after the ones that follow --",
                [
                    CommandSpec(
                        ["a"], "A",
                        arguments: [
                            ArgumentSpec("A", .restAfterDashes, "a"), ArgumentSpec("B", .one, "b"),
                        ])
                ]
            ),
            (
                "optional or variadic",
                [
                    CommandSpec(
                        ["a"], "A",
                        arguments: [
                            ArgumentSpec("A", .optional, "a"), ArgumentSpec("B", .zeroOrMore, "b"),
                        ])
                ]
            ),
            (
                "reuses -q",
                [
                    CommandSpec(
                        ["a"], "A", options: [OptionSpec(flag: "x", short: "q", "X")])
                ]
            ),
            (
                "is a duplicate",
                [
                    CommandSpec(
                        ["a"], "A",
                        options: [OptionSpec(flag: "x", "X"), OptionSpec(flag: "x", "X")])
                ]
            ),
            (
                "a different kind",
                [
                    CommandSpec(
                        ["a"], "A", options: [OptionSpec("quiet", value: "N", "X")])
                ]
            ),
            (
                "reserved for the parser",
                [
                    CommandSpec(["a"], "A", options: [OptionSpec(flag: "help", "X")])
                ]
            ),
            (
                "invalid short name",
                [
                    CommandSpec(
                        ["a"], "A", options: [OptionSpec(flag: "x", short: "é", "X")])
                ]
            ),
        ] as [(String, [CommandSpec])])
    func `that is not says so`(_ problem: String, _ commands: [CommandSpec]) {
        let program = ProgramSpec(
            name: "tool", version: "1", summary: "A", globalOptions: Fixture.globals,
            sections: [.init("Commands", commands)])
        #expect(program.problems().contains { $0.contains(problem) })
    }
}
