import Sandbox
import TestSupport
import Testing

/// One value in many projects.
@Suite("Rotating in many projects")
struct RotationManyTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    private static func seed(_ names: [String]) -> String {
        let projects = names.map {
            #"{"name": "\#($0)", "deployments": [{"target": "production"}]}"#
        }
        return #"{"projects": [\#(projects.joined(separator: ","))]}"#
    }

    @Test func `it rotates the named projects, or with --everywhere all with the value`() throws {
        let names = ["web", "shop", "blog", "other"]
        let home = try RotationHome(seed: Self.seed(names), projects: ["web", "shop", "blog"])
        done(
            try home.platform.run(
                "set", "KEY", "-p", "other", "-t", "production", input: .text("its own")))
        done(try home.platform.run("push", "-p", "other", "--yes"))
        let named = try json(home.rotate("--also-project", "shop"))
        #expect(named["projects"]?.elements.map { $0["project"]?.text } == ["web", "shop"])
        for name in ["web", "shop"] { try home.expect(Self.new, project: name) }
        try home.expect(Self.old, project: "blog")
        // Two values cannot be rotated as one.
        try failedAsJSON(home.rotate("--also-project", "blog"), 2, "usage")

        let again = try json(
            home.platform.run(
                "rotate", "KEY", "-p", "web", "--everywhere", "--redeploy", "--generate", "hex:16",
                "--apply", home.recorder("apply"), "--yes", "--json"))
        #expect(
            Set(again["projects"]?.elements.compactMap { $0["project"]?.text } ?? []) == [
                "web", "shop",
            ])
        #expect(home.stored("blog") == [Self.old])
        #expect(home.stored("other") == ["its own"])
        #expect(home.stored("shop") == home.stored("web"))
        #expect(home.stored("shop") != [Self.new])
        // Installed once, for all of them.
        #expect(home.read("apply").split(separator: "\n").count == 1)
    }

    @Test func `a damaged value is not skipped`() throws {
        let home = try RotationHome(seed: Self.seed(["web", "shop"]), projects: ["web", "shop"])
        // A value of one of the two projects is last.
        var bytes = try home.platform.home.vaultBytes()
        bytes[bytes.count - 1] ^= 1
        try home.platform.home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        let result = try home.rotate("--everywhere")
        try failedAsJSON(result, 8, "damaged")
        #expect(home.stored("web") == [RotationHome.old])
    }

    @Test func `one project that fails reverts all of them`() throws {
        let names = ["web", "shop", "blog"]
        let home = try RotationHome(seed: Self.seed(names), projects: names)
        let check = "test \"$ZG_ENV_PROJECT\" != blog || test \"$(cat)\" = '\(Self.old)'"
        let (report, message) = try failedReport(
            home.rotate(
                "--also-project", "shop,blog", "--check", check, "--apply", home.recorder("apply")),
            10, "rolled_back")
        #expect(message.contains("blog"))
        for project in report["projects"]?.elements ?? [] {
            #expect(project["state"] == "rolled_back")
            #expect(project["proof"] == "deployment")
        }
        for name in names { try home.expect(Self.old, project: name) }
        #expect(home.read("apply").split(separator: "\n").count == 2)
    }

    @Test("SYNC-A7: twenty projects take nine requests each at most")
    func requestsOfTwenty() throws {
        let names = (0..<20).map { "p\($0)" }
        let home = try RotationHome(seed: Self.seed(names), projects: [], buildSeconds: 1)
        for name in names {
            done(
                try home.platform.run(
                    "set", "KEY", "-p", name, "-t", "production", "--push", "--yes",
                    input: .text(Self.old)))
        }
        var runner = home.platform.runner(
            ["rotate", "KEY", "-p", "p0", "--everywhere", "--redeploy", "--yes", "--json"],
            input: .text(Self.new))
        runner.timeLimit = .seconds(110)
        let requests = try home.platform.requests {
            let report = try json(runner.run())
            #expect(report["outcome"] == "done")
            for project in report["projects"]?.elements ?? [] {
                #expect(project["proof"] == "deployment")
            }
        }
        for name in names { try home.expect(Self.new, project: name) }
        let kinds = Dictionary(grouping: requests) { request in
            request.replacing(/(prj|dpl|env)_\w+/, with: "ID").replacing(
                /env\/\w+$/, with: "env/ID")
        }.mapValues(\.count)
        // A listing that is older than a second when something is sent is read again, once.
        let listings = kinds["GET /v10/projects/ID/env"] ?? 0
        let repeated = max(listings - 3 * names.count, 0)
        #expect(repeated <= names.count, "\(requests.count): \(kinds)")
        #expect(requests.count - repeated <= 9 * names.count, "\(requests.count): \(kinds)")
        // What is live is known without another request.
        let list = try json(home.platform.run("list", "KEY", "-p", "p7", "--json"))
        #expect(list["variables"]?.elements.first?["live"] == true)
        print("requests of a rotation in twenty projects: \(requests.count) \(kinds)")
    }

    @Test func `the checks of several projects run in parallel`() throws {
        let names = (0..<10).map { "p\($0)" }
        let home = try RotationHome(seed: Self.seed(names), projects: [])
        for name in names {
            done(
                try home.platform.run(
                    "set", "KEY", "-p", name, "-t", "production", "--push", "--yes",
                    input: .text(Self.old)))
        }
        // Each has its own pipes and reads its own value to the end.
        let check =
            "printf '%s %s %s\\n' \"$ZG_ENV_PROJECT\" \"$(cat)\" \"$(cat <&3)\" >>\(home.path("checks")); sleep 3"
        var runner = home.platform.runner(
            [
                "rotate", "KEY", "-p", "p0", "--everywhere", "--redeploy", "--yes", "--json",
                "--check", check,
            ], input: .text(Self.new))
        runner.timeLimit = .seconds(110)
        let result = try runner.run()
        #expect(try json(result)["outcome"] == "done")
        #expect(
            home.read("checks").split(separator: "\n").sorted()
                == names.map { "\($0) \(Self.new) \(Self.old)" }.sorted().map { $0[...] })
        // In sequence they would take half a minute.
        #expect(result.duration < .seconds(27), "\(result.duration)")
    }

    @Test func `twenty projects take little longer than their slowest build`() throws {
        let names = (0..<20).map { "p\($0)" }
        let home = try RotationHome(seed: Self.seed(names), projects: [], buildSeconds: 6)
        for name in names {
            done(
                try home.platform.run(
                    "set", "KEY", "-p", name, "-t", "production", "--push", "--yes",
                    input: .text(Self.old)))
        }
        var runner = home.platform.runner(
            ["rotate", "KEY", "-p", "p0", "--everywhere", "--redeploy", "--yes", "--json"],
            input: .text(Self.new))
        runner.timeLimit = .seconds(110)
        let result = try runner.run()
        let report = try json(result)
        #expect(report["projects"]?.elements.count == 20)
        #expect(report["outcome"] == "done")
        for project in report["projects"]?.elements ?? [] {
            #expect(project["proof"] == "deployment")
        }
        for name in names { #expect(home.stored(name) == [Self.new]) }
        // In sequence they would take two minutes. A quiet machine needs 2 s more than a build;
        // others may use this one.
        #expect(result.duration < .seconds(27), "\(result.duration)")
        print("twenty projects with builds of 6 s: \(result.duration)")
    }
}
