import Foundation
import GroupPlaces
import Groups
import TestSupport
import Testing

/// Kills publishers, and the git processes below them, at random times. Every object that was
/// reported as published is there afterwards, and the next publish works.
@Suite("Killed publishers")
struct PlaceKillTests {
    /// Publishes one object. A git that is killed while it writes a ref at the place leaves its lock,
    /// which prevents every change until a person deletes it, as the error says.
    private func publish(
        _ object: PlaceObject, _ place: any GroupPlace, _ fixture: PlaceFixture
    ) throws -> Set<ObjectPath> {
        do {
            return try place.publish([object], to: fixture.group)
        } catch {
            guard error.reason.contains(".lock in the place's repository") else { throw error }
            print(error.reason)
            let lock = "refs/zg-env/\(fixture.group.hexadecimal).lock"
            try FileManager.default.removeItem(atPath: "\(fixture.place)/\(lock)")
            return try place.publish([object], to: fixture.group)
        }
    }

    @Test(arguments: PlaceFixture.Kind.allCases, [false, true])
    func `a kill loses nothing, and the next publish works`(
        kind: PlaceFixture.Kind, killsGit: Bool
    ) throws {
        guard kind == .repository || !killsGit else { return }
        let fixture = try PlaceFixture(kind)
        var random = ProofRandom(killsGit ? 81 : 82)
        var (published, kills) = (Set<ObjectPath>(), 0)
        for turn in 0..<Proof.count(short: 6, full: 150) {
            let pause = UInt32.random(in: 0...120_000, using: &random)
            let choice = UInt64.random(in: 0...UInt64.max, using: &random)
            var runner = try fixture.publisher("alice", ["changes", "turn\(turn)", "1000"])
            runner.script = [
                (
                    .output("changes/"),
                    .call { identifier, _ in
                        // The time of the kill is the test's input, not its synchronization.
                        usleep(pause)
                        // A git may end before it is killed; the next one is then killed.
                        for _ in 0..<200 where killsGit {
                            let below = ProcessTree.descendants(of: identifier)
                            guard !below.isEmpty else { continue }
                            let one = below[Int(choice % UInt64(below.count))]
                            if kill(one, SIGKILL) == 0 { break }
                        }
                        kill(identifier, SIGKILL)
                    }
                )
            ]
            let result = try runner.run()
            #expect(result.signal == SIGKILL, "\(random.seedText): \(result.output)")
            kills += 1
            let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            // The last line may be incomplete.
            published.formUnion(lines.dropLast().compactMap { ObjectPath($0) })
            let next = try change("after \(turn)")
            let place = try fixture.open("alice")
            #expect(
                try publish(next, place, fixture).isEmpty, "\(random.seedText) \(turn)")
            published.insert(next.path)
            _ = try place.refresh(fixture.group, since: nil)
            let missing = published.subtracting(try place.paths(of: fixture.group))
            #expect(missing.isEmpty, "\(random.seedText) \(turn)")
        }
        let reader = try fixture.open("bob")
        _ = try reader.refresh(fixture.group, since: nil)
        let reading = try reader.read(Array(published), of: fixture.group)
        #expect(reading.objects.count == published.count && reading.refused.isEmpty)
        print("\(kind): \(kills) kills, \(published.count) objects published, all there")
    }

    /// A git goes on when its publisher is killed, and renames the files of its repository as if it
    /// were alone there.
    @Test
    func `gits that outlive their publisher do not disturb the next one`() throws {
        let fixture = try PlaceFixture(.repository)
        let directory = fixture.directory
        let (log, pause) = (directory.path("log"), directory.path("pause"))
        let living = directory.path("living")
        // The first sender of a turn waits for the kill, and then some more.
        let sender = try directory.write(
            "#!/bin/sh\necho >>\(log)\nif read time <\(pause); then rm \(pause)\n"
                + "while [ -e \(living) ]; do sleep 0.001; done; sleep $time; fi\nexec \"$@\"\n",
            to: "sender", mode: 0o700)
        let bob = try fixture.open("bob")
        var random = ProofRandom(84)
        for turn in 0..<Proof.count(short: 20, full: 200) {
            _ = try bob.publish([try change("\(turn)")], to: fixture.group)
            try directory.write(
                "[uploadpack]\npackObjectsHook = \(sender)\n", to: "home/.gitconfig")
            try directory.write("", to: "log")
            try directory.write("", to: "living")
            try directory.write(
                "\(Double.random(in: 0...0.02, using: &random))\n", to: "pause")
            var runner = try fixture.publisher("m\(turn)", ["refresh", ""])
            runner.script = [
                (
                    .now,
                    .call { identifier, _ in
                        for _ in 0..<30_000 where FileManager.default.fileExists(atPath: pause) {
                            usleep(1_000)
                        }
                        kill(identifier, SIGKILL)
                        _ = unsafe unlink(living)
                    }
                )
            ]
            #expect(try runner.run().signal == SIGKILL, "\(random.seedText) \(turn)")
            let place = try fixture.open("m\(turn)")
            _ = try place.refresh(fixture.group, since: nil)
            #expect(try place.paths(of: fixture.group).count == turn + 1)
            // The second fetch succeeded.
            #expect(
                try String(contentsOfFile: log, encoding: .utf8) == "\n\n",
                "\(random.seedText) \(turn)")
            try directory.write("", to: "home/.gitconfig")
        }
    }

    /// Git killed alone is an error or another attempt of the publisher, which goes on.
    @Test
    func `a publisher survives the end of its git`() throws {
        let fixture = try PlaceFixture(.repository)
        var random = ProofRandom(83)
        var (published, errors) = (Set<ObjectPath>(), 0)
        for turn in 0..<Proof.count(short: 6, full: 150) {
            let pause = UInt32.random(in: 0...60_000, using: &random)
            let choice = UInt64.random(in: 0...UInt64.max, using: &random)
            var runner = try fixture.publisher("alice", ["changes", "turn\(turn)", "4"])
            runner.script = [
                (
                    .now,
                    .call { identifier, _ in
                        usleep(pause)
                        let below = ProcessTree.descendants(of: identifier)
                        guard !below.isEmpty else { return }
                        kill(below[Int(choice % UInt64(below.count))], SIGKILL)
                    }
                )
            ]
            let result = try runner.run()
            if result.status != 0 { errors += 1 }
            published.formUnion(result.output.split(separator: "\n").compactMap { ObjectPath($0) })
            let next = try change("after \(turn)")
            #expect(
                try publish(next, fixture.open("alice"), fixture).isEmpty,
                "\(random.seedText) \(turn)")
            published.insert(next.path)
        }
        let reader = try fixture.open("bob")
        let missing = published.subtracting(try reader.paths(of: fixture.group))
        #expect(missing.isEmpty, "\(random.seedText)")
        print("git killed: \(errors) errors, \(published.count) objects published, all there")
    }
}
