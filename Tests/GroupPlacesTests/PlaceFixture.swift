import Foundation
import GroupPlaces
import Groups
import TestSupport
import Testing
import Vault

/// Places below a temporary directory.
struct PlaceFixture {
    enum Kind: CaseIterable, Sendable {
        case directory, repository
    }

    let directory: TemporaryDirectory
    let kind: Kind
    /// What a user gives.
    let place: String
    let group = GroupHash(of: Array("group".utf8))

    init(_ kind: Kind) throws {
        directory = try TemporaryDirectory(named: "zg-place")
        self.kind = kind
        try directory.makeDirectory("home")
        switch kind {
        case .directory: place = try directory.makeDirectory("place")
        case .repository:
            place = directory.path("place.git")
            try git(["init", "--quiet", "--bare", place])
        }
    }

    /// The environment of git, and of programs that use the place.
    var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "HOME": directory.path("home"), "GIT_CONFIG_NOSYSTEM": "1"]
    }

    var gitEnvironment: GitEnvironment {
        GitEnvironment(environment.map { Array("\($0)=\($1)".utf8) })
    }

    func address(_ text: String? = nil) throws -> PlaceAddress {
        try PlaceAddress.parse(text ?? place, relativeTo: directory.path)
    }

    /// The place as one member has it, with a copy of its own.
    func open(_ member: String = "alice", at text: String? = nil) throws -> any GroupPlace {
        if kind == .directory { return DirectoryPlace(place) }
        return GitPlace(
            try address(text), copyIn: try directory.makeDirectory(member), gitEnvironment)
    }

    /// The same over a server.
    func open(_ member: String, over server: GitServer) throws -> GitPlace {
        var environment = environment
        environment["PATH"] = server.path
        return GitPlace(
            try address(server.url), copyIn: try directory.makeDirectory(member),
            GitEnvironment(environment.map { Array("\($0)=\($1)".utf8) }))
    }

    /// The path of a member's copy of the repository.
    func copy(of member: String) throws -> String {
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: directory.path(member))
                .first { $0.hasSuffix(".git") })
        return directory.path("\(member)/\(name)")
    }

    /// Runs git, and returns its output without the last newline.
    @discardableResult
    func git(
        _ arguments: [String], input: [UInt8] = [], at: SourceLocation = #_sourceLocation
    ) throws -> String {
        var runner = ProgramRunner(path: "/usr/bin/git", arguments, environment: environment)
        runner.input = .bytes(input)
        runner.workingDirectory = directory.path
        let result = try runner.run()
        try #require(result.status == 0, "\(arguments): \(result.error)", sourceLocation: at)
        return result.output.trimmingCharacters(in: .newlines)
    }

    /// Commits files to the group's ref of the remote, as somebody with access could.
    func commitToRemote(_ files: String, ref: String? = nil, force: Bool = false) throws {
        let ref = ref ?? "refs/zg-env/\(group.hexadecimal)"
        let old = try git(["--git-dir", place, "for-each-ref", "--format=%(objectname)", ref])
        let stream = """
            commit \(ref)
            committer a <a@b> 1 +0000
            data 0
            \(force || old.isEmpty ? "" : "from \(old)\n")\(files)
            """
        try git(
            ["--git-dir", place, "fast-import", "--quiet", "--force"], input: Array(stream.utf8))
    }

    /// A publisher of ``Tests/Places``.
    func publisher(_ member: String, _ arguments: [String]) throws -> ProgramRunner {
        try directory.makeDirectory(member)
        return try ProgramRunner(
            "zg-env-place-publisher",
            [place, directory.path(member), group.hexadecimal] + arguments,
            environment: environment)
    }

    /// Runs publishers at the same time, and returns the lines that they print.
    func runTogether(_ publishers: [ProgramRunner]) throws -> [Substring] {
        let commands = publishers.map { publisher in
            ([Array(publisher.path.utf8)] + publisher.arguments)
                .map { "'\(String(decoding: $0, as: UTF8.self))'" }.joined(separator: " ") + " &\n"
        }
        let result = try ProgramRunner(
            path: "/bin/sh", ["-c", commands.joined() + "wait"], environment: environment
        ).run()
        #expect(result.error == "")
        return result.output.split(separator: "\n")
    }
}

/// A change with these bytes.
func change(_ text: String) throws -> PlaceObject { try change(Array(text.utf8)) }

/// A change with these bytes.
func change(_ bytes: [UInt8]) throws -> PlaceObject {
    try #require(PlaceObject(.change(GroupHash(of: bytes)), bytes))
}

func entry(_ number: UInt64, _ text: String) throws -> PlaceObject {
    try #require(PlaceObject(.entry(number), Array(text.utf8)))
}

func code(_ body: () throws -> Void) -> PlaceError.Code? { failure(body)?.code }

/// The place's error that `body` throws; any other error is an issue of the test.
func failure(_ body: () throws -> Void) -> PlaceError? {
    do {
        try body()
        return nil
    } catch let error as PlaceError {
        return error
    } catch {
        Issue.record(error)
        return nil
    }
}
