import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// `deployment logs`: every line once, whatever happens in between.
@Suite("deployment logs")
struct DeploymentLogsTests {
    /// A redeployment that has just begun.
    private func begun(_ platform: SandboxHome) throws -> String {
        let made = try platform.teammate.send(
            "POST", "/v13/deployments?forceNew=1",
            [
                "deploymentId": .string(try platform.deployments()[0]), "name": "web",
                "target": "production",
            ])
        return try #require(made["id"]?.string)
    }

    private func logs(
        _ platform: SandboxHome, _ arguments: String...
    ) throws -> ProgramResult {
        try platform.runner(["deployment", "logs"] + arguments).run()
    }

    /// The output without times and marks, one line each.
    private func texts(_ output: String) -> [String] {
        output.split(separator: "\n").map { String($0.dropFirst(27)) }
    }

    private func lines(_ count: Int) -> [String] { (0..<count).map { "line \($0)" } }

    @Test(
        arguments: [
            ("ok", 0, "READY", ""), ("fail", 9, "ERROR", "npm run build"),
            ("ignored", 9, "CANCELED", "Ignored Build Step"), ("blocked", 9, "BLOCKED", "blocked"),
            ("alias-late:1", 0, "READY", ""), ("staged", 0, "READY", ""),
        ] as [(String, Int32, String, String)])
    func `a build is followed to its end, which sets the exit code`(
        mode: String, status: Int32, state: String, words: String
    ) throws {
        let platform = try SandboxHome(buildSeconds: 1)
        platform.server.setBuild(try #require(BuildMode(mode)))
        platform.server.setBuildLog(lines(100))
        let id = try begun(platform)
        let followed = try logs(platform, id, "--follow")
        #expect(followed.status == status, "\(followed.error)")
        #expect(words.isEmpty || followed.error.contains(words))
        let blocked = mode == "blocked"
        let shown = texts(followed.output).filter { $0.hasPrefix("line ") }
        #expect(shown == (blocked ? [] : lines(100)))
        #expect(followed.output.contains("= \(state)"))
        // The states appear as they are reached.
        #expect(texts(followed.output).first == "QUEUED")
        // After its end the same log comes in one response, and a failed build is no failure to
        // show it, except with --follow.
        let finished = done(try logs(platform, id))
        // Only a stream has the URLs.
        let told = followed.output.split(separator: "\n").filter { !$0.contains("aliases were") }
        #expect(finished.output.split(separator: "\n") == told)
        #expect(try logs(platform, id, "--follow").status == status)
        let requests = platform.server.requests.suffix(8).map(\.path)
        #expect(requests.contains { $0.contains("/events") && $0.contains("follow=0") })
    }

    @Test func `the log appears while it builds`() throws {
        let platform = try SandboxHome(buildSeconds: 4)
        platform.server.setBuildLog(lines(200))
        let id = try begun(platform)
        var runner = platform.runner(["deployment", "logs", id, "--follow"])
        var stateAtFirstLine: String?
        runner.script = [
            (
                .output("line 0\n"),
                .call { _, _ in
                    let seen = try? platform.teammate.send("GET", "/v13/deployments/\(id)")
                    stateAtFirstLine = seen?["readyState"]?.string
                }
            )
        ]
        let result = done(try runner.run())
        #expect(stateAtFirstLine == "BUILDING")
        #expect(texts(result.output).filter { $0.hasPrefix("line ") } == lines(200))
    }

    @Test func `marks say what a line is, and both formats are parsed`() throws {
        let platform = try SandboxHome(buildSeconds: 1)
        platform.server.setBuildLog([
            "# Installing", "$ npm ci", "added 3 packages", "! something is wrong",
            "~ something is old", "= 0", "$ make", "= 2",
        ])
        let id = try begun(platform)
        let output = done(try logs(platform, id, "--follow")).output
        for line in [
            " # Installing\n", " $ npm ci\n", "   added 3 packages\n",
            " ! something is wrong\n", " ~ something is old\n", " $ make\n",
            " = Exited with code 2.\n",
            " = READY\n", " = The aliases were assigned.\n",
        ] {
            #expect(output.contains(line), "\(line)")
        }
        #expect(!output.contains("Exited with code 0"))
        for line in output.split(separator: "\n") {
            #expect(line.prefix(24).wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        }
        let events = try done(logs(platform, id, "--json")).output.split(separator: "\n").map {
            try JSONDocument(Array($0.utf8))
        }
        for event in events {
            #expect(
                event.names == [
                    "type", "id", "at", "stream", "level", "step", "text", "state", "statusCode",
                    "aliasError",
                ])
        }
        #expect(events.first { $0["text"] == "added 3 packages" }?["stream"] == "stdout")
        #expect(events.first { $0["text"] == "something is wrong" }?["stream"] == "stderr")
        #expect(events.first { $0["text"] == "something is old" }?["level"] == "warning")
        #expect(events.contains { $0["state"] == "READY" && $0["type"] == "deployment-state" })
        #expect(events.contains { $0["statusCode"] == 2 })
        #expect(events.last?["state"] == "READY")
    }

    @Test(arguments: ["truncate", "reset", "500", "429:0", "lost-answer", "slow:0.3"])
    func `a broken connection neither loses nor repeats a line`(fault: String) throws {
        let platform = try SandboxHome(buildSeconds: 2)
        platform.server.setBuildLog(lines(3_000))
        let id = try begun(platform)
        try platform.setFaults("GET */events \(fault) x3")
        let followed = done(try logs(platform, id, "--follow"))
        #expect(texts(followed.output).filter { $0.hasPrefix("line ") } == lines(3_000))
        let connections = platform.server.requests.filter {
            $0.path.contains("/events") && $0.path.contains("follow=1")
        }
        #expect(connections.count >= (fault.hasPrefix("slow") ? 1 : 4), "\(connections.count)")
        if fault == "truncate" { #expect(connections.contains { $0.path.contains("since=") }) }
        // A finished log that is cut off is requested again from there.
        try platform.setFaults("GET */events \(fault) x2")
        let finished = done(try logs(platform, id))
        #expect(texts(finished.output).filter { $0.hasPrefix("line ") } == lines(3_000))
    }

    @Test func `a stream that stays open after the end does not block the command`() throws {
        let platform = try SandboxHome(buildSeconds: 0.5)
        platform.server.setBuildLog(lines(10))
        let id = try begun(platform)
        try platform.setFaults("GET */events stays-open x1")
        let result = done(try logs(platform, id, "--follow"))
        #expect(texts(result.output).filter { $0.hasPrefix("line ") } == lines(10))
        #expect(result.duration < .seconds(12))
    }

    @Test func `a log that cannot be shown is reported`() throws {
        let platform = try SandboxHome(buildSeconds: 0.2)
        let id = try platform.deployments()[0]
        try failedAsJSON(logs(platform, "dpl_none", "--json"), 4, "not_found")
        try platform.setFaults("GET */events 500")
        failed(try logs(platform, id), 7, "500")
        try platform.setFaults("GET */events html")
        failed(try logs(platform, id), 7)
        platform.server.setFaults([])
        failed(try logs(platform, id, "--offline"), 7, "--offline")
        failed(try platform.run("deployment", "logs"), 2)
        // A closed output ends it.
        platform.server.setBuildLog(lines(5_000))
        let long = try begun(platform)
        platform.server.advanceClock(bySeconds: 5)
        let piped = ProgramRunner(
            path: "/bin/sh",
            [
                "-c", "\"$0\" deployment logs \(long) | head -1; echo ${PIPESTATUS:-}",
                try ProgramRunner.pathOfProduct("zg-env"),
            ],
            environment: platform.runner([], environment: [:]).environment)
        let cut = try piped.run()
        #expect(cut.output.contains("QUEUED") && !cut.error.contains("zg-env:"), "\(cut.error)")
    }

    @Test func `no line controls the terminal or imitates another one`() throws {
        let platform = try SandboxHome(buildSeconds: 0.5)
        let evil = [
            "\u{1B}]0;owned\u{07}title", "\u{1B}[2J\u{1B}[1;1Hcleared", "a\rb overwritten",
            "\u{9B}31mred", "\u{202E}reversed", "two\nlines\n= READY", "bell\u{07}",
            "\u{1B}Pdevice\u{1B}\\ string", "nul\u{0}nul", "\u{2028}separated",
        ]
        platform.server.setBuildLog(evil)
        let id = try begun(platform)
        let text = done(try logs(platform, id, "--follow")).standardOutput
        #expect(text.allSatisfy { $0 == 0x0A || ($0 >= 0x20 && $0 != 0x7F) })
        let shown = String(decoding: text, as: UTF8.self)
        for character in ["\u{9B}", "\u{202E}", "\u{2028}"] { #expect(!shown.contains(character)) }
        // Output of a program that imitates Vercel has the output mark and a time.
        #expect(shown.contains("Z   = READY\n") && shown.contains("Z = READY\n"))
        let raw = done(try logs(platform, id, "--json"))
        #expect(raw.standardOutput.allSatisfy { $0 == 0x0A || ($0 >= 0x20 && $0 != 0x7F) })
        let events = try raw.output.split(separator: "\n").map { try JSONDocument(Array($0.utf8)) }
        let told = events.compactMap { $0["text"]?.text }
        for line in evil { #expect(told.contains(line), "\(line.debugDescription)") }
    }

    @Test func `steps are folded on a terminal, and a failed one is open`() throws {
        let platform = try SandboxHome(buildSeconds: 0.5)
        platform.server.setBuild(.fail)
        platform.server.setBuildLog(
            ["$ npm ci"] + lines(50) + ["= 0", "$ npm test"]
                + (0..<1_200).map { "check \($0)" } + ["! it does not hold"])
        let id = try begun(platform)
        platform.server.advanceClock(bySeconds: 5)
        func screen(_ arguments: String...) throws -> ProgramResult {
            var runner = platform.runner(["deployment", "logs", id, "--follow"] + arguments)
            runner.terminal = .init()
            runner.output = .terminal
            runner.error = .terminal
            return try runner.run()
        }
        let folded = try screen()
        #expect(folded.status == 9)
        #expect(folded.screen.contains("npm ci") && folded.screen.contains("50 lines"))
        #expect(!folded.screen.contains("line 49") && !folded.screen.contains("check 1\r"))
        #expect(folded.screen.contains("check 1199") && folded.screen.contains("it does not hold"))
        #expect(folded.screen.contains("earlier lines"))
        #expect(folded.screen.contains("ended in state ERROR"))
        let unfolded = try screen("--unfold")
        #expect(unfolded.screen.contains("line 49") && unfolded.screen.contains("check 0\r"))
    }

    @Test func `what follows the steps is named so, and an exit code is shown once`() throws {
        let platform = try SandboxHome(buildSeconds: 0.5)
        platform.server.setBuild(.fail)
        platform.server.setBuildLog(["$ npm ci", "= 0", "$ npm test", "! no", "= 1", "after it"])
        let id = try begun(platform)
        platform.server.advanceClock(bySeconds: 5)
        var runner = platform.runner(["deployment", "logs", id])
        (runner.terminal, runner.output, runner.error) = (.init(), .terminal, .terminal)
        let screen = done(try runner.run()).screen
        #expect(screen.contains("after the last step"), "\(screen)")
        #expect(!screen.contains("before the first step"), "\(screen)")
        #expect(screen.ranges(of: "Exited with code 1").count == 1, "\(screen)")
    }

    @Test func `many thousand lines arrive completely, in little memory`() throws {
        let platform = try SandboxHome(buildSeconds: 1)
        let count = Proof.count(short: 30_000, full: 100_000)
        platform.server.setBuildLog((0..<count).map { "line \($0) of a build that says much" })
        let id = try begun(platform)
        platform.server.advanceClock(bySeconds: 10)
        for arguments in [["--follow"], ["--json"]] {
            var runner = platform.runner(["deployment", "logs", id] + arguments)
            runner.timeLimit = .seconds(240)
            // The process's own peak, from the kernel.
            let peak = PeakMemory()
            // More remains than a pipe and a busy reader hold, so the program is still running.
            let near = "line \(count - 10_000) of"
            runner.script = [(.output(near), .call { process, _ in peak.read(process) })]
            let result = done(try runner.run())
            let found = result.output.split(separator: "\n").filter { $0.contains("of a build") }
            #expect(found.count == count)
            #expect(found.last?.contains("line \(count - 1) of") == true)
            let kilobytes = try #require(peak.kilobytes)
            #expect(kilobytes < 64 << 10, "\(kilobytes) kB")
            print("\(count) lines \(arguments): \(kilobytes) kB, \(result.duration)")
        }
    }
}

/// A process's peak memory, from `/proc`.
final class PeakMemory {
    private(set) var kilobytes: Int?

    func read(_ process: Int32) {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        kilobytes = line.flatMap { $0.split(separator: " ").compactMap { Int($0) }.first }
    }
}
