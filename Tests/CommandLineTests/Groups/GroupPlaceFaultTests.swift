import Foundation
internal import JSON
import TestSupport
import Testing

/// Places, and copies of them, that lose or rewrite what they had; hosts and directories that want
/// something else.
@Suite("Faulty places of groups")
struct GroupPlaceFaultTests {
    enum Fault: CaseIterable, Sendable {
        case copiesDeleted, repositoryCut, objectsCut, refDeleted, refMovedBack, refReplaced
    }

    private func inflict(_ fault: Fault, on homes: GroupHomes) throws {
        let ref = try homes.gitInPlace("for-each-ref", "--format=%(refname)")
        #expect(ref.hasPrefix("refs/zg-env/"))
        let groups = try homes.home("bob").directory.path("state/zg-env/groups")
        switch fault {
        case .copiesDeleted: try homes.deleteCopies("bob")
        case .repositoryCut: try cutFiles(below: "\(groups)/repositories")
        case .objectsCut: try cutFiles(below: "\(groups)/objects")
        case .refDeleted: try homes.gitInPlace("update-ref", "-d", ref)
        case .refMovedBack: try homes.gitInPlace("update-ref", ref, "\(ref)~1")
        case .refReplaced:
            let tree = try homes.gitInPlace("hash-object", "-t", "tree", "-w", "/dev/null")
            let commit = try homes.gitInPlace(
                "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "x")
            try homes.gitInPlace("update-ref", ref, commit)
            try homes.gitInPlace("gc", "--quiet", "--prune=now")
        }
    }

    /// Halves each file that is not one of git's settings.
    private func cutFiles(below path: String) throws {
        var count = 0
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
            let file = "\(path)/\(name)"
            guard !["HEAD", "config"].contains(file.split(separator: "/").last),
                let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int,
                try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
                    == .typeRegular
            else { continue }
            _ = unsafe chmod(file, 0o600)
            #expect(unsafe truncate(file, size / 2) == 0)
            count += 1
        }
        #expect(count > 0)
    }

    @Test(arguments: Fault.allCases)
    func `the next sync of each member heals them`(fault: Fault) throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("alice", "A", "two")
        try homes.settle("alice", "bob")
        try inflict(fault, on: homes)
        try homes.set("bob", "B", "from bob")
        for name in ["bob", "alice", "bob"] { done(try homes.run(name, "sync")) }
        #expect(try homes.value("alice", "B") == "from bob")
        #expect(try homes.value("bob", "A") == "two")
        #expect(try homes.group("alice")["stateWords"] == homes.group("bob")["stateWords"])
        // The place has everything again.
        try homes.admit("carol", by: "alice")
        #expect(try homes.value("carol", "A") == "two")
        #expect(try homes.value("carol", "B") == "from bob")
    }

    @Test func `a host that rejects other refs gets a branch that Vercel does not deploy`() throws {
        let homes = try GroupHomes(server: .http)
        try homes.directory.write(
            "#!/bin/sh\ncase $1 in refs/heads/*) ;; *) exit 1;; esac\n", to: "place/hooks/update",
            mode: 0o755)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("bob", "A", "two")
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "A") == "two")
        let ref = try homes.gitInPlace("for-each-ref", "--format=%(refname)")
        #expect(ref.hasPrefix("refs/heads/zg-env/"))
        #expect(
            try homes.gitInPlace("show", "\(ref):vercel.json")
                == #"{"git":{"deploymentEnabled":false}}"#)
        // It has no commit in common with the repository's other branches.
        #expect(try homes.gitInPlace("rev-list", "--max-parents=0", "--count", ref) == "1")
    }

    @Test func `no directory, environment or place has a command run`() throws {
        let homes = try GroupHomes()
        let mark = homes.directory.path("ran")
        let trace = homes.directory.path("trace")
        let command = "touch \(mark)"
        let more = homes.directory.path("more")
        let configuration = HostileRepository.configuration(
            running: command, hooks: "\(homes.placeDirectory)/hooks", including: more)
        try homes.directory.write(
            configuration.replacing("[include]", with: "[other]"), to: "more")
        for hook in HostileRepository.hooks {
            try homes.directory.write(
                "#!/bin/sh\n\(command)\n", to: "place/hooks/\(hook)", mode: 0o755)
        }
        try append(configuration, to: "\(homes.placeDirectory)/config")
        for name in ["alice", "bob"] {
            let work = try homes.home(name).directory.path("work")
            #expect(
                try GroupHomes.git(["init", "--quiet", work], in: homes.directory).status == 0)
            try append(
                configuration + "[remote \"origin\"]\nurl = ext::sh -c \(command)\n",
                to: "\(work)/.git/config")
            homes.environment = HostileRepository.environment(
                of: work, running: command, tracingTo: trace)
        }
        try homes.set("alice", "A", "one")
        failed(
            try homes.run(
                "alice", "share", "web", "--group", "acme", "--at", ".", "--yes"), 2)
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("bob", "A", "two")
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "A") == "two")
        done(try homes.run("alice", "group", "show"))
        for path in [mark, trace] { #expect(!FileManager.default.fileExists(atPath: path)) }
    }

    private func append(_ text: String, to path: String) throws {
        try (try String(contentsOfFile: path, encoding: .utf8) + text)
            .write(toFile: path, atomically: true, encoding: .utf8)
    }
}
