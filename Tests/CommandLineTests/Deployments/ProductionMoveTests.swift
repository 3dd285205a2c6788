import Glibc
import Sandbox
import TestSupport
import Testing

/// The results of a promotion and a rollback, which move domains asynchronously.
@Suite("Moving domains")
struct ProductionMoveTests {
    @Test func `domains that do not move are reported, and slow ones waited for`() throws {
        let (platform, ids) = try FourDeployments.start()
        platform.server.setBuild(.aliasError)
        let result = try FourDeployments.act(platform, "rollback", ids.earlier)
        #expect(result.status == 9)
        let error = try JSONDocument(result.standardError)["error"]
        let text = (error?["message"]?.text ?? "") + (error?["hint"]?.text ?? "")
        #expect(text.contains("failed") && text.contains("web.vercel.app"), "\(text)")
        #expect(text.contains("\(ids.current) is still live"))
        #expect(try JSONDocument(result.standardOutput)["current"] == false)

        platform.server.setBuild(try #require(BuildMode("alias-late:30")))
        let slow = try FourDeployments.act(platform, "promote", ids.staged, "--timeout", "2s")
        #expect(slow.status == 7 && slow.error.contains("after 2s"), "\(slow.error)")
        // One at a time.
        let busy = try failedAsJSON(
            FourDeployments.act(platform, "rollback", ids.earlier), 5, "conflict")
        #expect(busy.contains("A promotion to \(ids.staged) is already in progress"), "\(busy)")
        platform.server.advanceClock(bySeconds: 60)
        #expect(try platform.current() == ids.staged)
    }

    @Test(arguments: ["promote", "rollback"])
    func `a signal while domains move names the deployment and stops nothing`(
        action: String
    ) throws {
        for options in [["--json"], [], ["--quiet"]] {
            let (platform, ids) = try FourDeployments.start()
            let id = action == "promote" ? ids.staged : ids.earlier
            let server = platform.server
            server.setBuild(try #require(BuildMode("alias-late:60")))
            var runner = platform.runner(["deployment", action, id, "--yes"] + options)
            runner.script = [
                (
                    .now,
                    .call { process, _ in
                        server.waits { requests in
                            requests.contains {
                                $0.method == "POST" && $0.path.contains("/\(action)/")
                            }
                        }
                        // By then its answer has arrived.
                        usleep(1_000_000)
                        kill(process, SIGINT)
                    }
                )
            ]
            let result = try runner.run()
            #expect(result.end == .signalled(SIGINT) && result.output == "", "\(result.error)")
            #expect(result.error.contains("deployment show \(id)"), "\(result.error)")
            if options != ["--json"] { continue }
            let error = try JSONDocument(result.standardError)["error"]
            #expect(error?["code"] == "interrupted")
            #expect(error?["message"]?.text?.contains(id) == true)
            platform.server.advanceClock(bySeconds: 120)
            #expect(try platform.current() == id)
        }
    }

    @Test(arguments: [("promote", true), ("rollback", true), ("rollback", false)])
    func `an outage while domains move is waited out and reported once`(
        action: String, comesBack: Bool
    ) throws {
        let (platform, ids) = try FourDeployments.start()
        let id = action == "promote" ? ids.staged : ids.earlier
        let server = platform.server
        server.setBuild(try #require(BuildMode("alias-late:\(comesBack ? 1 : 60)")))
        var runner = platform.runner([
            "deployment", action, id, "--yes", "--timeout", comesBack ? "5m" : "12s",
        ])
        // Long enough to be reported; or everything that follows.
        let faults = ["GET /v9/projects/prj_* reset" + (comesBack ? " x20" : "")]
            .compactMap { Fault($0) }
        runner.script = [
            (
                .error(action == "promote" ? "Promoting (" : "Rolling back ("),
                .call { _, _ in server.setFaults(faults) }
            )
        ]
        let result = try runner.run()
        #expect(result.end == .exited(comesBack ? 0 : 7), "\(result.error)")
        for text in ["Vercel has been unreachable since 2", ". Waiting until 2"] {
            #expect(result.error.ranges(of: text).count == 1, "\(result.error)")
        }
        #expect(
            result.error.contains("Vercel is reachable again.") == comesBack, "\(result.error)")
        server.setFaults([])
        guard !comesBack else { return #expect(try platform.current() == id) }
        #expect(result.error.contains("The \(action) to \(id) was requested."), "\(result.error)")
        #expect(result.error.contains("zg-env deployment show \(id)"), "\(result.error)")
    }

    /// Faults that begin with the read after the request that moves domains.
    private func faults(
        _ action: String, _ first: String, after: String...
    ) throws -> [String] {
        let (platform, ids) = try FourDeployments.start()
        let id = action == "promote" ? ids.staged : ids.earlier
        let sent = try platform.requests {
            _ = try FourDeployments.act(platform, action, id)
        }
        let looks = sent.prefix { !$0.hasPrefix("POST") }.count {
            $0.hasPrefix("GET /v9/projects/prj_")
        }
        #expect(looks > 0 && looks < sent.count, "\(sent)")
        return ["POST */\(action)/* \(first)", "GET /v9/projects/prj_* slow:0 x\(looks)"]
            + after.map { "GET /v9/projects/prj_* \($0)" }
    }

    @Test(arguments: ["promote", "rollback"])
    func `a lost answer followed by an outage is resolved or reported as unknown`(
        action: String
    ) throws {
        for comesBack in [true, false] {
            let (platform, ids) = try FourDeployments.start()
            let id = action == "promote" ? ids.staged : ids.earlier
            let faults = try faults(
                action, "lost-answer x1", after: "reset" + (comesBack ? " x12" : ""))
            platform.server.setFaults(faults.compactMap { Fault($0) })
            let result = try FourDeployments.act(
                platform, action, id, "--timeout", comesBack ? "2m" : "4s")
            let comment: Comment = "\(comesBack): \(result.error)"
            #expect(result.end == .exited(comesBack ? 0 : 7), comment)
            let report = try JSONDocument(result.standardOutput)
            #expect(report["current"] == (comesBack ? true : .null), comment)
            platform.server.setFaults([])
            // It was carried out either way.
            #expect(try platform.current() == id, comment)
            if comesBack { continue }
            #expect(result.error.contains("it is unknown"), comment)
            #expect(result.error.contains("deployment show \(id)"), comment)
            #expect(!result.error.contains("Nothing was moved"), comment)
        }
    }

    @Test(arguments: ["promote", "rollback"])
    func `a lost answer is resolved once Vercel has shown the request`(
        action: String
    ) throws {
        let (platform, ids) = try FourDeployments.start()
        let id = action == "promote" ? ids.staged : ids.earlier
        let faults = try faults(
            action, "lost-answer x1", after: "reset x1", "slow:0 x1", "reset")
        platform.server.setFaults(faults.compactMap { Fault($0) })
        platform.server.setBuild(try #require(BuildMode("alias-late:60")))
        let result = try FourDeployments.act(platform, action, id, "--timeout", "4s")
        #expect(result.end == .exited(7), "\(result.error)")
        #expect(try JSONDocument(result.standardOutput)["current"] == .null)
        let noun = action == "promote" ? "promotion of" : "rollback to"
        #expect(result.error.contains("The \(noun) \(id) was requested."), "\(result.error)")
        #expect(!result.error.contains("it is unknown"), "\(result.error)")
    }

    @Test func `a Vercel that accepts a request and does not answer is not waited for longer`()
        throws
    {
        let (platform, ids) = try FourDeployments.start()
        let faults = try faults("rollback", "slow:0 x1", after: "slow:100")
        platform.server.setFaults(faults.compactMap { Fault($0) })
        let result = try FourDeployments.act(platform, "rollback", ids.earlier, "--timeout", "2s")
        #expect(result.end == .exited(7), "\(result.error)")
        #expect(result.duration < .seconds(50), "\(result.duration)")
        #expect(try JSONDocument(result.standardOutput)["current"] == .null)
        #expect(result.error.contains("The rollback to \(ids.earlier) was requested."))
    }

    @Test(arguments: ["promote", "rollback"])
    func `refusals and lost answers end with the right code`(action: String) throws {
        let (platform, ids) = try FourDeployments.start()
        let id = action == "promote" ? ids.staged : ids.earlier
        for (fault, status, code, words) in [
            ("422", 5, "conflict", "zg-env redeploy"), ("409", 5, "conflict", "Nothing was moved"),
            ("403", 6, "unauthorized", ""), ("500", 7, "unavailable", ""),
            ("404", 4, "not_found", ""), ("402", 1, "failed", ""), ("410", 1, "failed", ""),
        ] {
            try platform.setFaults("POST */\(action)/* \(fault)")
            let text = try failedAsJSON(
                FourDeployments.act(platform, action, id), Int32(status), code)
            #expect(text.contains(words), "\(fault): \(text)")
            #expect(try platform.current() == ids.current)
        }
        // It was carried out and only the answer was lost: that is found, and not repeated.
        try platform.setFaults("POST */\(action)/* lost-answer x1")
        let writes = try platform.writes {
            let report = try json(FourDeployments.act(platform, action, id))
            #expect(report["current"] == true)
        }
        #expect(writes.count == 1)
        #expect(try platform.current() == id)
    }
}
