import CommandLineKit
import Testing

@Suite struct `A slip` {
    @Test(arguments: [
        (["lsit"], "Did you mean \"list\"?"),
        (["reveel", "KEY"], "Did you mean \"reveal\"?"),
        (["SET", "KEY"], "Did you mean \"set\"?"),
        (["hlep"], "Did you mean \"help\"?"),
        (["deploy", "list"], "Did you mean \"deployment\"?"),
        (["deployment", "lst"], "Did you mean \"deployment list\"?"),
        (["promote", "x"], "Did you mean \"deployment promote\"?"),
        (["slot", "add", "fiel", "x"], "Did you mean \"slot add file\"?"),
        (["list", "--taget", "x"], "Did you mean --target?"),
        (["list", "--targt=x"], "Did you mean --target?"),
        (["list", "--jsno"], "Did you mean --json?"),
        (["list", "--dryrun"], "Did you mean --dry-run?"),
        (["set", "K", "--type", "sensitiv"], "Did you mean sensitive?"),
        (["move", "a", "theer"], "Did you mean there?"),
    ])
    func `is answered with what was probably meant`(_ arguments: [String], _ hint: String) {
        #expect(Fixture.failure(arguments)?.hint == hint)
    }

    @Test(arguments: [
        ["frobnicate"], ["list", "--frobnicate"], ["set", "K", "--type", "blue"],
        ["xy"], ["__complet", "x"], ["set", "K", "--secret-fla"],
    ])
    func `too far from everything, or near what is hidden, is not`(_ arguments: [String]) {
        let hint = Fixture.failure(arguments)?.hint ?? ""
        #expect(!hint.contains("Did you mean"))
    }

    @Test func `before the command says where the option belongs`() {
        let error = Fixture.failure(["--target", "x", "list"])
        #expect(error?.message == "--target must come after the command.")
    }

    @Test(
        arguments: [
            ("kitten", "sitting", nil), ("lsit", "list", "list"), ("abcd", "abdc", "abdc"),
            ("a", "b", nil), ("", "a", nil), ("pro", "production", "production"),
            (String(repeating: "x", count: 10_000), "x", nil),
        ] as [(String, String, String?)])
    func `counts a swap as one`(_ typed: String, _ candidate: String, _ found: String?) {
        #expect(Suggestion.nearest(to: typed, among: [candidate]) == found)
    }
}

@Suite struct `No message repeats a secret` {
    static let secret = "Zq7vX9kLmN2pR4tW"
    /// A combining mark behind `=` makes one character of the two: cutting at characters would not
    /// find the sign.
    static let hidden = "=\u{301}\(secret)"

    @Test(arguments: [
        ["--unknown=\(secret)"], ["set", "--unknown=\(secret)"], ["set", "K=\(secret)", secret],
        ["set", "K", secret], ["set", "K", secret, secret], [secret], ["-\(secret)"],
        ["--\(secret)\(secret)\(secret)"], ["--=\(secret)"], ["-=\(secret)"], ["K=\(secret)"],
        ["list", "--json=\(secret)"], ["list", "-y=\(secret)"], ["list", "-q\(secret)"],
        ["list", "--stale", secret], ["list", "--stale=\(secret)"],
        ["history", "K", "--limit", secret], ["set", "K", "--type", secret],
        ["move", "a", secret], ["-p", secret, "list", "-p", "\(secret)x"],
        ["deployment", "K=\(secret)"], ["deployment", secret], ["help", secret],
        ["help", "K=\(secret)"], ["\(secret)=", "--help"], [secret, "--help"],
        ["run", secret], ["run", "K=\(secret)", "x"], ["rename", secret],
        ["set", "K", "--from-file", secret, "--generate", secret],
        ["set", "K", "--branch", secret, "--branch", "other"], ["slot", "list", secret],
        ["--unknown\(hidden)"], ["set", "--unknown\(hidden)"], ["list", "--json\(hidden)"],
        ["K\(hidden)"], ["list", "--yes\(hidden)"],
        ["set", "-----BEGIN \(secret)-----\n\(secret)"],
        ["--\u{301}\(secret)"], ["-\u{301}\(secret)"], ["list", "--vault", "--target=\(secret)"],
        ["set", "K", "--target", "a,,\(secret)"], ["--team-token:\(secret)"],
    ])
    func `given in the wrong place`(_ arguments: [String]) throws {
        let error = try #require(Fixture.failure(arguments))
        for start in 0...(Self.secret.count - 5) {
            let piece = Self.secret.dropFirst(start).prefix(5)
            #expect(!error.description.contains(piece))
        }
    }

    @Test func `but the name before its sign is shown`() {
        #expect(Fixture.failure(["--unknown=x"])?.message == "Unknown option --unknown.")
        #expect(Fixture.failure(["list", "--json=x"])?.message == "--json does not take a value.")
        #expect(Fixture.failure(["wrong-word"])?.message == "Unknown command \"wrong-word\".")
        #expect(Fixture.failure(["k=v"])?.message == "Unknown command.")
    }
}

@Suite struct `Hostile arguments` {
    @Test func `that are not UTF-8 are refused, except for a command to run`() throws {
        let invalid: [[UInt8]] = [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ]
        func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }
        for bad in invalid {
            for words in [["reveal"], ["list", "--vault"], ["list", "-p"], ["reveal", "--"], []] {
                #expect(throws: UsageError.self) {
                    try Fixture.parser.parse(bytes: bytes(words) + [bad])
                }
            }
            let run = bytes(["run", "--", "printf"]) + [bad]
            guard case .command(let command) = try Fixture.parser.parse(bytes: run) else {
                Issue.record("no command")
                continue
            }
            #expect(command.restIndex == 2)
            #expect(run[2...].last == bad)
        }
        #expect(Fixture.failure(["list", "\u{FFFD}", "x"])?.code == .unexpectedArgument)
    }

    @Test func `of any bytes never stop the program`() {
        // Pieces that mean something, glued in every way a short word allows.
        let pieces: [[UInt8]] = [
            Array("-".utf8), Array("--".utf8), Array("=".utf8), Array("t".utf8), Array("q".utf8),
            Array("target".utf8), Array("list".utf8), Array("run".utf8), Array(",".utf8), [0xFF],
            [0xCC, 0x81], [0x00], Array("help".utf8), Array("é".utf8), [], Array("9".utf8),
        ]
        var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
        func next(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        var parsed = 0
        for _ in 0..<20_000 {
            let arguments = (0..<next(5)).map { _ in
                (0..<next(4)).flatMap { _ in pieces[next(pieces.count)] }
            }
            if (try? Fixture.parser.parse(bytes: arguments)) != nil { parsed += 1 }
        }
        #expect(parsed > 100)
    }

    @Test func `of great length are read`() throws {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(try Fixture.command(["reveal", long]).argument("KEY") == long)
        #expect(Fixture.failure([long])?.code == .unknownCommand)
        #expect(Fixture.failure(["--" + long])?.code == .unknownOption)
        #expect(Fixture.failure(["list", "-" + String(repeating: "q", count: 100_000)]) == nil)
        let many = [String](repeating: "A", count: 50_000)
        #expect(try Fixture.command(["reveal"] + many).arguments("KEY").count == 50_000)
    }
}
