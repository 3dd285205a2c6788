import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// What Vercel calls Config and Secret, and its rules for Secrets.
@Suite("Config and Secret")
struct SecretRulesTests {
    /// A sandbox without variables, linked and pushed to once.
    private func platform() throws -> SandboxHome {
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme", "name": "Acme"}],
                 "projects": [{"name": "web", "deployments": [{"target": "production"}]},
                              {"name": "api", "team": "acme",
                               "deployments": [{"target": "production"}]}]}
                """)
        try platform.set("FIRST", "1", "-t", "development")
        try platform.pushed()
        return platform
    }

    private func act(_ platform: SandboxHome, _ text: String) throws {
        try platform.server.perform(try #require(Act(text), "\(text)"))
    }

    private func type(_ platform: SandboxHome, _ key: String) throws -> String? {
        let list = try json(platform.run("list", key, "-p", "web", "--json"))
        return list["variables"]?.elements.first?["type"]?.text
    }

    @Test func `VER-visibility a Secret of any type is one that cannot be read`() throws {
        let platform = try platform()
        try platform.set("KEY", "mine", "-t", "production")
        try platform.pushed()
        try act(platform, "set,key=KEY,visibility=secret,value=theirs")
        let pulled = try platform.run("pull", "-p", "web", "--yes", "--json")
        let report = try JSONDocument(pulled.standardOutput)
        #expect(pulled.status == 0, "\(pulled.error)")
        #expect(
            report.reasons("unreadable").contains { $0.contains("does not show the new value") },
            "\(pulled.output)")
        #expect(!pulled.output.contains("retry"))
        #expect(try type(platform, "KEY") == "sensitive")
        // Neither is it hardened: it is one.
        let writes = try platform.writes {
            done(try platform.run("harden", "-p", "web", "--yes"))
        }
        #expect(writes == [], "\(writes)")
        // What the user says counts, and the request has a type only.
        try platform.pushed("--force")
        #expect(platform.records("KEY") == ["production=mine"])
        try platform.pushed("--force", "--allow-weaker")
        // A record that only Vercel has is listed without its value.
        try act(platform, "create,key=OTHER,value=x,targets=preview,visibility=secret")
        done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(try type(platform, "OTHER") == "sensitive")
        #expect(try platform.sync("OTHER") == "unreadable")
    }

    @Test(
        "VER-public: a name that makes a value public is not made a Secret",
        arguments: [
            "NEXT_PUBLIC_A", "VUE_APP_A", "REACT_APP_A", "GATSBY_A", "GRIDSOME_A", "NUXT_PUBLIC_A",
            "STORYBOOK_A", "VITE_A", "PUBLIC_A", "EXPO_PUBLIC_A", "NG_APP_A", "REDWOOD_ENV_A",
            "vite_a", "Next_Public_a",
        ])
    func publicNames(key: String) throws {
        let home = try CommandHome()
        try home.initialise()
        done(try home.run(["set", key, "-p", "web", "-t", "production"], input: .text("1")))
        for arguments in [
            ["set", key, "-p", "web", "--type", "sensitive"],
            ["import", "-", "-p", "web", "-t", "preview", "--type", "sensitive"],
            ["harden", key, "-p", "web", "--yes"],
        ] {
            // No request is needed: there is no login.
            let result = try home.run(arguments, input: .text("\(key)=2"))
            #expect(result.status == 2, "\(arguments) \(result.error)")
            #expect(result.error.contains("makes its value public"), "\(result.error)")
        }
        let list = try json(home.run(["list", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.first?["type"] == "encrypted")
        #expect(list["variables"]?.elements.count == 1)
    }

    @Test func `VER-public harden leaves public names out with one line`() throws {
        let platform = try platform()
        for key in ["NEXT_PUBLIC_A", "VITE_B", "SECRET"] {
            try platform.set(key, "value", "-t", "production,preview")
        }
        try platform.pushed()
        let plan = try platform.run("harden", "-p", "web", "--dry-run")
        #expect(plan.output.split(separator: "\n").filter { $0.contains("VITE_B") }.count == 1)
        let result = done(try platform.run("harden", "-p", "web", "--yes"))
        #expect(
            result.output.contains("makes the value public: NEXT_PUBLIC_A, VITE_B"),
            "\(result.output)")
        #expect(
            Set(platform.stored.filter { $0.type == "sensitive" }.map(\.key)) == ["SECRET"])
        let again = try json(platform.run("harden", "-p", "web", "--yes", "--json"))
        #expect(again["public"]?.elements.compactMap(\.text) == ["NEXT_PUBLIC_A", "VITE_B"])
    }

    @Test func `VER-public no other way makes a Secret of a public name`() throws {
        let platform = try platform()
        try platform.set("SECRET", "value", "-t", "production", "--type", "sensitive")
        let renamed = try platform.run("rename", "SECRET", "VITE_SECRET", "-p", "web")
        #expect(renamed.status == 2 && renamed.error.contains("makes its value public"))
        // A schema makes none either.
        try platform.home.directory.write("# @sensitive\nVITE_SECRET=\n", to: "work/.env.schema")
        done(try platform.run("link", "web"))
        try platform.set("VITE_SECRET", "value", "-t", "production")
        try platform.pushed()
        #expect(
            platform.stored.first { $0.key == "VITE_SECRET" }?.type == "encrypted")
    }

    @Test(arguments: ["NUXT_ENV_A", "SANITY_STUDIO_A"])
    func `VER-public names that are only advised against get a warning`(key: String) throws {
        let platform = try platform()
        let set = try platform.run(
            "set", key, "-p", "web", "-t", "production", "--type", "sensitive", "--push", "--yes",
            input: .text("1"))
        #expect(
            set.status == 0 && set.error.contains("code that browsers load"), "\(set.error)")
        #expect(platform.stored.first { $0.key == key }?.type == "sensitive")
    }

    @Test func `VER-development a Secret for development is Vercel's to refuse`() throws {
        let platform = try platform()
        let arguments = [
            "set", "KEY", "-p", "web", "-t", "development", "--type", "sensitive", "--push",
            "--yes",
        ]
        let refused = try platform.runner(arguments, input: .text("1")).run()
        #expect(refused.status == 1, "\(refused.error)")
        let remedy = "zg-env set KEY -p web -t development --type encrypted"
        #expect(refused.error.contains(remedy), "\(refused.error)")
        #expect(platform.records("KEY").isEmpty)
        // The printed command leads out.
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "development", "--type", "encrypted",
                input: .text("1")))
        try platform.pushed()
        #expect(platform.records("KEY") == ["development=1"])
        // Where Vercel takes it, it stays so.
        try platform.server.set(.members(["secretsInDevelopment": true]))
        try platform.set("OTHER", "2", "-t", "development", "--type", "sensitive")
        try platform.pushed()
        try platform.set("OTHER", "3", "-t", "development")
        try platform.pushed()
        #expect(platform.records("OTHER") == ["development=3"])
        #expect(platform.stored.first { $0.key == "OTHER" }?.type == "sensitive")
        // By itself, nothing for development becomes one.
        done(try platform.run("harden", "-p", "web", "--yes"))
        #expect(platform.stored.first { $0.key == "KEY" }?.type == "encrypted")
    }

    @Test func `VER-policy the team's refusals for production Secrets are explained`() throws {
        let platform = try platform()
        try platform.server.set(
            .members([
                "teams": .members([
                    "acme": .members(["disjunctiveProductionSecretPolicy": "on"])
                ])
            ]))
        done(try platform.run("link", "api", "--team", "acme", "--force"))
        func set(_ value: String, _ options: String...) throws {
            done(
                try platform.runner(
                    ["set", "KEY", "-p", "api"] + options, input: .text(value)
                ).run())
        }
        let push = ["push", "-p", "api", "--yes"]
        try set("one", "--type", "sensitive")
        let shared = try platform.runner(push).run()
        #expect(shared.status == 1, "\(shared.error)")
        let remedy = "zg-env set KEY -p api -t production"
        #expect(shared.error.contains(remedy), "\(shared.error)")
        // The printed command, with another value, leads out.
        try set("two", "-t", "production")
        done(try platform.runner(push).run())
        let stored = platform.server.storedVariables(project: "api") ?? []
        #expect(
            Set(stored.map { "\($0.targets.joined())=\($0.value)" }) == [
                "production=two", "preview=one",
            ])
        // The same value in both.
        try set("one", "-t", "production")
        let same = try platform.runner(push).run()
        #expect(same.status == 1 && same.error.contains(remedy), "\(same.error)")
        try set("three", "-t", "production")
        done(try platform.runner(push).run())
    }

    @Test func `VER-policy the plan names Secrets that production shares with others`() throws {
        let platform = try platform()
        done(try platform.run("link", "api", "--team", "acme", "--force"))
        func set(_ key: String, _ value: String, _ options: String...) throws {
            done(
                try platform.runner(
                    ["set", key, "-p", "api"] + options, input: .text(value)
                ).run())
        }
        try set("KEY", "1", "--type", "sensitive")
        let words = "production Secrets to be separate variables"
        let plan = ["push", "-p", "api", "--dry-run"]
        let before = done(try platform.runner(plan).run())
        #expect(!before.error.contains(words), "\(before.error)")
        try platform.server.set(
            .members([
                "teams": .members([
                    "acme": .members(["disjunctiveProductionSecretPolicy": "on"])
                ])
            ]))
        let said = [
            words, "may refuse KEY (production, preview)", "zg-env set KEY -p api -t production",
        ]
        for arguments in [plan, ["push", "-p", "api", "--yes"]] {
            let result = try platform.runner(arguments).run()
            for part in said { #expect(result.error.contains(part), "\(result.error)") }
        }
        var runner = platform.home.terminalRunner(
            ["push", "-p", "api"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Push to api?"), .line("n")),
            ])
        runner.environment["ZG_ENV_API_URL"] = platform.url
        let asked = try runner.run()
        #expect((asked.screen + asked.error).contains(words), "\(asked.screen)")
        // Other plans do not read the team.
        try set("KEY", "2", "-t", "production")
        try set("READABLE", "1")
        let reads = try platform.requests {
            let result = try platform.runner(plan).run()
            #expect(!result.error.contains(words), "\(result.error)")
        }
        #expect(!reads.contains { $0.hasPrefix("GET /v2/teams") }, "\(reads)")
        // A plan of harden says it too.
        done(try platform.run("push", "READABLE", "-p", "api", "--yes"))
        let hardening = try platform.run("harden", "READABLE", "-p", "api", "--dry-run")
        #expect(hardening.error.contains("may refuse READABLE"), "\(hardening.error)")
    }

    @Test func `VER-policy harden names the refusal, and no change by others`() throws {
        let platform = try platform()
        done(try platform.run("link", "api", "--team", "acme", "--force"))
        done(
            try platform.runner(["set", "KEY", "-p", "api"], input: .text("one")).run())
        done(try platform.run("push", "-p", "api", "--yes"))
        try platform.server.set(
            .members([
                "teams": .members([
                    "acme": .members(["disjunctiveProductionSecretPolicy": "on"])
                ])
            ]))
        let hardened = try platform.run("harden", "KEY", "-p", "api", "--yes")
        #expect(hardened.status == 1, "\(hardened.output) \(hardened.error)")
        let text = hardened.output + hardened.error
        #expect(text.contains("separate from the others"), "\(text)")
        #expect(!text.contains("created on Vercel"), "\(text)")
        let stored = platform.server.storedVariables(project: "api") ?? []
        #expect(stored.filter { $0.key == "KEY" }.map(\.value) == ["one"])
    }

    @Test func `VER-default-type new variables get the type of the setting`() throws {
        let platform = try platform()
        done(try platform.run("config", "set", "default-type", "sensitive"))
        try platform.set("NEW", "1")
        try platform.set("ONE", "1", "-t", "preview")
        try platform.set("LOCAL", "1", "-t", "development")
        try platform.set("VITE_A", "1", "-t", "production")
        try platform.set("READABLE", "1", "-t", "production", "--type", "encrypted")
        done(
            try platform.run(
                "import", "-", "-p", "web", "-t", "production,preview", input: .text("FILE=1\n")))
        done(
            try platform.run("import", "-", "-p", "web", "--yes", input: .text("PLAIN_FILE=1\n")))
        try platform.pushed()
        let types = platform.stored.map {
            "\($0.key) \($0.targets.joined(separator: ",")) \($0.type)"
        }
        #expect(
            types.sorted() == [
                "FILE production,preview sensitive", "FIRST development encrypted",
                "LOCAL development encrypted", "NEW production,preview sensitive",
                "ONE preview sensitive", "PLAIN_FILE production,preview sensitive",
                "READABLE production encrypted",
                "VITE_A production encrypted",
            ])
        let list = try json(platform.run("config", "list", "--json"))
        #expect(
            list["settings"]?.elements.contains {
                $0["key"] == "default-type" && $0["value"] == "sensitive" && $0["in"] == "vault"
            } == true)
        let wrong = try platform.run("config", "set", "default-type", "plain")
        #expect(wrong.status == 2)
        done(try platform.run("config", "unset", "default-type"))
        try platform.set("LATER", "1")
        #expect(try type(platform, "LATER") == "encrypted")
    }

    @Test func `VER-default-type development alone and public names stay readable`() throws {
        let platform = try platform()
        done(try platform.run("config", "set", "default-type", "sensitive"))
        try platform.set("SET", "1", "-t", "development")
        try platform.set("VITE_SET", "1")
        for (targets, file) in [
            ("development", "FILE=1\nVITE_FILE=1\n"), ("production", "NEXT_PUBLIC_FILE=1\n"),
        ] {
            done(
                try platform.run(
                    "import", "-", "-p", "web", "-t", targets, input: .text(file)))
        }
        done(
            try platform.run(
                "set", "GENERATED", "-p", "web", "-t", "development", "--generate", "hex:16"))
        try platform.set("PROD", "1", "-t", "production")
        let plan = try platform.run("push", "-p", "web", "--dry-run")
        #expect(plan.output.contains("create FILE for development"), "\(plan.output)")
        try platform.pushed()
        let secrets = platform.stored.filter { $0.type == "sensitive" }
        #expect(secrets.map(\.key) == ["PROD"], "\(secrets)")
        #expect(platform.records("FILE") == ["development=1"])
        // With development among others the value can be read, which is said.
        let mixed = try platform.run(
            "set", "MIXED", "-p", "web", "-t", "production,development", input: .text("1"))
        #expect(mixed.error.contains("will be readable on Vercel (Config)"), "\(mixed.error)")
        #expect(try type(platform, "MIXED") == "encrypted")
    }

    @Test func `VER-readable what Vercel will show is said once`() throws {
        let platform = try platform()
        func said(_ arguments: [String], _ input: String = "1") throws -> String {
            done(try platform.runner(arguments + ["-p", "web"], input: .text(input)).run()).error
        }
        let words = "will be readable on Vercel (Config)"
        #expect(try said(["set", "A", "-t", "production"]).contains("1 new variable \(words)"))
        #expect(try !said(["set", "A", "-t", "production"], "2").contains(words))
        #expect(try !said(["set", "B", "-t", "production", "--type", "sensitive"]).contains(words))
        #expect(try !said(["set", "C", "-t", "development"]).contains(words))
        #expect(try !said(["set", "VITE_D", "-t", "production"]).contains(words))
        #expect(
            try said(["import", "-", "-t", "preview"], "E=1\nF=2\n").contains(
                "2 new variables \(words); --type sensitive hides them"))
        let pushed = try said(["push", "--yes"])
        #expect(
            pushed.contains(
                "3 new variables \(words); to hide them, run: zg-env harden A E F -p web"),
            "\(pushed)")
        #expect(try !said(["push", "--yes"]).contains(words))
        let both = try said(["set", "G", "-t", "preview", "--push", "--yes"])
        #expect(both.components(separatedBy: words).count == 2, "\(both)")
    }
}
