import Testing

/// The rules by which pages are followed, since a page that is not followed proves nothing.
@Suite("Pages as scripts") struct DocumentScriptTests {
    @Test("Commands, what they show, what is typed, and how they end")
    func console() throws {
        let page = """
            Text.

            <!-- types:
            hunter2 -->
            ```console
            $ zg-env init
            New passphrase:
            Confirm passphrase:
            Go on? [y/N] y
            $ cat <<X
            > a
            > X
            a
            $ false   # exits 1
            ```
            """
        let steps = try DocumentScript(page).steps
        #expect(steps.count == 3)
        #expect(steps[0].typed == ["hunter2", DocumentScript.passphrase, "y"])
        #expect(steps[0].line == 6 && steps[1].command == "cat <<X\na\nX")
        #expect(steps[1].expected == ["a"] && steps[2].status == 1)
    }

    @Test("What is not run has a reason, and what has none is found")
    func strays() throws {
        let page = """
            <!-- not run: it wants a container engine -->
            ```console
            $ docker build .
            ```
            ```
            zg-env list
            ```

                zg-env status
            """
        let script = try DocumentScript(page)
        #expect(script.steps.isEmpty && script.omissions.count == 1)
        #expect(script.strays == [6, 9])
        #expect(throws: DocumentScript.Problem.self) {
            try DocumentScript("<!-- not run: no -->\n```sh\nx\n```")
        }
        #expect(throws: DocumentScript.Problem.self) { try DocumentScript("```sh\nx") }
    }

    @Test("Files and hidden commands are made where they stand")
    func files() throws {
        let page = "<!-- run: cd web -->\n```make file=Makefile\nall:\n```\n"
        let steps = try DocumentScript(page).steps
        #expect(
            steps.map(\.command) == [
                "cd web", "cat >'Makefile' <<'END OF FILE'\nall:\nEND OF FILE",
            ])
    }

    @Test("What is shown is held against the page, line by line")
    func difference() {
        #expect(ShownText.difference(["a", "…", "d"], ["a", "b", "c", "d"]) == nil)
        #expect(ShownText.difference(["a", "…"], ["a"]) == nil)
        #expect(ShownText.difference(["a … c", ""], ["a b c"]) == nil)
        #expect(ShownText.difference(["a"], ["a", "b"]) != nil)
        #expect(ShownText.difference(["a", "b"], ["a"]) != nil)
        #expect(ShownText.difference(["a…b"], ["ab", "x"]) != nil)
        #expect(ShownText.difference(["Passphrase:", "a"], ["a"]) == nil)
        #expect(!ShownText.matches("ab", "ab…b"))
        #expect(ShownText.difference(["KEY  just now   1"], ["KEY  2 min ago  1"]) == nil)
        #expect(ShownText.difference(["KEY  just now   1"], ["KEY  2 min ago  2"]) != nil)
    }

    @Test("Progress that was taken back is not shown")
    func taken() {
        #expect(ShownText.lines(Array("50 %\r\u{1B}[Kdone\r\nx \r\n".utf8)) == ["done", "x"])
        #expect(ShownText.lines(Array("\u{1B}[1mbold\u{1B}[0m\nab\rc\n".utf8)) == ["bold", "cb"])
    }
}

/// A page that says something wrong is not passed over.
@Suite("Following a page") struct DocumentRunTests {
    @Test(
        "A wrong text, a wrong end and a command that hangs are found",
        arguments: [
            ("```console\n$ echo a\nb\n```", "line 2"),
            ("```console\n$ false\n```", "ended with 1"),
            ("```sh\ntrue\nfalse\ntrue\n```", "ended with 1"),
            ("```console\n$ read line\nValue of NAME:\n```", "did not end"),
        ])
    func wrong(_ page: String, _ words: String) throws {
        var run = try DocumentRun(try DocumentScript(page), keyring: nil)
        run.timeLimit = .seconds(5)
        let failures = try run.failures()
        #expect(failures.count == 1 && failures.first?.description.contains(words) == true)
    }

    @Test("Right ones are not")
    func right() throws {
        let page = """
            ```console
            $ cd /tmp && name=x; echo "in $PWD"
            in /tmp
            $ read -r -s -p 'Value of X: ' word; printf '\\r\\033[K'; echo "$word $name"
            Value of X:
            correct horse battery staple x
            $ (exit 5)   # exits 5
            ```
            """
        #expect(try DocumentRun(try DocumentScript(page), keyring: nil).failures().isEmpty)
    }
}
