import Foundation
internal import JSON
import TestSupport
import Testing

/// What the operator of a place, and anybody who can write to it, can do to the programs of members.
@Suite("Attacks on groups by the place")
struct GroupAttackTests {
    private func groupOfTwo() throws -> GroupHomes {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.settle("alice", "bob")
        return homes
    }

    private func copy(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: to)
        try FileManager.default.copyItem(atPath: from, toPath: to)
    }

    /// The paths of changes in the folder of the group.
    private func changes(_ folder: String) throws -> Set<String> {
        let files = FileManager.default.enumerator(atPath: "\(folder)/changes")
        return Set(
            (files ?? .init()).compactMap { $0 as? String }.filter { $0.count == 65 }
                .map { "changes/\($0)" })
    }

    @Test func `a replayed or withheld state is supplied again, or refused`() throws {
        let homes = try groupOfTwo()
        let old = homes.directory.path("old")
        try copy(homes.placeDirectory, old)
        try homes.set("alice", "A", "two")
        try homes.settle("alice", "bob")
        let all = try changes(homes.groupFolder())
        try copy(old, homes.placeDirectory)
        done(try homes.run("bob", "sync"))
        #expect(try changes(homes.groupFolder()) == all)
        #expect(try homes.value("bob", "A") == "two")
        // Bob's own copy is lost, too.
        try copy(old, homes.placeDirectory)
        try homes.deleteCopies("bob")
        let before = try homes.home("bob").vaultBytes()
        let refused = try failedAsJSON(homes.run("bob", "sync", "--json"), 8, "damaged")
        #expect(refused.contains("no longer has a change that this vault has seen"), "\(refused)")
        #expect(try homes.home("bob").vaultBytes() == before)
        #expect(try homes.value("bob", "A") == "two")
        // A membership that bob has seen.
        try homes.deleteCopies("bob")
        try FileManager.default.removeItem(atPath: homes.groupFolder() + "/entries/0000000002")
        let hidden = try failedAsJSON(homes.run("bob", "sync", "--json"), 8, "damaged")
        #expect(hidden.contains("membership entry that this vault has seen"), "\(hidden)")
        try homes.settle("alice", "bob")
        #expect(try homes.group("alice")["stateWords"] == homes.group("bob")["stateWords"])
    }

    @Test func `two histories show in the state words, and when one object crosses`() throws {
        let homes = try groupOfTwo()
        let (other, aside) = (homes.directory.path("other"), homes.directory.path("aside"))
        try copy(homes.placeDirectory, other)
        func swap() throws {
            let files = FileManager.default
            try files.moveItem(atPath: homes.placeDirectory, toPath: aside)
            try files.moveItem(atPath: other, toPath: homes.placeDirectory)
            try files.moveItem(atPath: aside, toPath: other)
        }
        try homes.set("alice", "A", "from alice")
        done(try homes.run("alice", "sync"))
        try swap()
        let before = try changes(homes.groupFolder())
        try homes.set("bob", "B", "first")
        done(try homes.run("bob", "sync"))
        let first = try changes(homes.groupFolder()).subtracting(before)
        try homes.set("bob", "B", "second")
        done(try homes.run("bob", "sync"))
        let second = try changes(homes.groupFolder()).subtracting(before).subtracting(first)
        #expect(try homes.value("bob", "A") == "one")
        func words(_ name: String) throws -> String? {
            try homes.group(name)["projects"]?.elements.first?["stateWords"]?.text
        }
        #expect(try words("alice") != words("bob"))
        // The newest object of the other side arrives without those before it.
        func cross(_ paths: Set<String>) throws {
            for path in paths {
                let from = try homes.groupFolder() + "/" + path
                let to = from.replacing(homes.placeDirectory, with: other)
                try FileManager.default.createDirectory(
                    atPath: String(to.dropLast(63)), withIntermediateDirectories: true)
                try copy(from, to)
            }
        }
        try cross(second)
        try swap()
        let sync = done(try homes.run("alice", "sync"))
        #expect(sync.output.contains("1 change builds on others"), "\(sync.output)")
        #expect(sync.output.contains("state words"), "\(sync.output)")
        #expect(try homes.sync("alice")["projects"]?.elements.first?["waiting"] == 1)
        failed(try homes.run("alice", "reveal", "B", "-p", "web"), 4)
        try swap()
        try cross(first)
        try swap()
        done(try homes.run("alice", "sync"))
        #expect(try homes.value("alice", "B") == "second")
        #expect(try homes.sync("alice")["projects"]?.elements.first?["waiting"] == 0)
    }

    @Test func `exchanged, invalid and too large objects are ignored`() throws {
        let homes = try groupOfTwo()
        let folder = try homes.groupFolder()
        let before = try changes(folder)
        try homes.set("alice", "A", "two")
        done(try homes.run("alice", "sync"))
        try homes.set("alice", "B", "new")
        done(try homes.run("alice", "sync"))
        let files = try changes(folder).subtracting(before).sorted().map { "\(folder)/\($0)" }
        #expect(files.count == 2)
        let bytes = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        for (file, content) in zip(files, bytes.reversed()) {
            try content.write(to: URL(fileURLWithPath: file))
        }
        // Names that fit nothing, a pipe, a link, and more than an object may have.
        let names = [
            "changes/ab/" + String(repeating: "0", count: 62),
            "changes/ab/" + String(repeating: "1", count: 62),
            "changes/ab/" + String(repeating: "2", count: 62),
            "changes/ab/" + String(repeating: "3", count: 62),
            "entries/0000000099", "invites/" + String(repeating: "a", count: 32),
            "joins/README", "entries/../../../outside",
        ]
        try FileManager.default.createDirectory(
            atPath: "\(folder)/changes/ab", withIntermediateDirectories: true)
        for name in names {
            try? Data("garbage".utf8).write(to: .init(fileURLWithPath: "\(folder)/\(name)"))
        }
        #expect(unsafe truncate("\(folder)/\(names[1])", 9 << 20) == 0)
        #expect(unsafe unlink("\(folder)/\(names[2])") == 0)
        #expect(unsafe mkfifo("\(folder)/\(names[2])", 0o600) == 0)
        #expect(unsafe unlink("\(folder)/\(names[3])") == 0)
        let vault = try homes.home("bob").vaultPath
        #expect(unsafe symlink(vault, "\(folder)/\(names[3])") == 0)
        let sync = done(try homes.run("bob", "sync"))
        #expect(sync.error.contains("ignored 6 invalid objects"), "\(sync.error)")
        #expect(try homes.value("bob", "A") == "one")
        failed(try homes.run("bob", "reveal", "B", "-p", "web"), 4)
        for (file, content) in zip(files, bytes) {
            try content.write(to: URL(fileURLWithPath: file))
        }
        done(try homes.run("bob", "sync"))
        #expect(try homes.value("bob", "A") == "two")
        #expect(try homes.value("bob", "B") == "new")
    }

    @Test(arguments: [false, true])
    func `garbage under the number of the next entry stops no admin`(git: Bool) throws {
        let homes = try GroupHomes(git: git)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        if git {
            let ref = try homes.gitInPlace("for-each-ref", "--format=%(refname)")
            try homes.directory.write("garbage", to: "garbage")
            let blob = try homes.gitInPlace("hash-object", "-w", homes.directory.path("garbage"))
            homes.environment["GIT_INDEX_FILE"] = homes.directory.path("index")
            let index = homes.directory.path("index")
            let script = """
                export GIT_DIR=$0 GIT_INDEX_FILE=$1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \\
                    GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
                git read-tree $2 && git update-index --add --cacheinfo 100644,$3,entries/0000000003 &&
                git update-ref $2 $(git commit-tree $(git write-tree) -p $2 -m x)
                """
            let done = try ProgramRunner(
                path: "/bin/sh", ["-c", script, homes.placeDirectory, index, ref, blob],
                environment: ["PATH": "/usr/bin:/bin", "HOME": homes.directory.path]
            ).run()
            #expect(done.status == 0, "\(done.error)")
        } else {
            try Data("garbage".utf8).write(
                to: URL(fileURLWithPath: homes.groupFolder() + "/entries/0000000003"))
        }
        try homes.admit("carol", by: "alice")
        done(try homes.run("bob", "sync"))
        #expect(try homes.value("carol", "A") == "one")
        done(try homes.run("alice", "group", "remove", "carol", "--yes"))
        try homes.settle("alice", "bob")
        #expect(try homes.group("bob")["members"]?.elements.count { $0["isActive"] == true } == 2)
        #expect(try homes.sync("bob")["forked"] == false)
    }
}
