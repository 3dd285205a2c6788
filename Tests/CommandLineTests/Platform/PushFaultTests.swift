import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// A fault at one request of a push: the push recovers or reports exactly what is known, and the
/// next one finishes the work.
///
/// Some faults, chosen by the seed; with ZG_ENV_PROOF=full all of them.
@Suite("Faults during a push")
struct PushFaultTests {
    /// The requests of a push that creates, changes and deletes.
    static let requests = [
        "GET /v9/projects/prj_*", "GET /v9/projects/*/custom-environments",
        "GET /v10/projects/*/env", "POST /v10/projects/*/env", "PATCH /v9/projects/*/env/*",
        "DELETE /v9/projects/*/env/*", "GET /v1/projects/*/env/*",
    ]
    /// Transient faults, two at a time.
    static let passing = [
        ["429", "500"], ["429:1", "reset"], ["lost-answer", "truncate"], ["slow:0.3", "html"],
    ]

    /// A sandbox that `web` was pushed to, with variables to change and to delete.
    private func prepared() throws -> SandboxHome {
        let platform = try SandboxHome()
        done(
            try platform.run(
                "import", "-", "-p", "web", input: .text("CHANGED=0\nGONE=0\nSAME=1\n")))
        try platform.pushed()
        return platform
    }

    /// Changes the vault so that the next push sends every kind of request.
    private func edit(_ platform: SandboxHome, round: Int) throws {
        done(
            try platform.run(
                "import", "-", "-p", "web",
                input: .text("CHANGED=\(round)\nNEW_\(round)=\(round)\nMORE_\(round)=x\n")))
        let gone = round == 1 ? "GONE" : "NEW_\(round - 1)"
        done(try platform.run("rm", gone, "-p", "web", "--yes"))
    }

    private func expectArrived(
        _ platform: SandboxHome, round: Int, _ fault: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let all = "production,preview,development="
        let (comment, place): (Comment, SourceLocation) = ("\(fault)", sourceLocation)
        #expect(platform.records("CHANGED") == [all + "\(round)"], comment, sourceLocation: place)
        #expect(
            platform.records("NEW_\(round)") == [all + "\(round)"], comment, sourceLocation: place)
        #expect(platform.records("MORE_\(round)") == [all + "x"], comment, sourceLocation: place)
        #expect(platform.records("SAME") == [all + "1"], comment, sourceLocation: place)
        #expect(platform.records("GONE") == [], comment, sourceLocation: place)
        let keys = platform.stored.map(\.key)
        #expect(Set(keys).count == keys.count, comment, sourceLocation: place)
        #expect(!platform.stored.contains { $0.value.isEmpty }, comment, sourceLocation: place)
        #expect(platform.records("SEED_ONLY") == ["production=seed"], sourceLocation: place)
        let again = try platform.pushed(sourceLocation: place)
        again.expectNothing(sourceLocation: place)
    }

    @Test func `transient faults are retried`() throws {
        var random = ProofRandom(44)
        let passing = Proof.sample(Self.passing, short: 2, using: &random)
        let platforms = try Self.requests.map { _ in try prepared() }
        for (index, faults) in passing.enumerated() {
            for (request, platform) in zip(Self.requests, platforms) {
                try edit(platform, round: index + 1)
                platform.server.setFaults(
                    try faults.map { try #require(Fault("\(request) \($0) x1")) })
            }
            let results = try Together.run(
                platforms.map { $0.runner(["push", "-p", "web", "--yes", "--json"]) })
            for ((request, platform), result) in zip(zip(Self.requests, platforms), results) {
                let comment: Comment = "\(request) \(faults)"
                let report = try json(result)
                #expect(report.keys("updated") == ["CHANGED"], comment)
                #expect(
                    Set(report.keys("created")) == ["NEW_\(index + 1)", "MORE_\(index + 1)"],
                    comment)
                #expect(report.keys("deleted").count == 1, comment)
                #expect(report.keys("unverified") == [], comment)
                try expectArrived(platform, round: index + 1, "\(request) \(faults)")
            }
        }
    }

    /// Lasting faults, and their exit codes.
    static let lasting: [(fault: String, status: Int32, code: String)] = [
        ("500", 7, "unavailable"), ("503", 7, "unavailable"), ("html", 7, "unavailable"),
        ("429:600", 7, "unavailable"),
        ("challenge", 6, "unauthorized"),
    ]

    @Test func `lasting faults are reported, and the next push finishes`() throws {
        var random = ProofRandom(45)
        let chosen = Proof.sample(Self.lasting, short: 2, using: &random)
        let cases = chosen.flatMap { lasting in
            Self.requests.map { (lasting: lasting, request: $0) }
        }
        let platforms = try cases.map { entry in
            let platform = try prepared()
            try edit(platform, round: 1)
            try platform.setFaults("\(entry.request) \(entry.lasting.fault)")
            return platform
        }
        let results = try Together.run(
            platforms.map { $0.runner(["push", "-p", "web", "--yes", "--json"]) })
        for ((entry, platform), result) in zip(zip(cases, platforms), results) {
            let fault = "\(entry.request) \(entry.lasting.fault)"
            let comment: Comment = "\(fault): \(result.output)\(result.error)"
            #expect(result.status == entry.lasting.status, comment)
            let error = try JSONDocument(result.standardError)["error"]
            #expect(error?["code"] == .string(entry.lasting.code), comment)
            #expect((error?["message"]?.text ?? "").count > 20, comment)
            if !result.standardOutput.isEmpty {
                let report = try JSONDocument(result.standardOutput)
                #expect(!report.keys("failed").isEmpty, comment)
                for key in report.keys("created") {
                    #expect(platform.stored.contains { $0.key == key }, comment)
                }
                for key in report.keys("deleted") {
                    #expect(!platform.stored.contains { $0.key == key }, comment)
                }
            }
            #expect(result.duration < .seconds(25), comment)
            platform.server.setFaults([])
            try platform.pushed()
            try expectArrived(platform, round: 1, fault)
        }
    }

    @Test(arguments: ["stores-empty", "drops-target", "rejects-one"])
    func `a silently wrong write is detected and fixed, or reported`(effect: String)
        throws
    {
        for request in ["POST /v10/projects/*/env", "PATCH /v9/projects/*/env/*"] {
            let platform = try prepared()
            try edit(platform, round: 1)
            try platform.setFaults("\(request) \(effect) x1")
            if effect == "rejects-one" {
                let (report, message) = try failedReport(platform.push(), 1, "failed")
                #expect(report.keys("failed").count == 1)
                #expect(report.reasons("failed").first?.contains("could not be stored") == true)
                #expect(message.contains("The other changes were applied"))
                try platform.pushed()
            } else {
                try platform.pushed()
            }
            try expectArrived(platform, round: 1, "\(request) \(effect)")

            try edit(platform, round: 2)
            try platform.setFaults(
                "POST /v10/projects/*/env \(effect)", "PATCH /v9/projects/*/env/* \(effect)")
            let (report, _) = try failedReport(platform.push(), 1, "failed")
            let reason =
                ["stores-empty": "empty value", "drops-target": "only"][effect] ?? "stored"
            #expect(report.keys("failed").contains("CHANGED"))
            #expect(report.reasons("failed").contains { $0.contains(reason) }, "\(report)")
            platform.server.setFaults([])
            try platform.pushed()
            try expectArrived(platform, round: 2, "\(request) \(effect)")
        }
    }

    @Test func `a vault that becomes unwritable does not hide what was sent`()
        throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        let place = platform.home.directory.path("data/zg-env")
        try platform.setFaults("POST * slow:5")
        var runner = platform.runner(["push", "-p", "web", "--yes", "--json"])
        let server = platform.server
        runner.script = [
            (
                .now,
                .call { _, _ in
                    server.waits { requests in
                        requests.contains { $0.method == "POST" && $0.path.contains("/env") }
                    }
                    try? FileManager.default.moveItem(atPath: place, toPath: place + ".away")
                }
            )
        ]
        let text = try failedAsJSON(runner.run(), 4, "not_found")
        #expect(
            text.contains("may already have been sent") && text.contains("push again"), "\(text)")
        #expect(platform.records("KEY").count == 1)
        // A search finds what could not be recorded.
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.moveItem(atPath: place + ".away", toPath: place)
        platform.server.setFaults([])
        try platform.pushed()
        #expect(platform.records("KEY") == ["production,preview,development=value"])
        try platform.pushed().expectNothing()
    }

    @Test func `a type forced by Vercel is reported`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "v", "-t", "production")
        try platform.setFaults("POST /v10/projects/*/env forces-sensitive")
        let (report, message) = try failedReport(platform.push(), 1, "failed")
        #expect(report.reasons("failed").first?.contains("sensitive instead of encrypted") == true)
        // Pushing again would change nothing, so the hint is another one.
        func expectAdvice(_ message: String) {
            #expect(message.contains("zg-env harden KEY -p web."), "\(message)")
            #expect(message.contains("zg-env rm KEY -p web -t production --push"))
            #expect(!message.contains("Push the rest"))
        }
        expectAdvice(message)
        platform.server.setFaults([])
        // It stays so until the vault has the type too; a second push reports the same.
        expectAdvice(try failedReport(platform.push(), 1, "failed").message)
        // The hint resolves it.
        done(try platform.run("harden", "KEY", "-p", "web", "--yes"))
        try platform.pushed().expectNothing()
        #expect(platform.records("KEY") == ["production=v"])
    }

    @Test func `a forced variable for development is removed again`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "v")
        try platform.setFaults("POST /v10/projects/*/env forces-sensitive")
        _ = try platform.push()
        platform.server.setFaults([])
        let (_, message) = try failedReport(platform.push(), 1, "failed")
        let command = "rm KEY -p web -t production,preview,development --push"
        #expect(message.contains("zg-env \(command)"), "\(message)")
        done(try platform.runner(command.split(separator: " ").map(String.init) + ["--yes"]).run())
        #expect(platform.records("KEY") == [])
        try platform.set("KEY", "v", "--type", "sensitive")
        try platform.pushed()
        try platform.pushed().expectNothing()
        // Or its development part becomes a record of its own.
        try platform.set("OTHER", "v")
        try platform.setFaults("POST /v10/projects/*/env forces-sensitive")
        _ = try platform.push()
        platform.server.setFaults([])
        done(try platform.run("harden", "-p", "web", "-t", "production,preview", "--yes"))
        #expect(platform.records("OTHER") == ["development=v", "production,preview=v"])
        try platform.pushed().expectNothing()
    }

    @Test func `a sensitive creation with a lost answer is found, not sent twice`() throws {
        let platform = try SandboxHome()
        try platform.set("SECRET", "s", "--type", "sensitive")
        try platform.setFaults("POST /v10/projects/*/env lost-answer")
        let report = try platform.pushed()
        #expect(report.keys("created") == ["SECRET"])
        #expect(report.keys("unverified") == ["SECRET"])
        #expect(platform.records("SECRET") == ["production,preview=s"])
        platform.server.setFaults([])
        try platform.pushed().expectNothing()
    }

    @Test func `a value that could not be read back is not reported as verified`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        try platform.setFaults(
            "GET /v1/projects/*/env/* 429:600", "POST /v10/projects/*/env stores-empty x1")
        let (report, message) = try failedReport(platform.push(), 7, "unavailable")
        #expect(report.reasons("failed").first?.contains("could not be read back") == true)
        #expect(message.contains("Wait 10 min, then push again: zg-env push"))
        let list = try json(platform.run("list", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["sync"] == "ahead")
        platform.server.setFaults([])
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=value"])
        try platform.pushed().expectNothing()
    }
}
