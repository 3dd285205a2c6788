import Dispatch
import Foundation
import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// What a rotation reports about production is true, also when others deploy meanwhile and Vercel
/// does not show everything.
@Suite("Truth of a rotation's report")
struct RotationTruthTests {
    @Test func `somebody else's deployment of the new value is reverted too`() throws {
        let seed = """
            {"projects": [{"name": "web", "deployments": [{"target": "production"}]},
                          {"name": "shop", "deployments": [{"target": "production"}]}]}
            """
        let home = try RotationHome(seed: seed, projects: ["web", "shop"])
        let platform = home.platform
        let current = try #require(try platform.current())
        let shop = try platform.teammate.send("GET", "/v9/projects/shop")
        let id = try #require(shop["id"]?.string)
        // While shop's value cannot be written, somebody deploys web with its new one.
        try platform.setFaults("PATCH /v*/projects/\(id)/env/* 503 x5")
        let (server, teammate) = (platform.server, platform.teammate)
        let somebody = DispatchGroup()
        somebody.enter()
        Thread.detachNewThread {
            defer { somebody.leave() }
            for _ in 0..<200 {
                Thread.sleep(forTimeInterval: 0.05)
                let values = (server.storedVariables(project: "web") ?? []).map(\.value)
                guard values.contains(RotationHome.new) else { continue }
                _ = try? teammate.send(
                    "POST", "/v13/deployments?forceNew=1",
                    ["name": "web", "deploymentId": .string(current), "target": "production"])
                return
            }
        }
        let result = try home.rotate("--also-project", "shop", redeploys: false)
        somebody.wait()
        let (report, _) = try failedReport(result, 10, "rolled_back")
        #expect(report["outcome"] == "rolled_back")
        for project in ["web", "shop"] {
            #expect(home.stored(project) == [RotationHome.old])
            #expect(try home.served(project) == RotationHome.old, "\(project)")
        }
        #expect(try platform.deployments().count == 4)
    }

    @Test func `a deployment without the variable does not have its new value`() throws {
        let home = try RotationHome()
        let platform = home.platform
        done(try platform.run("set", "NEVER", "-p", "web", "-t", "production", input: .text("a")))
        done(try platform.run("push", "-p", "web", "--yes"))
        platform.server.setBuild(.keepsOldEnvironment)
        let result = try platform.runner(
            ["rotate", "NEVER", "-p", "web", "--redeploy", "--yes", "--json"], input: .text("b")
        ).run()
        #expect(result.status == 0 || result.status == 10, "\(result.output) \(result.error)")
        let now = try platform.teammate.send("GET", "/v9/projects/web")
        let current = try #require(now["targets"]?["production"]?["id"]?.string)
        let served = platform.server.builtVariables(deployment: current)?["NEVER"]
        #expect(served == (result.status == 0 ? "b" : served == nil ? nil : "a"))
    }

    @Test func `a value that Vercel cannot show for a time leaves it open`() throws {
        let home = try RotationHome()
        try home.platform.setFaults("GET /v*/env/pull/* 500")
        home.platform.server.setBuild(.keepsOldEnvironment)
        let (report, message) = try failedReport(home.rotate(), 11, "needs_attention")
        #expect(report["outcome"] == "needs_attention")
        #expect(message.contains("--resume"))
        try home.platform.setFaults()
        home.platform.server.setBuild(.ok)
        let end = try json(home.proceed("--resume"))
        #expect(end["outcome"] == "done")
        try home.expect(RotationHome.new)
    }

    @Test func `a refused look at what a deployment was built with leaves it open`() throws {
        let home = try RotationHome()
        try home.platform.setFaults("GET /v*/env/pull/* 400 x1")
        home.platform.server.setBuild(.keepsOldEnvironment)
        let (report, message) = try failedReport(home.rotate(), 11, "needs_attention")
        #expect(report["outcome"] == "needs_attention")
        #expect(message.contains("--resume"), "\(message)")
        // Asked again, Vercel shows the old value, and the project is built once more.
        home.platform.server.setBuild(.ok)
        let end = try json(home.proceed("--resume"))
        #expect(end["outcome"] == "done")
        try home.expect(RotationHome.new)
    }

    @Test func `a vault that becomes unwritable leaves it open, and it says so`() throws {
        let home = try RotationHome()
        let place = home.platform.home.directory.path("data/zg-env")
        // As with a full disk or a deleted directory: no write succeeds from then on.
        let apply = "\(home.recorder("apply")); test -e \(place).away || mv \(place) \(place).away"
        let (report, message) = try failedReport(
            home.rotate("--apply", apply), 11, "needs_attention")
        #expect(report["outcome"] == "needs_attention" && report["open"] == true)
        #expect(message.contains("--apply was run with the new value"), "\(message)")
        #expect(message.contains("--resume") && message.contains("--abort"), "\(message)")
        #expect(home.stored() == [RotationHome.old])
        try FileManager.default.moveItem(atPath: "\(place).away", toPath: place)
        #expect(FileManager.default.createFile(atPath: "\(place).away", contents: nil))
        let end = try json(home.proceed("--abort"))
        #expect(end["outcome"] == "rolled_back")
        #expect(home.read("apply").hasSuffix("undo \(RotationHome.old) \(RotationHome.new)\n"))
        try home.expect(RotationHome.old)
    }

    @Test func `a report that cannot be written does not hide the outcome`() throws {
        let home = try RotationHome()
        home.platform.server.setBuild(.fail)
        for (redirection, word) in [
            (">/dev/full", "cannot be written"), (">&-", "old value was restored"),
        ] {
            for options in [["--json"], []] {
                var runner = home.platform.home.wrapped("/bin/sh") { program in
                    [
                        "-c", "exec \"$@\" \(redirection)", "sh", program, "rotate", "KEY", "-p",
                        "web",
                        "--generate", "hex:16", "--redeploy", "--yes",
                    ] + options
                }
                runner.environment["ZG_ENV_API_URL"] = home.platform.url
                let result = try runner.run()
                #expect(result.end == .exited(10), "\(result.error)")
                #expect(result.error.contains("KEY was not rotated"), "\(result.error)")
                #expect(result.error.contains(word), "\(result.error)")
                if !options.isEmpty {
                    let error = try JSONDocument(result.standardError)["error"]
                    #expect(error?["code"] == "rolled_back")
                }
            }
        }
        try home.expect(RotationHome.old)
    }

    @Test func `a signal prints how to continue`() throws {
        let home = try RotationHome()
        for arguments in [["--json"], []] as [[String]] {
            home.platform.server.setBuild(.aliasLate(seconds: 50))
            var runner = home.platform.runner(
                ["rotate", "KEY", "-p", "web", "--yes", "--redeploy"] + arguments,
                input: .text(RotationHome.new + (arguments.isEmpty ? "2" : "")))
            let teammate = home.platform.teammate
            let builds = try home.platform.deployments().count
            runner.script = [
                (
                    .now,
                    .call { process, _ in
                        // Once the deployment exists and waits for its domains.
                        Thread.detachNewThread {
                            for _ in 0..<200 {
                                let list = try? teammate.send(
                                    "GET", "/v6/deployments?limit=100&app=web")
                                if (list?["deployments"]?.array?.count ?? 0) > builds { break }
                                Thread.sleep(forTimeInterval: 0.05)
                            }
                            Thread.sleep(forTimeInterval: 0.5)
                            kill(process, SIGTERM)
                        }
                    }
                )
            ]
            let result = try runner.run()
            #expect(result.end == .signalled(SIGTERM) || result.status == 143)
            #expect(result.error.contains("--resume") && result.error.contains("--abort"))
            home.platform.server.setBuild(.ok)
            home.platform.server.advanceClock(bySeconds: 60)
            done(try home.proceed("--abort"))
        }
    }

    @Test func `a command that outlives a killed rotation is waited for`() throws {
        let home = try RotationHome()
        let database = home.path("database")
        let apply = "v=$(cat); [ $ZG_ENV_STEP = apply ] && sleep 3; printf %s \"$v\" >\(database)"
        var runner = home.runner(["--apply", apply])
        runner.script = [
            (
                .now,
                .call { process, _ in
                    Thread.detachNewThread {
                        Thread.sleep(forTimeInterval: 1.5)
                        kill(process, SIGKILL)
                    }
                }
            )
        ]
        #expect(try runner.run().end == .signalled(SIGKILL))
        try failedAsJSON(home.proceed("--abort"), 5, "conflict")
        for _ in 0..<100 where home.read("database").isEmpty { Thread.sleep(forTimeInterval: 0.1) }
        Thread.sleep(forTimeInterval: 0.3)
        done(try home.proceed("--abort"))
        #expect(home.read("database") == RotationHome.old)
        try home.expect(RotationHome.old)
    }

    @Test func `a plan with a missing name is not reported as not due`() throws {
        let home = try RotationHome()
        let plan = try home.platform.home.directory.write(
            """
            {"onlyWhenDue": true, "rotations": [
              {"key": "KYE", "project": "web", "generate": "hex:8"}]}
            """, to: "plan.json")
        let result = try home.platform.run("rotate", "--plan", plan, "--yes", "--json")
        #expect(result.status == 4, "\(result.output) \(result.error)")
    }
}
