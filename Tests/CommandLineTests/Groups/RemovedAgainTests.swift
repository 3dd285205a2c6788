internal import JSON
import Sandbox
import TestSupport
import Testing

/// A colleague makes a value readable or uses it elsewhere by another record of the same name.
@Suite("VAL-A5: a name that is removed, split or renamed, and set again")
struct RemovedAgainTests {
    struct Scene: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What Bob runs; a list beginning with `set` gets the old value.
        let commands: [[String]]
        let effects: [String]
        /// Whether Alice syncs after each.
        var isSlow = false
    }

    private static let weak = ["set", "API_KEY", "--type", "plain", "-t"]
    private static let removal = ["rm", "API_KEY", "--yes"]
    private static let wide = "production,preview,development"

    static let scenes = [
        Scene(
            testDescription: "removed and set for more, weaker",
            commands: [removal, weak + [wide]], effects: ["scope", "type"]),
        Scene(
            testDescription: "the same with a sync between",
            commands: [removal, weak + [wide]], effects: ["scope", "type"], isSlow: true),
        Scene(
            testDescription: "removed and set weaker",
            commands: [removal, weak + ["production,preview"]], effects: ["type"]),
        Scene(
            testDescription: "removed and set for more",
            commands: [removal, ["set", "API_KEY", "--type", "encrypted", "-t", wide]],
            effects: ["scope", "type"]),
        Scene(
            testDescription: "weakened, removed and set",
            commands: [
                ["set", "API_KEY", "--type", "plain", "-t", "production,preview"], removal,
                weak + ["production"],
            ], effects: ["type"], isSlow: true),
        Scene(
            testDescription: "a part split off, weaker", commands: [weak + ["preview"]],
            effects: ["type"]),
        Scene(
            testDescription: "renamed and set weaker",
            commands: [["rename", "API_KEY", "OLD"], weak + ["production"]], effects: ["type"]),
        Scene(
            testDescription: "another target beside it",
            commands: [["set", "API_KEY", "--type", "encrypted", "-t", "development"]],
            effects: ["scope", "type"]),
        // Nothing that was not so.
        Scene(
            testDescription: "removed and set as it was",
            commands: [removal, ["set", "API_KEY", "--type", "sensitive", "-t", "production"]],
            effects: []),
        Scene(
            testDescription: "a name that is new here",
            commands: [["set", "NEW", "--type", "plain", "-t", wide]], effects: []),
    ]

    @Test(arguments: scenes)
    func `it waits until it is accepted`(scene: Scene) throws {
        let homes = try GroupHomes(git: false)
        let platform = try SandboxHome()
        homes.environment["ZG_ENV_API_URL"] = platform.url
        try homes.set(
            "alice", "API_KEY", "secret-1", "-t", "production,preview", "--type", "sensitive")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        done(try homes.run("alice", "login", input: .text(platform.token + "\n")))
        done(try homes.run("alice", "push", "-p", "web", "--yes"))
        try homes.settle("alice", "bob")
        for command in scene.commands {
            done(
                try homes.home("bob").runner(
                    command + ["-p", "web"],
                    input: command[0] == "set" ? .text("secret-1") : .null
                ).run())
            if scene.isSlow { try homes.settle("bob", "alice") }
        }
        try homes.settle("bob", "alice")
        func held() throws -> [JSONDocument] {
            try homes.object("alice", ["group", "accept", "-p", "web", "--dry-run"])["changes"]?
                .elements.filter { $0["key"] == "API_KEY" } ?? []
        }
        let found = try held()
        #expect(
            Set(found.flatMap { $0["effects"]?.texts ?? [] }) == Set(scene.effects), "\(found)")
        guard !scene.effects.isEmpty else { return }
        #expect(found.allSatisfy { $0["author"] == "bob" })
        let before = platform.stored.map { "\($0.key) \($0.type) \($0.targets)" }
        let push = try homes.run("alice", "push", "-p", "web", "--yes", "--force", "--json")
        try failedAsJSON(push, 5, "conflict")
        #expect(platform.stored.map { "\($0.key) \($0.type) \($0.targets)" } == before)
        if scene.effects.contains("scope") {
            let run = try homes.run(
                "alice", "run", "-p", "web", "--", "/usr/bin/printenv", "API_KEY")
            #expect(run.status == 125 && run.output.isEmpty, "\(run.error)")
        }
        done(try homes.run("alice", "group", "accept", "-p", "web", "--unseen"))
        #expect(try held().isEmpty)
        try homes.settle("bob", "alice")
        #expect(try held().isEmpty)
    }
}
