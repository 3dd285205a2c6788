import EnvSchema
import Testing

/// Rules of env-spec files beyond the cases.
@Suite struct SpecRulesTests {
    private func notes(_ text: String) throws -> Set<String> {
        Set(try readSpec(text).notes.map(\.inCases))
    }

    private func item(_ text: String) throws -> SchemaItem {
        try #require(try readSpec(text).items.last)
    }

    private func value(_ line: String) throws -> DeclaredValue {
        try item("# @public\n\(line)\n").value
    }

    @Test(
        arguments: [
            ("A= fn(x)", .default("fn(x)")), ("A=fn", .default("fn")), ("A=fn()", .function("fn")),
            ("A=fn(a, b=c, )", .function("fn")), ("A=fn(,)", .function("fn")),
            ("A=fn(a", .default("fn(a")), ("A=fn(a b)", .default("fn(a b)")),
            ("A=fn(\"a)\")", .function("fn")), ("A=fn([a, {b=c}])", .function("fn")),
            ("A=fn( # text )\n a)", .function("fn")), ("A=[a b]", .default("[a b]")),
            ("A=[]", .default("")), ("A={}", .default("{}")),
            ("A=[a, \"b,c\"]", .default("[\"a\",\"b,c\"]")),
            ("A=[1, [x]]", .default("[1,[\"x\"]]")),
            ("A={a=[1, 2], b={c=true}}", .default("{\"a\":[1,2],\"b\":{\"c\":true}}")),
            ("A={a=${B}}", .function("record")), ("A=[\n a, # one\n b\n]", .default("a,b")),
            ("A='$B'", .default("$B")), ("A=$5", .default("$5")), ("A=$$", .default("$$")),
            ("A=\\$B", .default("$B")), ("A=${B-x}", .function("fallback")),
            ("A=${B:-}", .default("${B:-}")), ("A=${B:-$C}", .function("concat")),
            ("A=${B.c}", .function("ref")), ("A=$B$C", .function("concat")),
            ("A=$(echo \")\")", .function("exec")), ("A=$(a", .default("$(a")),
            ("A=$(a) $(b)", .function("concat")), ("A=\"\\n\\$B\"", .default("\n$B")),
            ("A=\"\"\"\n\"a\"\\n\n\"\"\"", .default("\n\"a\"\\n\n")),
            ("A='a\nb'", .default("a\nb")), ("A=a  # b", .default("a")), ("A= ", .none),
            ("A=undefined # b", .none), ("A=\"undefined\"", .default("undefined")),
            ("export A=1", .default("1")), ("A=\t1\t", .default("1")),
        ] as [(String, DeclaredValue)])
    func valueIsRead(_ line: String, _ expected: DeclaredValue) throws {
        #expect(try value(line) == expected)
    }

    @Test(
        arguments: [
            "A= \"x\"", "A=fn(x) y", "A=[a] b", "A='", "A=\"x", "A=\"\"\"x\"\"\"", "=x", "A",
            "export =x", "A:x", " # x", "# @", "# @1", "A=1 # @", "# @required=", "# @required=\"x",
            "# @docs(", "# @docs(a b)", "# @required mail a@b", "# @required@public", "A=1 # ---",
            "# @docs(a)b", "# @type=string(a))",
        ])
    func lineIsUnreadable(_ line: String) {
        #expect(
            schemaError { () throws(SchemaError) in try readSpec("X=\n\(line)\nY=\n") }
                == SchemaError(.syntax, line: 2))
    }

    @Test(
        arguments: [
            ("0", true), ("-1", true), ("1.5", true), ("9007199254740991", true), ("-0", false),
            ("9007199254740992", false), ("01", false), (".5", false), ("1.", false), ("+1", false),
            ("0.000001", true), ("0.0000001", false), ("1.50", false), ("1e5", false), ("-", false),
            ("0.1234567890123456789", false), ("0x10", false), ("NaN", false),
        ])
    func numbersAreInferredFromPlainDecimals(_ text: String, _ isNumber: Bool) throws {
        let item = try item("A=\(text)\n")
        #expect(item.typeIsInferred == isNumber)
        #expect(item.type?.name == (isNumber ? .number : .string))
    }

    @Test(
        arguments: [
            ("# @required(true)\nA=", ["bad-value:A"]), ("# @tag=x\nA=", ["bad-value:A"]),
            ("# @docs\nA=", ["bad-value:A"]), ("# @docs()\nA=", ["bad-value:A"]),
            ("# @docs(a, b, c)\nA=", ["bad-value:A"]), ("# @internal=x\nA=", ["bad-value:A"]),
            ("# @required=forEnv()\nA=", ["bad-value:A"]),
            ("# @sensitive={enabled=maybe}\nA=", ["bad-value:A"]),
            ("# @required=true,\nA=", ["bad-value:A"]), ("# @type=[a]\nA=", ["bad-value:A"]),
            ("# @example=x @example=y\nA=", ["duplicate-decorator:A"]),
            ("# @docs(a) @docs(b) @tag(c) @tag(d)\nA=", []),
            ("# @generateRust(x)\nA=", ["misplaced-decorator:A"]),
            ("# @generator(x)\nA=", ["unknown-decorator:A"]),
            ("# @TODO: x\n# @see\nA=", ["prose-decorator:A"]),
            ("# @type\nA=", ["unknown-type:A"]), ("# @type=$T\nA=", ["dynamic-type:A"]),
            ("# @type=foo(x)\nA=", ["unknown-type:A"]), ("# @type=Url\nA=", ["unknown-type:A"]),
            ("# @type=port(1)\nA=", ["bad-type-options:A"]),
            ("# @type=enum(a, b=c)\nA=", ["bad-type-options:A"]),
            ("# @type=array(url, port)\nA=", ["bad-type-options:A"]),
            ("# @type=array(integer)\nA=", ["unknown-type:A"]),
            ("# @type=string(minLength=$N, foo=1)\nA=", ["dynamic-option:A", "unknown-option:A"]),
            ("# @type=array(string(matches=\"(?=a)\"))\nA=", ["regex-unsupported:A"]),
            ("# @required=not(eq($A, x))\nA=", ["dynamic-required:A"]),
            ("# @public=fn()\nA=", ["dynamic-sensitive:A"]),
            ("# @see x\n# ---\nA=", ["prose-decorator:@see"]),
            ("# @currentEnv=A\n# ---\nA=", ["bad-value:@currentEnv"]),
            ("# @currentEnv=$VARLOCK_ENV\n# ---\nA=", []),
            ("# @plugin=x\n# ---\nA=", ["bad-value:@plugin"]),
            ("# @disable=false\n# ---\nA=", []),
            ("# @disable=x\n# ---\nA=", ["bad-value:@disable"]),
            ("# @proxy(x)\n# ---\nA=", []), ("# @generateTypes\n# ---\nA=", ["codegen-ignored"]),
            ("# @defaultRequired=undefined\n# ---\nA=", ["bad-value:@defaultRequired"]),
            ("# @defaultSensitive=inferFromPrefix()\n# ---\nA=", ["bad-value:@defaultSensitive"]),
            ("# @disable @foo\n# ---\n# @foo\nA=$B\n", ["file-disabled"]),
            ("# @sensitive\nA=", []), ("# @sensitive\nA=\"\"", []),
            ("# @sensitive\nA=$B", ["function-value:A"]),
            ("# @type=number\nA=12abc", []), ("# @type=number\nA=abc", ["default-invalid:A"]),
            ("# @type=number\nA=<number>", ["placeholder-like:A"]),
            ("A=1\n# @foo\nA=2", ["duplicate-key:A", "unknown-decorator:A"]),
            ("# @foo\nA=$B\nA=2", ["duplicate-key:A"]),
        ] as [(String, Set<String>)])
    func noteIsMade(_ text: String, _ expected: Set<String>) throws {
        #expect(try notes(text) == expected)
    }

    @Test func statementsThatContradict() throws {
        #expect(try item("# @required=false @optional=false\nA=").requirement == .always)
        #expect(try item("# @required=forEnv(p) @optional\nA=").requirement == .environments(["p"]))
        #expect(try item("# @optional=not(forEnv(p))\nA=").requirement == .environments(["p"]))
        #expect(try item("# @required=$B\nA=").requirement == .depends)
    }

    @Test func sensitivityHasOneSource() throws {
        func source(_ text: String) throws -> SensitivitySource? {
            try item(text).sensitivitySource
        }
        let file = "# @defaultSensitive=false\n# ---\n"
        #expect(try source("# @public @proxy(x)\nA=") == .proxy)
        #expect(try source("# @sensitive @proxy(x)\nA=") == .item)
        #expect(try source(file + "A=varlock(x)") == .function)
        #expect(try source(file + "# @public\nA=varlock(x)") == .item)
        #expect(try source(file + "A=concat(varlock(x))") == .file)
        #expect(try source("A=") == .implicit)
    }

    @Test(
        arguments: [
            "<x>", "ChangeMe", "a-replace_me", "replace me", "your_key", "a/your-x", "x@YOUR x",
            "xxxx", "aXXXXXXb", "a...b", "{{x}}", "TODO", "changeit",
        ])
    func placeholderIsRecognized(_ text: String) throws {
        #expect(try item("A=\"\(text)\"").value == .placeholder(text))
        #expect(try item("# @public\nA=\"\(text)\"").value == .default(text))
    }

    @Test(
        arguments: [
            "<x", "changeling", "yours", "xyour-key", "xxx", "axxxxx", "{{x", "todo2", "..a",
        ])
    func valueIsNoPlaceholder(_ text: String) throws {
        #expect(try item("A=\"\(text)\"").value == .default(text))
    }

    @Test func decoratorsAreOfWhatTheyStandAt() throws {
        let schema = try readSpec(
            "# a @x\n\n# b\n#\n# @example=x # c\n#  d\nA=1 # e @public\n\n# @foo\n\nB=\n# @bar")
        #expect(schema.items.map(\.description) == ["b\n\nd", nil])
        #expect(schema.items.map(\.example) == ["x", nil])
        #expect(schema.items.map(\.line) == [7, 11])
        #expect(
            schema.notes == [
                SchemaNote(.detachedDecorator, decorator: "foo", line: 9),
                SchemaNote(.detachedDecorator, decorator: "bar", line: 12),
            ])
    }

    @Test func linesAreCounted() throws {
        let schema = try readSpec(
            "\u{FEFF}# @type=enum(a,\r\n#  # b,\r\n#  c) @foo\r\n# @bar\r\nA=\"x\r\n\"\r\nB=$A")
        #expect(
            schema.notes.map { "\($0.line) \($0.inCases) \($0.subject ?? "")" } == [
                "3 unknown-decorator:A foo", "4 unknown-decorator:A bar", "5 default-invalid:A ",
                "7 function-value:B ref",
            ])
        #expect(schema.items[0].type?.options["values"] == .list(["a", "c"]))
    }

    @Test func firstOfBothNamesOfTheEnvironmentCounts() throws {
        let schema = try readSpec("# @currentEnv=$A\n# @envFlag=B\n# ---\nA=\nB=")
        #expect(schema.environmentKey == "A")
    }
}
