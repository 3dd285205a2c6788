import Foundation
import GroupPlaces
import Groups
import TestSupport
import Testing

@Suite("Git places over the network")
struct GitServerTests {
    private let fixture: PlaceFixture

    init() throws {
        fixture = try PlaceFixture(.repository)
    }

    @Test(arguments: GitServer.Kind.allCases)
    func `members share a group through a server`(kind: GitServer.Kind) throws {
        let server = try GitServer(kind, serving: "place.git", in: fixture.directory)
        let (alice, bob) = (
            try fixture.open("alice", over: server), try fixture.open("bob", over: server)
        )
        #expect(try !alice.probe().usesBranches)
        _ = try bob.refresh(fixture.group, since: nil)
        let objects = [try entry(1, "first"), try change("a")]
        #expect(try alice.publish(objects, to: fixture.group).isEmpty)
        #expect(
            try bob.publish([try entry(1, "other"), try change("b")], to: fixture.group)
                == [.entry(1)])
        #expect(try bob.groups() == [fixture.group])
        #expect(try alice.refresh(fixture.group, since: nil).hasChanged)
        #expect(try alice.paths(of: fixture.group).count == 3)
        let reading = try bob.read([.entry(1)], of: fixture.group)
        #expect(reading.objects == [.entry(1): objects[0].bytes])
    }

    @Test(arguments: zip(GitServer.Kind.allCases, ["update", "pre-receive"]))
    func `a host that rejects other refs gets a branch`(
        kind: GitServer.Kind, hook: String
    ) throws {
        let script =
            hook == "update"
            ? "case $1 in refs/heads/*) ;; *) exit 1;; esac"
            : "while read -r _ _ ref; do case $ref in refs/heads/*) ;; *) exit 1;; esac; done"
        try fixture.directory.write(
            "#!/bin/sh\n\(script)\n", to: "place.git/hooks/\(hook)", mode: 0o755)
        let server = try GitServer(kind, serving: "place.git", in: fixture.directory)
        let alice = try fixture.open("alice", over: server)
        #expect(try alice.probe().usesBranches)
        let first = try entry(1, "first")
        let group = GroupHash(of: first.bytes)
        #expect(try alice.publish([first], to: group).isEmpty)
        // Without a probe of its own, and with the branch already there.
        let bob = try fixture.open("bob", over: server)
        #expect(try bob.publish([first, try change("b")], to: group).isEmpty)
        #expect(try fixture.open("carol", over: server).groups() == [group])
        let branch = "refs/heads/zg-env/\(group.hexadecimal.prefix(16))"
        #expect(
            try fixture.git(["--git-dir", fixture.place, "for-each-ref", "--format=%(refname)"])
                == branch)
        #expect(
            try fixture.git(["--git-dir", fixture.place, "show", "\(branch):vercel.json"])
                == #"{"git":{"deploymentEnabled":false}}"#)
        #expect(try alice.refresh(group, since: nil).hasChanged)
        #expect(try alice.paths(of: group).count == 2)
        // The first publish finds out without a probe.
        #expect(
            try fixture.open("dave", over: server).publish([try change("c")], to: fixture.group)
                .isEmpty)
    }

    @Test
    func `a host that rejects everything is an error`() throws {
        try fixture.directory.write(
            "#!/bin/sh\nexit 1\n", to: "place.git/hooks/pre-receive", mode: 0o755)
        let server = try GitServer(.http, serving: "place.git", in: fixture.directory)
        #expect(code { _ = try fixture.open("a", over: server).probe() } == .refused)
        #expect(
            code {
                _ = try fixture.open("b", over: server).publish(
                    [try change("a")], to: fixture.group)
            }
                == .refused)
    }

    @Test
    func `a password comes from a credential helper, and is never repeated`() throws {
        let server = try GitServer(.http, serving: "place.git", in: fixture.directory)
        try fixture.directory.write("correct-horse", to: "password")
        #expect(code { _ = try fixture.open("a", over: server).groups() } == .authentication)
        try fixture.directory.write(
            """
            [credential]
            helper = "!f() { echo username=alice; echo password=correct-horse; }; f"

            """, to: "home/.gitconfig")
        #expect(
            try fixture.open("a", over: server).publish([try change("a")], to: fixture.group)
                .isEmpty)
        #expect(throws: PlaceError.self) {
            try fixture.address(server.url.replacing("http://", with: "http://alice:secret@"))
        }
    }

    @Test
    func `an unknown host key is an error that does not ask`() throws {
        let server = try GitServer(.ssh, serving: "place.git", in: fixture.directory)
        try fixture.directory.write("", to: "known_hosts")
        #expect(code { _ = try fixture.open("a", over: server).groups() } == .authentication)
    }

    @Test
    func `a server that is away is unreachable`() throws {
        for url in ["http://127.0.0.1:1/x.git", "ssh://git@127.0.0.1:1/x.git"] {
            let place = try fixture.open("a", at: url)
            #expect(code { _ = try place.groups() } == .unreachable, "\(url)")
        }
    }
}
