import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// States that once had no printed way out: the commands that are printed there, typed as they are,
/// resolve them within three steps, and no value is lost.
@Suite("Printed advice")
struct PrintedAdviceTests {
    private let platform: SandboxHome

    init() throws {
        platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme"}],
                 "projects": [
                   {"name": "web", "deployments": [{"target": "production"}]},
                   {"name": "api", "team": "acme"}]}
                """)
    }

    private var follower: AdviceFollower { AdviceFollower(platform: platform) }

    private func act(_ text: String) throws {
        try platform.server.perform(try #require(Act(text), "\(text)"))
    }

    @Test("SYNC-B: commands in messages are split as by a shell")
    func extraction() {
        let text = """
            zg-env: K differs. Take it with: zg-env pull K -p 'my app' --force (yours stays). Or: zg-env \
            push K -p 'it''s, here', zg-env set K -p web -t production,preview.
              zg-env redeploy -p web  (1 not live yet)
            """
        #expect(
            PrintedCommands.all(in: text) == [
                ["pull", "K", "-p", "my app", "--force"], ["push", "K", "-p", "its, here"],
                ["set", "K", "-p", "web", "-t", "production,preview"], ["redeploy", "-p", "web"],
            ])
    }

    // MARK: B1

    @Test(
        "SYNC-B1: a variable that has several records on Vercel, from a first push, pull or import",
        arguments: ["push", "pull", "push K", "import", "status"])
    func parts(start: String) throws {
        try act("create,key=K,value=one,targets=production")
        try act("create,key=K,value=two,targets=preview")
        let arrival: AdviceFollower.Arrival
        switch start {
        case "import":
            arrival = try follower.arrives(
                after: [
                    "import", "-", "-p", "web", "-t", "production,preview", "--push", "--yes",
                ], status: 5, input: .text("K=mine\n"))
        case "status":
            try platform.set("K", "mine", "-t", "production,preview")
            // Status knows a project only after a pull or push.
            _ = try platform.push()
            arrival = try follower.follows(done(try platform.run("status", "-p", "web")).output)
        default:
            try platform.set("K", "mine", "-t", "production,preview")
            let words = start.split(separator: " ").map(String.init)
            arrival = try follower.arrives(after: words + ["-p", "web", "--yes"], status: 5)
        }
        #expect(platform.records("K") == ["preview=two", "production=one"])
        #expect(try platform.syncs("K") == ["synced", "synced"])
        try follower.expectHeld(["mine", "one", "two"], of: ["K"])
        #expect(arrival.typed.contains(["pull", "K", "-p", "web", "--force"]))
    }

    @Test("SYNC-B1: pull --force names what it replaces, asks, and keeps what Vercel lacks")
    func partsAsked() throws {
        try act("create,key=K,value=one,targets=production")
        try act("create,key=K,value=two,targets=preview,type=plain")
        try platform.set("K", "mine")
        let asked = try platform.run("pull", "K", "-p", "web", "--force")
        #expect(asked.status == 2)
        #expect(asked.error.contains("create K for production\n"), "\(asked.error)")
        #expect(asked.error.contains("limit K in the vault to development"))
        try platform.pulled("K", "--force", "--yes").expectMember("conflicts", [])
        #expect(
            try platform.home.scopes(of: "K") == ["development", "preview", "production"])
        #expect(try platform.home.revealed("K", "-t", "preview") == Array("two".utf8))
        #expect(try platform.home.revealed("K", "-t", "development") == Array("mine".utf8))
        try platform.pushed()
        #expect(
            platform.records("K") == ["development=mine", "preview=two", "production=one"])
        // One record on Vercel in place of two in the vault.
        try platform.set("L", "a", "-t", "production")
        try platform.set("L", "b", "-t", "preview")
        try act("create,key=L,value=both,targets=production+preview")
        let (_, message) = try failedReport(platform.pull("--yes"), 5, "conflict")
        #expect(message.contains("zg-env pull L -p web --force"))
        try platform.pulled("L", "--force", "--yes").expectMember("conflicts", [])
        #expect(try platform.home.scopes(of: "L") == ["production,preview"])
        #expect(try platform.home.revealed("L") == Array("both".utf8))
        try follower.expectHeld(["a", "b", "both"], of: ["L"])
        try platform.pushed().expectNothing()
        // A record that was widened onto one of Vercel's becomes what Vercel has.
        try platform.set("M", "old", "-t", "production")
        try platform.pushed()
        try platform.set("M", "wide", "-t", "production,preview")
        try act("create,key=M,value=theirs,targets=preview")
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("M")
        try platform.pulled("M", "--force", "--yes").expectMember("conflicts", [])
        #expect(try platform.home.revealed("M", "-t", "preview") == Array("theirs".utf8))
        #expect(try platform.home.revealed("M", "-t", "production") == Array("wide".utf8))
        try platform.pushed()
        #expect(platform.records("M") == ["preview=theirs", "production=wide"])
    }

    @Test("SYNC-B1: pull --force skips a value that Vercel does not show")
    func hiddenParts() throws {
        try act("create,key=K,value=one,targets=production,type=sensitive")
        try act("create,key=K,value=two,targets=preview")
        try platform.set("K", "mine", "-t", "production,preview")
        let arrival = try follower.arrives(
            after: ["pull", "K", "-p", "web", "--force", "--yes"], status: 5)
        #expect(arrival.typed.first?.first == "set")
        #expect(arrival.said.contains("Vercel does not show its value"))
        #expect(arrival.said.contains("permanently"))
        #expect(platform.records("K") == ["preview=mine", "production=given by hand"])
    }

    // MARK: B2

    @Test(
        "SYNC-B2: an unseen sensitive variable with a key of this vault",
        arguments: ["push", "pull", "pull --force", "push K", "pull K --force"])
    func unseenSensitive(start: String) throws {
        try act("create,key=K,value=theirs,targets=production,type=sensitive")
        try platform.set("K", "mine", "-t", "production")
        let words = start.split(separator: " ").map(String.init)
        let arrival = try follower.arrives(after: words + ["-p", "web", "--yes"], status: 5)
        // The command's own message names the loss.
        #expect(arrival.said.contains("Then overwrite Vercel's value permanently"))
        #expect(
            arrival.typed == [
                ["set", "K", "-p", "web", "-t", "production"],
                ["push", "K", "-p", "web", "--force"],
            ])
        #expect(platform.records("K") == ["production=given by hand"])
        try follower.expectHeld(["mine", "given by hand"], of: ["K"])
    }

    // MARK: B3

    @Test("SYNC-B3: a rename and a new variable of the old name both arrive, also one by one")
    func renamedAndNew() throws {
        for type in ["encrypted", "sensitive"] {
            for keys in [[], ["K"]] {
                let platform = try SandboxHome()
                let follower = AdviceFollower(platform: platform)
                try platform.set("K", "old", "-t", "production", "--type", type)
                try platform.pushed()
                done(try platform.run("rename", "K", "K2", "-p", "web"))
                try platform.set("K", "new", "-t", "production", "--type", type)
                if keys.isEmpty {
                    try platform.pushed()
                } else {
                    try follower.arrives(after: ["push", "K", "-p", "web", "--yes"], status: 5)
                }
                #expect(platform.records("K") == ["production=new"], "\(type)")
                #expect(platform.records("K2") == ["production=old"], "\(type)")
            }
        }
    }

    @Test(
        "SYNC-B3: swapped names arrive, whatever their types",
        arguments: [
            ["encrypted", "encrypted"], ["sensitive", "sensitive"], ["sensitive", "encrypted"],
            ["encrypted", "plain", "sensitive"],
        ])
    func swapped(types: [String]) throws {
        try Self.prepareSwap(platform, types)
        let first = try platform.id("N0")
        try platform.pushed()
        #expect(
            types.indices.map { platform.records("N\($0)") }
                == types.indices.map { ["production=v\(($0 + 1) % types.count)"] })
        #expect(
            types.indices.map { number in platform.stored.first { $0.key == "N\(number)" }?.type }
                == types.indices.map { types[($0 + 1) % types.count] })
        let isReplaced = types[0] == "sensitive" && types[1] != "sensitive"
        #expect(try (platform.id("N0") == first) != isReplaced)
        try platform.pushed().expectNothing()
        for number in types.indices { #expect(try platform.syncs("N\(number)") == ["synced"]) }
    }

    /// Pushes `N0`, `N1`, … with the values `v0`, `v1`, …, and gives each the previous one's name.
    private static func prepareSwap(_ platform: SandboxHome, _ types: [String]) throws {
        for (number, type) in types.enumerated() {
            try platform.set("N\(number)", "v\(number)", "-t", "production", "--type", type)
        }
        try platform.pushed()
        let names = ["N0"] + types.indices.dropFirst().map { "N\($0)" }
        done(try platform.run("rename", "N0", "T", "-p", "web"))
        for (to, from) in zip(names, names.dropFirst()) {
            done(try platform.run("rename", from, to, "-p", "web"))
        }
        done(try platform.run("rename", "T", names[names.count - 1], "-p", "web"))
    }

    @Test("SYNC-B3: a push of one swapped name says to push both; a change on Vercel is a conflict")
    func swappedOneByOne() throws {
        try Self.prepareSwap(platform, ["encrypted", "encrypted"])
        let before = platform.stored
        let dry = try json(platform.push("--dry-run"))
        #expect(dry.keys("updated").sorted() == ["N0", "N1"])
        #expect(platform.stored == before)
        try follower.arrives(after: ["push", "N0", "-p", "web", "--yes"], status: 5)
        #expect(platform.records("N0") == ["production=v1"])

        let other = try SandboxHome()
        try Self.prepareSwap(other, ["encrypted", "encrypted"])
        try other.change("N1", ["value": "theirs"])
        let arrival = try AdviceFollower(platform: other).arrives(
            after: ["push", "-p", "web", "--yes"], status: 5)
        #expect(
            arrival.typed == [
                ["pull", "N0", "-p", "web", "--force"],
                ["pull", "N1", "N0", "-p", "web", "--force"],
            ])
        #expect(other.records("N0") == ["production=v0"])
        #expect(other.records("N1") == ["production=theirs"])
        try AdviceFollower(platform: other).expectHeld(
            ["v0", "v1", "theirs"], of: ["N0", "N1"])
    }

    @Test(
        "SYNC-B3: a push of swapped names that was killed is finished by the next",
        arguments: [["encrypted", "encrypted"], ["sensitive", "encrypted"]])
    func swappedAndKilled(types: [String]) throws {
        try KilledPush.everywhere(
            prepared: {
                let platform = try SandboxHome()
                try Self.prepareSwap(platform, types)
                return platform
            }, atLeast: 5
        ) { platform, comment in
            #expect(platform.records("N0") == ["production=v1"], comment)
            #expect(platform.records("N1") == ["production=v0"], comment)
        }
    }

    // MARK: B4

    @Test("SYNC-B4: a sensitive variable without a value is not renamed, and blocks nothing")
    func renamedWithoutAValue() throws {
        try act("create,key=S,value=theirs,targets=production,type=sensitive")
        try platform.pulled("--yes").expectMember("conflicts", [])
        let renamed = try platform.run("rename", "S", "S2", "-p", "web")
        failed(renamed, 5, "cannot be created on Vercel under a new name", "zg-env set S -p web")
        try platform.set("OTHER", "other")
        #expect(try platform.pushed().keys("created") == ["OTHER"])
        #expect(platform.records("S") == ["production=theirs"])
        // The next step from the message works.
        try follower.arrives(after: ["rename", "S", "S2", "-p", "web"], status: 5)
        done(try platform.run("rename", "S", "S2", "-p", "web"))
        try platform.pushed()
        #expect(platform.records("S") == [])
        #expect(platform.records("S2") == ["production=given by hand"])
    }

    // MARK: B5

    @Test(
        "SYNC-B5: a new variable that Vercel acknowledged and did not store",
        arguments: ["encrypted", "sensitive"])
    func notKept(type: String) throws {
        try platform.set("K", "mine", "-t", "production", "--type", type)
        try platform.setFaults("POST */env* stores-nothing x2")
        let (_, message) = try failedReport(platform.push(), 5, "conflict")
        #expect(message.contains("zg-env push K -p web --force"), "\(message)")
        platform.server.setFaults([])
        let arrival = try follower.follows(message)
        #expect(arrival.typed.count == 1)
        #expect(platform.records("K") == ["production=mine"])
    }

    @Test("SYNC-B5: a variable that was removed on Vercel is sent again")
    func removedThere() throws {
        try platform.set("K", "mine", "-t", "production")
        try platform.pushed()
        try act("remove,key=K")
        try follower.arrives(after: ["push", "-p", "web", "--yes"], status: 5)
        #expect(platform.records("K") == ["production=mine"])
        // Without a value there is nothing to send.
        try act("create,key=S,value=theirs,targets=production,type=sensitive")
        try platform.pulled("--yes").expectMember("conflicts", [])
        done(try platform.run("set", "S", "-p", "web", "--comment", "x", input: .text("v")))
        try act("remove,key=S")
        try follower.arrives(after: ["push", "-p", "web", "--yes"], status: 5)
        #expect(platform.records("S") == ["production=v"])
    }

    // MARK: B6

    @Test(
        "SYNC-B6: lasting refusals: too many variables, an unsupported type",
        arguments: ["full", "type"])
    func refused(cause: String) throws {
        try platform.set("OLD", "old")
        try platform.pushed()
        if cause == "full" {
            try platform.server.set(.members(["maximumVariables": .number(1)]))
        } else {
            try platform.setFaults("POST */env* 400")
        }
        try platform.set("NEW", "mine")
        try follower.arrives(after: ["push", "-p", "web", "--yes"], status: 1)
        try follower.expectHeld(["old", "mine"], of: ["OLD", "NEW"])
        #expect(platform.stored.map(\.key) == ["OLD"])
    }

    // MARK: B7, B8

    @Test(
        "SYNC-B7: variables that a team's policy made sensitive are accepted with one command",
        arguments: ["production,preview", "production,preview,development"])
    func policy(targets: String) throws {
        try platform.server.set(
            .members(
                [
                    "teams": .members([
                        "acme": .members(["sensitiveEnvironmentVariablePolicy": "on"])
                    ])
                ]
            ))
        done(try platform.run("link", "api", "--team", "acme"))
        let lines = (0..<4).map { "E\($0)=value \($0)\n" }.joined()
        done(
            try platform.run(
                "import", "-", "-p", "api", "-t", targets, "--yes", input: .text(lines)))
        var follower = follower
        follower.project = "api"
        let arrival = try follower.arrives(after: ["push", "-p", "api", "--yes"], status: 1)
        #expect(arrival.typed == [["harden", "E0", "E1", "E2", "E3", "-p", "api"]])
        let stored = platform.server.storedVariables(project: "api") ?? []
        for number in 0..<4 {
            let own = stored.filter { $0.key == "E\(number)" }
            #expect(own.allSatisfy { $0.value == "value \(number)" })
            let types = own.map { "\($0.targets.joined(separator: ",")) \($0.type)" }.sorted()
            #expect(
                types == (targets.hasSuffix("development") ? ["development encrypted"] : [])
                    + ["production,preview sensitive"])
        }
    }

    @Test("SYNC-B8: the default targets under a team's policy, for one variable")
    func policyOfOne() throws {
        try platform.server.set(
            .members(
                [
                    "teams": .members([
                        "acme": .members(["sensitiveEnvironmentVariablePolicy": "on"])
                    ])
                ]
            ))
        done(try platform.run("link", "api", "--team", "acme"))
        var follower = follower
        follower.project = "api"
        try follower.arrives(
            after: ["set", "NEW", "-p", "api", "--push", "--yes"], status: 1, input: .text("mine"))
        try follower.expectHeld(["mine"], of: ["NEW"])
        #expect(platform.server.storedVariables(project: "api")?.count == 2)
    }

    // MARK: B9

    @Test(
        "SYNC-B9: a project that was moved, or deleted and recreated, is linked with one command",
        arguments: ["moved", "moved and back", "recreated"], ["push", "pull"])
    func lostProject(how: String, command: String) throws {
        try platform.set("K", "mine", "-t", "production")
        try platform.set("S", "secret", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        if how == "recreated" {
            try act("recreate-project,project=web")
            try act("create,project=web,key=S,value=theirs,targets=production,type=sensitive")
        } else {
            try act("move-project,project=web,team=acme")
        }
        let failing = [command, "-p", "web", "--yes"]
        if how == "recreated" {
            let first = try platform.runner(failing).run()
            #expect(first.status == 4, "\(first.error)")
            let advice = PrintedCommands.all(in: first.error)
            #expect(advice == [["link", "web", "--force"]], "\(first.error)")
            let link = done(try platform.runner(try #require(advice.first)).run())
            #expect(link.error.contains("2 variables are now treated as not pushed"))
            // The new project's variables are not overwritten unseen.
            let arrival = try follower.arrives(after: ["push", "-p", "web", "--yes"], status: 5)
            #expect(arrival.said.contains("Then overwrite Vercel's value permanently"))
            #expect(platform.records("K") == ["production=mine"])
            try follower.expectHeld(["secret", "mine"], of: ["K", "S"])
            return
        }
        let arrival = try follower.arrives(after: failing, status: 4)
        #expect(arrival.typed == [["link", "web", "--team", "acme", "--force"]])
        #expect(try platform.syncs("K") == ["synced"])
        if how == "moved and back" {
            try act("move-project,project=web,team=personal")
            let back = try follower.arrives(after: failing, status: 4)
            #expect(back.typed == [["link", "web", "--force"]])
        }
        #expect(platform.records("K") == ["production=mine"])
        #expect(platform.records("S") == ["production=secret"])
    }

    @Test("SYNC-B9: link --force does not move a project while the old one exists")
    func notLost() throws {
        try platform.set("K", "mine")
        try platform.pushed()
        done(try platform.run("link", "web"))
        let message = try failedAsJSON(
            platform.run("link", "api", "--team", "acme", "--as", "web", "--force", "--json"), 5,
            "conflict")
        #expect(message.contains("still exists"), "\(message)")
        try platform.pushed().expectNothing()
        // A project that was deleted.
        try act("remove-project,project=web")
        let gone = try failedAsJSON(platform.push(), 4, "not_found")
        #expect(gone.contains("zg-env link web --as web --force"), "\(gone)")
    }

    // MARK: B10

    @Test("SYNC-B10: a rate limit names the time to wait and the next command")
    func limited() throws {
        try platform.set("K", "mine")
        try platform.setFaults("POST */env* 429:400")
        let (_, message) = try failedReport(platform.push(), 7, "unavailable")
        #expect(message.contains("Wait 6 min 40 s, then push again"), "\(message)")
        #expect(PrintedCommands.all(in: message) == [["push", "-p", "web"]])
        platform.server.setFaults([])
        try follower.follows(message)
        #expect(platform.records("K") == ["production,preview,development=mine"])
    }

    // MARK: A6

    @Test(
        "SYNC-A6: a sensitive value changed on Vercel: the advice does not claim to read it",
        arguments: ["push", "pull S --force", "status"], [false, true])
    func sensitiveChangedThere(start: String, changedHere: Bool) throws {
        try platform.set("S", "mine", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try act("set,key=S,value=theirs")
        if changedHere { try platform.set("S", "newer", "--type", "sensitive") }
        let state = changedHere ? "diverged" : "behind"
        let pull = try platform.run("pull", "S", "-p", "web", "--force", "--yes")
        #expect(pull.status == 5, "\(pull.output)")
        #expect(pull.output.contains("does not show its value") || changedHere, "\(pull.output)")
        #expect(pull.error.contains("Vercel does not show its value for S"))
        #expect(!pull.error.contains("zg-env pull"), "\(pull.error)")
        #expect(try platform.syncs("S") == [state])
        #expect(platform.records("S") == ["production=theirs"])
        let arrival =
            start == "status"
            ? try follower.follows(done(try platform.run("status", "-p", "web")).output)
            : try follower.arrives(
                after: start.split(separator: " ").map(String.init) + ["-p", "web", "--yes"],
                status: 5)
        // The lossless way comes first.
        #expect(arrival.typed.map { $0[0] } == ["set", "push"])
        #expect(arrival.said.contains("permanently"))
        #expect(platform.records("S") == ["production=given by hand"])
        #expect(try platform.syncs("S") == ["synced"])
    }

    @Test(
        "SYNC-A6: a variable made sensitive on Vercel is replaced or accepted",
        arguments: ["push", "harden S", "status"])
    func madeSensitiveThere(start: String) throws {
        try platform.set("S", "mine", "-t", "production")
        try platform.pushed()
        try act("set,key=S,type=sensitive")
        let words = start.split(separator: " ").map(String.init) + ["-p", "web", "--yes"]
        let arrival =
            start == "status"
            ? try follower.follows(done(try platform.run("status", "-p", "web")).output)
            : try follower.arrives(after: words, status: 5)
        #expect(!arrival.said.contains("Nothing to harden"))
        let stored = (platform.server.storedVariables(project: "web") ?? []).filter {
            $0.key == "S"
        }
        // The lossless way comes first, as with any hidden value.
        #expect(arrival.typed.suffix(2).map { $0[0] } == ["set", "push"])
        #expect(stored.map(\.value) == ["given by hand"])
        // Vercel's type is the stricter one.
        #expect(stored.map(\.type) == ["sensitive"])
        #expect(try platform.syncs("S") == ["synced"])
    }

    @Test("SYNC-A6: a type that Vercel never changes is replaced by force, which says so")
    func readableAgain() throws {
        try platform.set("S", "mine", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("S", "mine", "-t", "production", "--type", "encrypted")
        let refused = try platform.run("push", "-p", "web", "--yes")
        #expect(refused.status == 1, "\(refused.error)")
        let command = ["push", "S", "-p", "web", "--force", "--allow-weaker"]
        #expect(
            refused.error.contains("zg-env \(command.joined(separator: " "))"), "\(refused.error)")
        let plan = done(try platform.runner(command + ["--dry-run"]).run())
        #expect(plan.output.contains("Would delete"), "\(plan.output)")
        #expect(plan.output.contains("becomes readable on Vercel"), "\(plan.output)")
        done(try platform.runner(command + ["--yes"]).run())
        #expect(platform.stored.first { $0.key == "S" }?.type == "encrypted")
        #expect(platform.records("S") == ["production=mine"])
        #expect(try platform.syncs("S") == ["synced"])
    }

    @Test("SYNC-A6: pull KEY --force does not reach a variable with another name")
    func forceReachesNothingElse() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "mine", "-t", "production")
        try act("set,key=A,value=theirs,newKey=B")
        let pull = try platform.run("pull", "B", "-p", "web", "--force", "--yes")
        #expect(pull.status == 5)
        #expect(pull.error.contains("zg-env pull A -p web --force"), "\(pull.error)")
        #expect(try platform.home.revealed("A") == Array("mine".utf8))
        try follower.follows(pull.error)
        #expect(try platform.home.revealed("B") == Array("theirs".utf8))
        try follower.expectHeld(["one", "mine", "theirs"], of: ["A", "B"])
    }

    @Test(
        "SYNC-A6: rm --push fails for a variable whose record on Vercel the vault never adopted",
        arguments: ["never pushed", "conflict", "wider there", "sensitive there"])
    func removedUnseen(state: String) throws {
        let wider = state == "wider there"
        let type = state == "sensitive there" ? "sensitive" : "encrypted"
        try act(
            "create,key=A,value=theirs,type=\(type),targets="
                + (wider ? "production+preview" : "production"))
        try platform.set("A", "mine", "-t", wider ? "production,preview" : "production")
        if state == "conflict" { #expect(try platform.push().status == 5) }
        let remove = ["rm", "-t", "production", "A", "-p", "web", "--push", "--yes"]
        let result = try platform.runner(remove).run()
        #expect(result.status == 5, "\(result.output)\(result.error)")
        #expect(platform.stored.filter { $0.key == "A" }.map(\.value) == ["theirs"])
        var follower = follower
        follower.isThorough = true
        let arrival = try follower.follows("\(result.output)\n\(result.error)")
        #expect(arrival.typed.map { $0[0] } == ["pull", "rm"])
        #expect(platform.records("A") == (wider ? ["preview=theirs"] : []))
        try follower.expectHeld(type == "sensitive" ? ["mine"] : ["mine", "theirs"], of: ["A"])
        // If Vercel has none it is done.
        try platform.set("B", "mine", "-t", "production")
        done(
            try platform.run("rm", "-t", "production", "B", "-p", "web", "--push", "--yes"))
    }

    @Test("SYNC-A6: if there are two ways, status names both, the lossless one first")
    func statusNamesBoth() throws {
        try platform.set("K", "one", "-t", "production")
        try platform.set("GONE", "one", "-t", "production")
        try platform.pushed()
        for key in ["K", "GONE"] { try platform.set(key, "mine", "-t", "production") }
        try act("set,key=K,value=theirs")
        try act("remove,key=GONE")
        let status = try json(platform.run("status", "-p", "web", "--refresh", "--json"))
        #expect(
            status["remedies"]?.elements.map { $0["command"] } == [
                "zg-env push GONE -p web --force", "zg-env pull GONE -p web --force",
                "zg-env pull K -p web --force", "zg-env push K -p web --force",
            ])
        try follower.follows(done(try platform.run("status", "-p", "web")).output)
        try follower.expectHeld(["one", "mine", "theirs"], of: ["K", "GONE"])
    }

    @Test("SYNC-A6: a value that Vercel fails to show in a first pull is not lost")
    func firstPullWithoutTheValue() throws {
        try act("create,key=K,value=theirs,targets=production")
        try platform.setFaults("GET */env/* hides-values", "GET */env* hides-values")
        let report = try platform.pulled("--yes")
        #expect(report.keys("unreadable") == ["K"])
        #expect(try platform.syncs("K") == ["behind"])
        platform.server.setFaults([])
        try platform.set("K", "mine", "-t", "production")
        #expect(try platform.syncs("K") == ["diverged"])
        let arrival = try follower.arrives(after: ["push", "-p", "web", "--yes"], status: 5)
        #expect(arrival.typed == [["pull", "K", "-p", "web", "--force"]])
        try follower.expectHeld(["mine", "theirs"], of: ["K"])
        #expect(platform.records("K") == ["production=theirs"])
    }
}
