import Foundation
import GroupPlaces
import Groups
import TestSupport
import Testing

/// Damage, hostile contents and hostile configuration, over a path.
@Suite("Git places")
struct GitPlaceTests {
    private let fixture: PlaceFixture
    private var ref: String { "refs/zg-env/\(fixture.group.hexadecimal)" }

    init() throws {
        fixture = try PlaceFixture(.repository)
    }

    private func remote(_ arguments: String...) throws -> String {
        try fixture.git(["--git-dir", fixture.place] + arguments)
    }

    /// Ways to lose or break a copy of the place.
    enum Damage: CaseIterable {
        case deleted, emptied, objectsDeleted, objectsCut, refInvalid, refWithoutCommit, locks,
            headCut
    }

    private func damage(_ copy: String, _ damage: Damage) throws {
        let files = FileManager.default
        let packs = "\(copy)/objects/pack"
        switch damage {
        case .deleted: try files.removeItem(atPath: copy)
        case .emptied:
            for name in try files.contentsOfDirectory(atPath: copy) {
                try files.removeItem(atPath: "\(copy)/\(name)")
            }
        case .objectsDeleted: try files.removeItem(atPath: packs)
        case .objectsCut:
            for name in try files.contentsOfDirectory(atPath: packs) {
                _ = unsafe chmod("\(packs)/\(name)", 0o600)
                _ = unsafe truncate("\(packs)/\(name)", 40)
            }
        case .refInvalid: try Data("x".utf8).write(to: URL(fileURLWithPath: "\(copy)/\(ref)"))
        case .refWithoutCommit:
            try Data(String(repeating: "1", count: 40).utf8)
                .write(to: URL(fileURLWithPath: "\(copy)/\(ref)"))
        case .locks:
            for name in ["\(ref).lock", "HEAD.lock", "shallow.lock", "config.lock"] {
                try Data().write(to: URL(fileURLWithPath: "\(copy)/\(name)"))
            }
        case .headCut: _ = unsafe truncate("\(copy)/HEAD", 0)
        }
    }

    /// git never removes the lock of a process that was killed.
    @Test func `a lock that a killed git left at the place is named`() throws {
        _ = try fixture.open("alice").publish([try change("a")], to: fixture.group)
        let lock = "\(fixture.place)/\(ref).lock"
        try Data().write(to: URL(fileURLWithPath: lock))
        let place = GitPlace(
            try fixture.address(), copyIn: try fixture.directory.makeDirectory("bob"),
            fixture.gitEnvironment, patience: .zero)
        let error = try #require(throws: PlaceError.self) {
            try place.publish([try change("b")], to: fixture.group)
        }
        #expect(error.code == .lostRace)
        #expect(error.reason.contains("The file \(ref).lock in the group's repository"))
        try FileManager.default.removeItem(atPath: lock)
        #expect(try place.publish([try change("b")], to: fixture.group) == [])
    }

    @Test(arguments: Damage.allCases)
    func `a damaged copy is recreated by the next call`(kind: Damage) throws {
        let (first, second) = (try change("a"), try change("b"))
        let open = try fixture.open("alice")
        _ = try open.publish([first], to: fixture.group)
        // As it is after a fetch.
        for call in 0..<3 {
            try damage(try fixture.copy(of: "alice"), kind)
            // The same object, or a new process.
            let place = call == 2 ? open : try fixture.open("alice")
            switch call {
            case 0:
                _ = try place.refresh(fixture.group, since: nil)
                #expect(try place.read([first.path], of: fixture.group).objects.count == 1)
            case 1:
                #expect(try place.publish([second], to: fixture.group).isEmpty)
            default:
                #expect(try place.publish([try change("c")], to: fixture.group).isEmpty)
                _ = try place.refresh(fixture.group, since: nil)
                #expect(try place.paths(of: fixture.group).count == 3)
            }
        }
        let other = try fixture.open("bob")
        #expect(try other.paths(of: fixture.group).count == 3)
    }

    @Test
    func `a deleted ref and a rewritten history are accepted, and publishing heals`() throws {
        let alice = try fixture.open("alice")
        let objects = [try change("a"), try change("b")]
        _ = try alice.publish([objects[0]], to: fixture.group)
        let old = try remote("rev-parse", ref)
        _ = try alice.publish([objects[1]], to: fixture.group)
        let full = try alice.refresh(fixture.group, since: nil)

        _ = try remote("update-ref", ref, old)
        #expect(try alice.refresh(fixture.group, since: full.token).hasChanged)
        #expect(try alice.paths(of: fixture.group) == [objects[0].path])
        #expect(try alice.publish(objects, to: fixture.group).isEmpty)

        // Once known, and once while this object believes that all is there.
        for refreshes in [true, false] {
            _ = try remote("update-ref", "-d", ref)
            _ = try remote("gc", "--quiet", "--prune=now")
            if refreshes {
                _ = try alice.refresh(fixture.group, since: nil)
                #expect(try alice.paths(of: fixture.group).isEmpty)
            }
            #expect(try alice.publish(objects, to: fixture.group).isEmpty)
            #expect(try fixture.open("bob").publish(objects, to: fixture.group).isEmpty)
        }
        try fixture.commitToRemote("M 100644 inline README\ndata 1\nx\n", force: true)
        #expect(try alice.publish(objects + [try change("c")], to: fixture.group).isEmpty)
        let carol = try fixture.open("carol")
        #expect(try carol.paths(of: fixture.group).count == 3)
        // Files of others stay.
        #expect(try remote("show", "\(ref):README") == "x")
    }

    @Test
    func `hostile trees are ignored or refused, and then replaced`() throws {
        let objects = try ["a", "b", "c", "d", "e"].map { try change($0) }
        let alice = try fixture.open("alice")
        _ = try alice.publish(objects + [try entry(1, "first")], to: fixture.group)
        let paths = objects.map(\.path.text)
        let large = String(repeating: "x", count: (8 << 20) + 1)
        let name = String(repeating: "n", count: 4_000)
        try fixture.commitToRemote(
            """
            M 100644 inline \(paths[0])
            data 5
            wrong
            M 120000 inline \(paths[1])
            data 11
            /etc/passwd
            M 160000 1111111111111111111111111111111111111111 \(paths[2])
            M 100644 inline \(paths[3])
            data \(large.utf8.count)
            \(large)
            D \(paths[4])
            M 100644 inline \(paths[4])/deeper/0
            data 0
            M 160000 1111111111111111111111111111111111111111 invites
            M 100644 inline changes/\(name)
            data 0
            M 100644 inline entries/2
            data 0
            M 100644 inline entries/0000000002.lock
            data 0

            """)
        let bob = try fixture.open("bob")
        #expect(
            try bob.paths(of: fixture.group)
                == Set(objects[..<4].map(\.path) + [.entry(1)]))
        let reading = try bob.read(objects.map(\.path) + [.entry(1)], of: fixture.group)
        #expect(reading.refused == Set(objects[..<4].map(\.path)))
        #expect(Array(reading.objects.keys) == [.entry(1)])
        #expect(try bob.publish(objects, to: fixture.group).isEmpty)
        #expect(try bob.read(objects.map(\.path), of: fixture.group).objects.count == 5)
    }

    @Test(arguments: ["..", ".git", "."])
    func `a tree that git would never write is an error`(name: String) throws {
        let blob = try fixture.git(
            ["--git-dir", fixture.place, "hash-object", "-w", "--stdin"], input: [1])
        let bytes =
            Array("100644 \(name)\0".utf8)
            + stride(from: 0, to: 40, by: 2).map { place in
                UInt8(blob.dropFirst(place).prefix(2), radix: 16) ?? 0
            }
        let tree = try fixture.git(
            [
                "--git-dir", fixture.place, "hash-object", "-t", "tree", "-w", "--literally",
                "--stdin",
            ], input: bytes)
        let commit = try fixture.git(
            [
                "--git-dir", fixture.place, "-c", "user.name=a", "-c", "user.email=a@b",
                "commit-tree", tree,
            ])
        _ = try remote("update-ref", ref, commit)
        let place = try fixture.open()
        #expect(code { _ = try place.refresh(fixture.group, since: nil) } == .damaged)
        _ = try remote("update-ref", "-d", ref)
        #expect(try place.publish([try change("a")], to: fixture.group).isEmpty)
    }

    @Test
    func `a name that git itself cannot send is an error`() throws {
        let name = String(repeating: "n", count: 1 << 20)
        try fixture.commitToRemote("M 100644 inline changes/\(name)\ndata 0\n")
        let place = try fixture.open()
        #expect(code { _ = try place.refresh(fixture.group, since: nil) } == .damaged)
    }

    @Test(arguments: [1, 2])
    func `a sender that is killed is no damage, and is asked once more`(kills: Int) throws {
        _ = try fixture.open().publish([try change("a")], to: fixture.group)
        // Each sender takes one file, and is killed if there was one.
        for number in 0..<kills { try fixture.directory.write("", to: "kill\(number)") }
        let sender = try fixture.directory.write(
            "#!/bin/sh\nfor kill in \(fixture.directory.path("kill"))?; do\n"
                + "    rm \"$kill\" && kill -9 $$\ndone\nexec \"$@\"\n", to: "sender", mode: 0o700)
        try fixture.directory.write(
            "[uploadpack]\npackObjectsHook = \(sender)\n", to: "home/.gitconfig")
        let place = try fixture.open("bob")
        let error = failure { _ = try place.refresh(fixture.group, since: nil) }
        #expect(error?.code == (kills == 1 ? nil : .unreachable), "\(error.debugDescription)")
        #expect(try place.paths(of: fixture.group).count == 1)
    }

    @Test
    func `nothing that a repository or the environment configures runs`() throws {
        let mark = fixture.directory.path("ran")
        let run = "touch \(mark)"
        let hostile = try fixture.directory.makeDirectory("hostile")
        try fixture.git(["init", "--quiet", hostile])
        let configuration =
            HostileRepository.configuration(
                running: run, hooks: "\(fixture.place)/hooks",
                including: fixture.directory.path("more"))
            + "[remote \"origin\"]\nurl = \(fixture.place)\n"
        // An include that includes itself would make git fail.
        try fixture.directory.write(
            configuration.replacing("[include]", with: "[other]"), to: "more")
        let file = "\(hostile)/.git/config"
        try (try String(contentsOfFile: file, encoding: .utf8) + configuration)
            .write(toFile: file, atomically: true, encoding: .utf8)
        let ours = "\(fixture.place)/config"
        try (try String(contentsOfFile: ours, encoding: .utf8) + configuration)
            .write(toFile: ours, atomically: true, encoding: .utf8)
        for hook in HostileRepository.hooks {
            try fixture.directory.write(
                "#!/bin/sh\n\(run)\n", to: "place.git/hooks/\(hook)", mode: 0o755)
        }
        let object = try change("a")
        var publisher = try fixture.publisher("alice", ["changes", "seed", "2"])
        publisher.workingDirectory = hostile
        publisher.environment.merge(
            HostileRepository.environment(
                of: hostile, running: run, tracingTo: fixture.directory.path("trace"))
        ) { $1 }
        #expect(try publisher.run().output.split(separator: "\n").count == 2)
        let origin = try PlaceAddress.ofOrigin(
            of: "\(hostile)/.", runningIn: fixture.directory.path("home"), fixture.gitEnvironment)
        #expect(origin.text == fixture.place)
        #expect(try fixture.open().publish([object], to: fixture.group).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: mark))
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.path("trace")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: hostile) == [".git"])
        #expect(try fixture.open("bob").paths(of: fixture.group).count == 3)
    }

    @Test
    func `a silent place ends with an error`() throws {
        _ = try fixture.open().publish([try change("a")], to: fixture.group)
        // A configuration that is a pipe makes the other side wait for ever.
        try FileManager.default.removeItem(atPath: "\(fixture.place)/config")
        #expect(unsafe mkfifo("\(fixture.place)/config", 0o600) == 0)
        let place = GitPlace(
            try fixture.address(), copyIn: try fixture.directory.makeDirectory("bob"),
            GitEnvironment(
                fixture.environment.map { Array("\($0)=\($1)".utf8) },
                longestSilence: .milliseconds(300)))
        #expect(code { _ = try place.groups() } == .timeout)
    }

    /// What a hostile place sends is not fetched a second time.
    @Test
    func `what is too large for a fetch is refused at once`() throws {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        _ = try fixture.open().publish([try change(bytes)], to: fixture.group)
        let place = GitPlace(
            try fixture.address(), copyIn: try fixture.directory.makeDirectory("bob"),
            GitEnvironment(
                fixture.environment.map { Array("\($0)=\($1)".utf8) }, largestFetch: 50_000))
        let log = fixture.directory.path("log")
        let sender = try fixture.directory.write(
            "#!/bin/sh\necho >>\(log)\nexec \"$@\"\n", to: "sender", mode: 0o700)
        try fixture.directory.write(
            "[uploadpack]\npackObjectsHook = \(sender)\n", to: "home/.gitconfig")
        #expect(code { _ = try place.refresh(fixture.group, since: nil) } == .tooLarge)
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "\n")
        #expect(try fixture.open("bob").paths(of: fixture.group).count == 1)
    }

    @Test
    func `nothing new is one ls-remote`() throws {
        let place = try fixture.open("alice")
        _ = try place.publish([try change("a")], to: fixture.group)
        let token = try place.refresh(fixture.group, since: nil).token
        try fixture.directory.makeDirectory("bin")
        let log = fixture.directory.path("log")
        try fixture.directory.write(
            "#!/bin/sh\necho \"$@\" >>\(log)\nexec /usr/bin/git \"$@\"\n", to: "bin/git",
            mode: 0o700)
        var runner = try fixture.publisher("alice", ["refresh", token])
        runner.environment["PATH"] = "\(fixture.directory.path("bin")):/usr/bin:/bin"
        #expect(try runner.run().output == "\(token)\n")
        let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            .filter { !$0.contains("git-upload-pack") && !$0.hasSuffix("upload-pack") }
        let own = calls.filter { $0.contains(" ls-remote ") }
        #expect(own.count == 1, "\(calls)")
        #expect(!calls.contains { $0.contains(" fetch ") || $0.contains(" push ") })
    }

    @Test
    func `a thousand changes and one publish are quick and small`() throws {
        let alice = try fixture.open("alice")
        let count = Proof.count(short: 1_000, full: 50_000)
        let objects = try (0..<count).map { number in
            try change((0..<700).map { _ in UInt8.random(in: 0...255) } + [UInt8(number & 255)])
        }
        // As they arise: ten publishes.
        for start in stride(from: 0, to: count, by: count / 10) {
            _ = try alice.publish(Array(objects[start..<(start + count / 10)]), to: fixture.group)
        }
        let bob = try fixture.open("bob")
        let clock = ContinuousClock()
        let time = try clock.measure {
            _ = try bob.refresh(fixture.group, since: nil)
            let paths = try bob.paths(of: fixture.group)
            #expect(try bob.read(Array(paths), of: fixture.group).objects.count == count)
        }
        let packs = "\(try fixture.copy(of: "bob"))/objects/pack"
        let size = try FileManager.default.contentsOfDirectory(atPath: packs).reduce(0) {
            try $0
                + ((FileManager.default.attributesOfItem(atPath: "\(packs)/\($1)")[.size] as? Int)
                    ?? 0)
        }
        let one = try clock.measure {
            _ = try bob.publish([try change("one")], to: fixture.group)
        }
        let none = try clock.measure { _ = try bob.refresh(fixture.group, since: nil) }
        print("\(count) changes: \(time), \(size) bytes; one publish: \(one); nothing new: \(none)")
        #expect(time < .seconds(Proof.isFull ? 30 : 5) && size < count * 2_000 && one < .seconds(5))
    }
}
