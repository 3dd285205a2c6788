import Foundation
import GroupPlaces
import TestSupport
import Testing

@Suite("Addresses of places")
struct PlaceAddressTests {
    @Test(arguments: [
        ("https://github.com/acme/group.git", PlaceAddress.Kind.https),
        ("https://bob@dev.azure.com/acme/_git/group", .https),
        ("http://127.0.0.1:8080/group.git", .http), ("http://localhost/group.git", .http),
        ("http://[::1]:80/group.git", .http), ("ssh://git@host:22/group.git", .ssh),
        ("git@github.com:acme/group.git", .ssh), ("host:group.git", .ssh),
    ])
    func `addresses of repositories are kept as they are`(
        text: String, kind: PlaceAddress.Kind
    ) throws {
        let address = try PlaceAddress.parse(text, relativeTo: "/")
        #expect(address.text == text && address.kind == kind)
    }

    @Test(arguments: [
        ("", PlaceError.Code.invalidAddress), ("-x", .invalidAddress), (" x", .invalidAddress),
        ("--upload-pack=x", .invalidAddress), ("a\u{0}b", .invalidAddress),
        ("a\nb", .invalidAddress), ("https://a/\u{1B}[0m", .invalidAddress),
        (String(repeating: "a", count: 4_097), .invalidAddress),
        ("ext::sh -c touch", .insecureAddress), ("fd::7", .insecureAddress),
        ("git://host/x", .insecureAddress), ("ext://host/x", .insecureAddress),
        ("ftp://host/x", .insecureAddress), ("http://host/x", .insecureAddress),
        ("http://127.0.0.1.evil.com/x", .insecureAddress),
        ("http://localhost@evil.com/x", .insecureAddress), ("http://127.1/x", .insecureAddress),
        ("https://a:secret@host/x", .insecureAddress),
        ("https://ghp_0123456789012345678901234567890123456789@host/x", .insecureAddress),
        ("ssh://a:secret@host/x", .insecureAddress), ("https:///x", .invalidAddress),
        ("ssh://-oProxyCommand=touch/x", .invalidAddress), ("-oProxy@host:x", .invalidAddress),
        ("git@-oProxyCommand=x:y", .invalidAddress), ("git@host:-x", .invalidAddress),
        ("ssh://host/-x", .invalidAddress), ("ssh://host", .invalidAddress),
        ("host;touch:x", .invalidAddress), ("https://a b/x", .invalidAddress),
        ("file://host/x", .invalidAddress), ("/nonexistent", .unreachable),
    ])
    func `other addresses are refused without repeating a password`(
        text: String, expected: PlaceError.Code
    ) throws {
        let error = #expect(throws: PlaceError.self) {
            try PlaceAddress.parse(text, relativeTo: "/nonexistent")
        }
        #expect(error?.code == expected)
        #expect(error?.reason.contains("secret") == false)
        #expect(error?.reason.contains("ghp_") == false)
    }

    @Test
    func `paths are directories or bare repositories`() throws {
        let fixture = try PlaceFixture(.repository)
        let folder = try fixture.directory.makeDirectory("folder")
        #expect(try fixture.address("folder").kind == .directory)
        #expect(try fixture.address("./folder/").text == folder)
        #expect(try fixture.address("place.git").kind == .repository)
        #expect(try fixture.address("file://\(fixture.place)").text == fixture.place)
        try fixture.git(["init", "--quiet", folder])
        #expect(code { _ = try fixture.address("folder") } == .invalidAddress)
    }

    @Test
    func `a description shows no user name of HTTPS`() throws {
        let address = try PlaceAddress.parse("https://bob@host/x", relativeTo: "/")
        #expect(address.description == "https://host/x")
    }

    @Test
    func `a dot is the origin of the work tree, also of a further one`() throws {
        let fixture = try PlaceFixture(.repository)
        let tree = try fixture.directory.makeDirectory("tree")
        func origin(_ path: String) throws -> PlaceAddress {
            try PlaceAddress.ofOrigin(
                of: path, runningIn: fixture.directory.path("home"), fixture.gitEnvironment)
        }
        #expect(code { _ = try origin(fixture.directory.path) } == .invalidAddress)
        try fixture.git(["init", "--quiet", tree])
        #expect(code { _ = try origin(tree) } == .invalidAddress)
        try fixture.git(["-C", tree, "remote", "add", "origin", "git@host:acme/x.git"])
        try fixture.directory.makeDirectory("tree/below")
        #expect(try origin("\(tree)/below").text == "git@host:acme/x.git")
        try fixture.git([
            "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet",
            "--allow-empty", "-m", "x",
        ])
        try fixture.git(["-C", tree, "worktree", "add", "--quiet", "../further"])
        #expect(try origin(fixture.directory.path("further")).text == "git@host:acme/x.git")
        for url in ["ext::sh -c true", "-x", "https://a:secret@host/x"] {
            try fixture.git(["-C", tree, "config", "remote.origin.url", url])
            #expect(throws: PlaceError.self) { try origin(tree) }
        }
    }
}
