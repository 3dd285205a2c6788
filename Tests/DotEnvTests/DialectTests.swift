import DotEnv
import Testing

@Suite struct `Dialects` {
    struct Case: CustomTestStringConvertible {
        let dialect: DotEnvDialect
        let text: String
        /// Nil if the dialect refuses the text.
        let pairs: [Pair]?

        init(_ dialect: DotEnvDialect, _ text: String, _ pairs: KeyValuePairs<String, String>?) {
            self.dialect = dialect
            self.text = text
            self.pairs = pairs.map { $0.map { Pair($0.key, $0.value) } }
        }

        var testDescription: String { "\(dialect.rawValue) \(text.debugDescription)" }
    }

    @Test(arguments: [
        // The value is between the first and the last quote of the line.
        Case(.vercelPull, #"A="say "hi" # now""# + "\n", ["A": #"say "hi" # now"#]),
        Case(.vercelPull, #"A="x\ny\rz\t\\n""# + "\r\n", ["A": "x\ny\rz\\t\\\n"]),
        Case(.vercelPull, "A=\"\"\nB=\"\"\"\n", ["A": "", "B": "\""]),
        // Lines that others added are read as motdotla reads them.
        Case(.vercelPull, "A=x # c\nB='p\nq'\nC=\"r\ns\"\n", ["A": "x", "B": "p\nq", "C": "r\ns"]),
        Case(.docker, "A = 1\n", nil),
        Case(.docker, "=1\n", nil),
        Case(.docker, " A=\"x\" # y \r\n#B=1\nC\nD=", ["A": "\"x\" # y ", "D": ""]),
        Case(.docker, "A=" + String(repeating: "x", count: 65_534), nil),
        Case(
            .systemd, "A=x \\\n y\n; c\n#d \\\ncontinued\nB='1' \"2\" 3'4'  \n",
            ["A": "x  y", "B": "123'4'"]),
        Case(.systemd, "A=\"a\\$b\\q\\\nc\"\n", ["A": "a$b\\qc"]),
        Case(.systemd, "A=\(nonCharacter)\n", nil),
        Case(.compose, "A: 1\nB = 'x\\'y' C=\"z\" # d\n", ["A": "1", "B": "x'y", "C": "z"]),
        Case(.compose, "A=$$x\nB=\"\\$y $\\$$\\t\\0101\\c\"\n", ["A": "$x", "B": "$y $$\tA\\c"]),
        Case(.compose, "A=$x$$\nB=\"${x}\\n\\$\"\n", ["A": "$x$$", "B": "${x}\n\\$"]),
        Case(.compose, "A b=1\n", nil),
        Case(.compose, "A='x\n", nil),
        Case(.shell, "A='x'\"y\\$\\q\"\\z$\n", ["A": "xy$\\qz$"]),
        Case(.shell, "export A=1 B='2 3'; C=4 # d\nexport D\n", ["A": "1", "B": "2 3", "C": "4"]),
        Case(.shell, "A=1 \\\n B=2\\\n3", ["A": "1", "B": "23"]),
        Case(.shell, "A=$B\n", nil), Case(.shell, "A=\"${B}\"\n", nil),
        Case(.shell, "A=`id`\n", nil), Case(.shell, "A=\"`id`\"\n", nil),
        Case(.shell, "A=$(id)\n", nil), Case(.shell, "A=~/x\n", nil),
        Case(.shell, "A=x:~\n", nil), Case(.shell, "A=(1)\n", nil), Case(.shell, "A+=1\n", nil),
        Case(.shell, "id\n", nil), Case(.shell, "A=1 id\n", nil), Case(.shell, "A=1 & B=2\n", nil),
        Case(.shell, "A=1>f\n", nil), Case(.shell, "export -p\n", nil),
        Case(.shell, "export\n", nil),
        Case(.shell, "A=1;;\n", nil), Case(.shell, "A='x\n", nil), Case(.shell, "A=$'x'\n", nil),
        Case(.shell, "export A={a,b}\n", nil), Case(.shell, "A={a,b}\n", ["A": "{a,b}"]),
        Case(.shell, "A=x\\", nil),
        Case(
            .portable, "# c\n\nA=1\nB='x \"y\"'\nC=\"it's\nfine\"\nD=",
            ["A": "1", "B": "x \"y\"", "C": "it's\nfine", "D": ""]),
        Case(.portable, "A=1 \n", nil), Case(.portable, " A=1\n", nil),
        Case(.portable, "A=1\r\n", nil), Case(.portable, "\u{FEFF}A=1\n", nil),
        Case(.portable, "A=x y\n", nil), Case(.portable, "A='${x}'\n", nil),
        Case(.portable, "A='x\\'\n", nil), Case(.portable, "A=\"\\\"\n", nil),
        Case(.portable, "A=1\nA=1\n", nil), Case(.portable, "# c", nil),
        Case(.portable, "# c \\\nA=1\n", nil), Case(.portable, "export A=1\n", nil),
        Case(.portable, "# \u{2028}A=1\n", nil), Case(.portable, "__proto__=1\n", nil),
    ])
    func `values are those of the dialect`(item: Case) throws {
        guard let expected = item.pairs else {
            let error = failure { () throws(DotEnvError) in
                _ = try read(item.text, as: item.dialect)
            }
            #expect(error?.code == (item.dialect == .shell ? error?.code : .refused))
            #expect(error?.position != nil)
            return
        }
        #expect(try pairs(item.text, as: item.dialect) == expected)
    }

    @Test func `a shell text that would run something is reported`() {
        let error = failure { () throws(DotEnvError) in _ = try read("A=1\nB=$(id)", as: .shell) }
        #expect(error?.code == .wouldExecute)
        #expect(error?.position == DotEnvPosition(line: 2, column: 3))
    }

    @Test(arguments: [
        (DotEnvDialect.vercelPull, "A=\"x\\ny\"\nB=\"z\"\n", ["ambiguous-line-break"]),
        (.docker, "A\nB=2\n", ["ignored-no-equals"]),
        (.compose, "A=$x\nB\n", ["unexpanded", "ignored-no-equals"]),
        (.shell, "A=1\r\nexport B\n", ["differs-line-ending", "ignored-no-equals"]),
        (.systemd, "\u{FEFF}A=1\n", ["differs-bom", "name-not-portable"]),
        (.systemd, "nothing\nA=1\n", ["ignored-no-equals"]),
        (
            .node, "A=1\n=2\nB=3\n",
            ["differs-extra-name", "ignored-junk", "differs-extra-name"]
        ),
    ])
    func `skipped and kept lines are reported`(
        dialect: DotEnvDialect, text: String, expected: [String]
    ) throws {
        #expect(try codes(text, as: dialect) == expected)
    }
}
