import Foundation
import TestSupport
import Testing

/// Two writing commands over one vault: both have the effect that one after the other would have, or
/// one is refused and has none. A group learns of each change once.
@Suite("Two writing commands at once")
struct WritePairTests {
    /// A command that writes.
    struct Act: Sendable {
        let words: [String]
        var input: String?
        /// What it asks on the terminal, between its plan and its write; nil if it asks nothing.
        var question: String?

        var name: String { words.joined(separator: " ") }
    }

    static let acts: [Act] = [
        Act(words: ["set", "A", "-p", "web"], input: "a2"),
        Act(words: ["set", "A", "-p", "web", "-t", "preview"], input: "a3"),
        Act(words: ["set", "NEW", "-p", "web"], input: "n1"),
        Act(words: ["set", "C", "-p", "web", "--rotate-every", "30d"], input: "c9"),
        Act(words: ["import", ".env", "-p", "web", "-t", "production"]),
        Act(words: ["rm", "A", "-p", "web"], question: "Remove it?"),
        Act(words: ["rm", "B", "-p", "web", "-t", "production"], question: "Remove it?"),
        Act(words: ["rename", "A", "Z", "-p", "web"]),
        Act(words: ["rename", "B", "A", "-p", "web"]),
        Act(words: ["copy", "B", "-p", "web", "--to-target", "preview"]),
        Act(words: ["copy", "C", "-p", "web", "--to-project", "other"]),
        Act(words: ["restore-version", "C", "1", "-p", "web"]),
        Act(words: ["project", "rename", "web", "shop"]),
        Act(words: ["project", "remove", "api"], question: "Remove the project"),
        Act(words: ["set", "X", "-p", "api"], input: "x2"),
        Act(words: ["config", "set", "history-keep", "7"]),
        Act(words: ["link", "--local", "api"]),
        Act(words: ["set", "X", "-p", "new"], input: "x3"),
        Act(words: ["set", "Y", "-p", "new"], input: "y1"),
    ]

    /// A home with variables, one of two projects shared with a group, copied for each world.
    static func prepared() throws -> CommandHome {
        let home = try CommandHome.initialised()
        try home.directory.write("A=ai\nD=di\n", to: "work/.env")
        try home.store(["A": "a1", "C": "c1"])
        try home.store(["C": "c2"])
        try home.store(["C": "c3"])
        done(
            try home.run(["set", "B", "-p", "web", "-t", "production"], input: .text("b1")))
        try home.store(["X": "x1"], in: "api")
        let place = home.directory.path("place")
        done(try GroupHomes.git(["init", "--quiet", "--bare", place], in: home.directory))
        done(
            try home.run([
                "share", "web", "--group", "acme", "--at", place, "--as", "ada", "--yes",
            ]))
        return home
    }

    static func copy(of home: CommandHome) throws -> CommandHome {
        let copy = try CommandHome()
        for folder in ["data", "state", "config", "work"] {
            let path = copy.directory.path(folder)
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: home.directory.path(folder), toPath: path)
        }
        // The rollback guards and the group's copy are filed under the vault's path.
        try copy.forgetAnchors()
        return copy
    }

    private static func runner(_ act: Act, _ home: CommandHome) -> ProgramRunner {
        home.runner(
            act.words + (act.question == nil ? [] : ["--yes"]),
            input: act.input.map { .text($0) } ?? .null)
    }

    /// What a vault holds, and what it tells the group.
    struct State: Equatable {
        let values: [String]
        let told: [String]

        /// The names that the group hears of.
        var namesTold: Set<Substring> {
            Set(
                told.flatMap {
                    $0.split(separator: " ").filter { $0.wholeMatch(of: /[A-Z]+/) != nil }
                })
        }
    }

    static func state(of home: CommandHome) throws -> State {
        let files = home.directory.path("out")
        done(try home.run(["export", "--all-projects", "-o", files, "--yes"]))
        var lines: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: files).sorted() {
            let text = try String(contentsOfFile: "\(files)/\(name)", encoding: .utf8)
            let values = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.sorted()
            lines.append("\(name): \(values.joined(separator: " "))")
        }
        return State(values: lines, told: try told(home).sorted())
    }

    /// What the group hears, with the ids of versions left out.
    private static func told(_ home: CommandHome) throws -> [String] {
        let log = try json(home.run(["log", "--group", "acme", "--json"]))
        return (log["changes"]?.elements ?? []).flatMap { $0["operations"]?.elements ?? [] }
            .map { ($0.text ?? "").replacing(/\ [0-9a-f]{8}$/, with: "") }
    }

    /// The names of the acts that ended well, as the audit log has them.
    static func logged(_ home: CommandHome) throws -> [String] {
        let log = try json(home.run(["log", "--json"]))
        #expect(log["whole"] == true)
        return (log["entries"]?.elements ?? []).filter { $0["outcome"] == "done" }
            .map { $0["command"]?.text ?? "" }
    }

    /// Returns the state after commands one after the other.
    static func inOrder(_ acts: [Act], _ home: CommandHome) throws -> State {
        let copy = try copy(of: home)
        for act in acts { _ = try runner(act, copy).run() }
        return try state(of: copy)
    }

    @Test("lose nothing, and tell the group once")
    func together() throws {
        let home = try Self.prepared()
        var random = ProofRandom(58)
        let pairs = Self.acts.indices.flatMap { first in
            Self.acts.indices.filter { $0 > first }.map { (first, $0) }
        }
        let base = try Self.logged(home).count
        for (first, second) in Proof.sample(pairs, short: 30, using: &random) {
            let acts = [Self.acts[first], Self.acts[second]]
            let copy = try Self.copy(of: home)
            let results = try Together.run(acts.map { Self.runner($0, copy) })
            let state = try Self.state(of: copy)
            let logged = try Self.logged(copy).count - base
            let worlds = try [
                Self.inOrder(acts, home),
                Self.inOrder(acts.reversed(), home),
            ]
            let names = "\(acts.map(\.name)) \(random.seedText)"
            var allowed = worlds
            // One that was refused has no effect.
            for (place, result) in results.enumerated() where result.status != 0 {
                #expect([2, 4, 5].contains(result.status), "\(names) \(result.error)")
                allowed.append(try Self.inOrder([acts[1 - place]], home))
            }
            #expect(allowed.contains(state), "\(names)\n\(state)\n\(allowed)")
            let done = results.filter { $0.status == 0 }.count
            #expect((done - 1...done).contains(logged), "\(names) \(logged)")
        }
    }

    @Test("one that asked is refused if the other changed what it asked about")
    func between() throws {
        let home = try Self.prepared()
        var random = ProofRandom(59)
        let asking = Self.acts.filter { $0.question != nil }
        let pairs = asking.flatMap { first in
            Self.acts.filter { $0.name != first.name }.map { (first, $0) }
        }
        // In each run a pair whose plan is another one afterwards, but still possible.
        let overtaken = pairs.filter {
            $0.name == "project remove api" && $1.name == "set X -p api"
        }
        for (first, second) in overtaken + Proof.sample(pairs, short: 16, using: &random) {
            let copy = try Self.copy(of: home)
            let other = Self.runner(second, copy)
            nonisolated(unsafe) var status: Int32 = -1
            var runner = copy.terminalRunner(
                first.words, streams: true,
                script: [
                    (
                        .terminal(first.question ?? ""),
                        .call { _, _ in unsafe status = (try? other.run().status) ?? -1 }
                    ),
                    (.now, .line("y")),
                ])
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = copy.passphrasePath
            let result = try runner.run()
            let names = "\(first.name) / \(second.name) \(random.seedText)"
            #expect(unsafe [0, 4, 5].contains(status), "\(names)")
            let after = try Self.inOrder([second, first], home)
            let alone = try Self.inOrder([second], home)
            let state = try Self.state(of: copy)
            if result.status == 0 {
                #expect(state == after, "\(names)")
            } else {
                #expect(result.status == 5 || result.status == 4, "\(names) \(result.screen)")
                #expect(state == alone, "\(names)")
                if result.status == 5 {
                    #expect(
                        result.screen.contains("changed while the command was running"),
                        "\(names) \(result.screen)")
                }
            }
        }
    }
}
