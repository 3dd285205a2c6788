import Dispatch
import Foundation
import TestSupport
import Testing
import Threads

/// Concurrent writers, and killed ones.
@Suite("Concurrent writers")
struct ConcurrencyTests {
    @Test(arguments: [2, 20])
    func `concurrent set runs all take effect`(count: Int) throws {
        let home = try CommandHome.initialised()
        let failures = Monitor<[String]>([])
        DispatchQueue.concurrentPerform(iterations: count) { number in
            let result = try? home.run(
                ["set", "KEY_\(number)", "-p", "web"], input: .text("value \(number)"))
            if result?.status != 0 { failures.look { $0.append(result?.error ?? "not run") } }
        }
        #expect(failures.look { $0 } == [])
        let object = try json(
            home.run(["export", "-p", "web", "-t", "preview", "--format", "json"]))
        let expected = (0..<count).map { ("KEY_\($0)", JSONDocument.string("value \($0)")) }
        #expect(object == .object(Dictionary(uniqueKeysWithValues: expected)))
        let names = try FileManager.default.contentsOfDirectory(
            atPath: home.directory.path("data/zg-env"))
        #expect(Set(names) == ["vault.zgv", "vault.zgv.lock"])
    }

    @Test func `concurrent set runs of one key each keep a version`() throws {
        let home = try CommandHome.initialised()
        let statuses = Monitor<[Int32]>([])
        // They create the project too.
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let result = try? home.run(
                ["set", "KEY", "-p", "web"], input: .text("value \(number)"))
            statuses.look { $0.append(result?.status ?? -1) }
        }
        #expect(statuses.look { $0 } == [Int32](repeating: 0, count: 8))
        let shown = try json(home.run(["show", "KEY", "-p", "web", "--json"]))
        let record = try #require(shown["records"]?.elements.first)
        #expect(record["version"] == 8)
        #expect(
            record["versions"]?.elements.map { $0["version"] }
                == (1...8).map { JSONDocument.integer($0) })
    }

    @Test func `one of two concurrent init runs creates the vault`() throws {
        let home = try CommandHome()
        let statuses = Monitor<[Int32]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let result = try? home.run(["init", "--lock", "--kdf", "8MiB,1"])
            statuses.look { $0.append(result?.status ?? -1) }
        }
        #expect(statuses.look { $0.sorted() } == [0, 5, 5, 5])
        done(try home.run(["list", "--all-projects"]))
    }

    @Test func `readers see the old or the new vault during a write`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "old"])
        let lock = try HeldLock(of: home)
        #expect(try home.revealed("KEY") == Array("old".utf8))
        done(try home.run(["list", "-p", "web"]))
        lock.release()
    }

    @Test func `a writer that times out names the process that holds the lock`() throws {
        let home = try CommandHome.initialised()
        let before = try home.vaultBytes()
        let lock = try HeldLock(of: home)
        let result = try home.run(["set", "KEY", "-p", "web", "--json"], input: .text("x"))
        let text = try failedAsJSON(result, 5, "conflict")
        #expect(text.contains("\(getpid())"))
        #expect(result.duration > .seconds(8) && result.duration < .seconds(25))
        #expect(try home.vaultBytes() == before)
        lock.release()
    }

    @Test func `an import killed at any moment leaves the old or the new vault`() throws {
        let home = try CommandHome.initialised()
        try home.store(["OLD": "kept"])
        let lines = (0..<400).map { "KEY_\($0)=\(String(repeating: "v", count: 300))" }
        let text = ProgramRunner.Input.text(lines.joined(separator: "\n"))
        let old = try home.vaultBytes()
        let whole = try home.run(["import", "-", "-p", "web"], input: text)
        done(whole)
        var kept = 0
        for step in 0..<24 {
            try home.directory.write(old, to: "data/zg-env/vault.zgv")
            try home.forgetAnchors()
            var runner = home.runner(["import", "-", "-p", "web"], input: text)
            let pause = whole.duration * step / 20
            runner.script = [
                (
                    .now,
                    .call { process, _ in
                        usleep(UInt32(pause / .microseconds(1)))
                        kill(process, SIGKILL)
                    }
                )
            ]
            _ = try runner.run()
            let list = try json(home.run(["list", "-p", "web", "--json"]))
            let count = list["variables"]?.elements.count
            #expect(count == 1 || count == 401, "after \(pause)")
            kept += count == 1 ? 1 : 0
            #expect(try home.revealed("OLD") == Array("kept".utf8))
        }
        // Kills before and after the write both happened.
        #expect(kept > 0)
        // The next writer removes what killed ones left behind.
        try home.store(["NEXT": "1"])
        let names = try FileManager.default.contentsOfDirectory(
            atPath: home.directory.path("data/zg-env"))
        #expect(Set(names) == ["vault.zgv", "vault.zgv.lock"])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted writer leaves the vault intact`(signal: Int32) throws {
        let home = try CommandHome.initialised()
        let before = try home.vaultBytes()
        let lock = try HeldLock(of: home)
        var runner = home.runner(["set", "KEY", "-p", "web"], input: .text("x"))
        runner.script = [
            (
                .now,
                .call { process, _ in
                    lock.awaitWaiter(process)
                    kill(process, signal)
                }
            )
        ]
        let result = try runner.run()
        #expect(result.end == .received(signal))
        #expect(try home.vaultBytes() == before)
        lock.release()
        try home.store(["KEY": "later"])
    }
}
