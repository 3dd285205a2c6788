import Foundation
import TestSupport
import Testing

/// `diff` between a file and the vault.
@Suite("Comparing a file with the vault")
struct DifferenceTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["SAME": "one", "CHANGED": "s3cret-of-vault", "REMOVED": "three"])
        try home.directory.write(
            "SAME=\"one\"\nCHANGED=s3cret-of-file\nADDED=four\n", to: "work/.env")
    }

    private let run = ["diff", ".env", "-p", "web", "-t", "production"]

    @Test func `diff reports each key's state and shows no value`() throws {
        let result = done(try home.run(run))
        let words = result.output.split(separator: "\n").map {
            $0.split(separator: " ").map { String($0) }
        }
        #expect(
            words == [
                ["added", "ADDED"], ["changed", "CHANGED"], ["removed", "REMOVED"],
                ["same", "SAME"],
            ])
        let object = try json(home.run(run + ["--json"]))
        #expect(object["added"] == ["ADDED"])
        #expect(object["removed"] == ["REMOVED"])
        #expect(object["changed"] == ["CHANGED"])
        #expect(object["same"] == ["SAME"])
        #expect(object["unreadable"] == [])
        #expect(object["compared"] == true)
        for run in [run, run + ["--json"]] {
            let result = try home.run(run)
            #expect(!(result.output + result.error).contains("s3cret"))
        }
    }

    @Test func `diff --exit-code reports a difference`() throws {
        let result = try home.run(run + ["--exit-code", "--json"])
        #expect(result.end == .exited(1))
        #expect(try JSONDocument(result.standardOutput)["changed"] == ["CHANGED"])
        #expect(try JSONDocument(result.standardError)["error"]?["code"] == "failed")
        try home.directory.write(
            "SAME=one\nCHANGED=s3cret-of-vault\nREMOVED=three\n", to: "work/.env")
        #expect(try json(home.run(run + ["--exit-code", "--json"]))["same"]?.elements.count == 3)
    }

    @Test func `diff --names needs no passphrase and says what it did not compare`() throws {
        let keyring = ["slot", "add", "file", "index.key"]
        done(try home.run(keyring))
        let names = run + ["--names", "--json", "--key-file", "index.key"]
        #expect(try home.run(names + ["--exit-code"], unlocked: false).end == .exited(1))
        let result = try json(home.run(names, unlocked: false))
        #expect(result["added"] == ["ADDED"])
        #expect(result["removed"] == ["REMOVED"])
        #expect(result["present"] == ["CHANGED", "SAME"])
        #expect(result["same"] == [] && result["changed"] == [])
        #expect(result["compared"] == false)
        let locked = try home.run(run + ["--key-file", "index.key"], unlocked: false)
        #expect(locked.end == .exited(3) || locked.end == .exited(2))
    }

    @Test func `diff compares development by default and says so`() throws {
        done(try home.run(["set", "DEV", "-p", "web", "-t", "development"], input: .text("1")))
        let result = done(try home.run(["diff", ".env", "-p", "web"]))
        #expect(result.error.contains("development"))
        #expect(result.output.contains("DEV"))
        #expect(!(try home.run(run)).output.contains("DEV"))
        let quiet = try json(home.run(["diff", ".env", "-p", "web", "--json"]))
        #expect(quiet["target"] == "development")
    }

    @Test func `diff reads stdin and dialects, and refuses what is not a .env file`() throws {
        let text = ProgramRunner.Input.text("SAME='one'\n")
        let docker = try json(
            home.run(
                ["diff", "-", "-p", "web", "-t", "production", "--dialect", "docker", "--json"],
                input: text))
        #expect(docker["changed"] == ["SAME"])
        failed(try home.run(["diff", "none", "-p", "web", "-t", "preview"]), 2, "none")
        failed(try home.run(["diff", ".env", "-p", "other", "-t", "preview"]), 4, "other")
        failed(try home.run(["diff", "-p", "web"]), 2)
    }
}
