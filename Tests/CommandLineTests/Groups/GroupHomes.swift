import Foundation
internal import JSON
import TestSupport
import Testing

/// The homes of several people, and a place for their group.
final class GroupHomes {
    let directory: TemporaryDirectory
    /// What the members name as the place: the directory, or its URL at the server.
    private(set) var place: String
    /// A bare git repository, or a directory.
    let placeDirectory: String
    let server: GitServer?
    /// What commands of members get in addition.
    var environment: [String: String] = [:]
    private(set) var homes: [String: CommandHome] = [:]

    init(git: Bool = true, server kind: GitServer.Kind? = nil) throws {
        directory = try TemporaryDirectory()
        placeDirectory = try directory.makeDirectory("place")
        place = placeDirectory
        guard git else {
            server = nil
            return
        }
        let made = try Self.git(["init", "--quiet", "--bare", placeDirectory], in: directory)
        #expect(made.status == 0, "\(made.error)")
        server = try kind.map { [directory] in
            try GitServer($0, serving: "place", in: directory)
        }
        if let server {
            place = server.url
            environment["PATH"] = server.path
        }
    }

    static func git(
        _ arguments: [String], in directory: TemporaryDirectory
    ) throws -> ProgramResult {
        try ProgramRunner(
            path: "/usr/bin/git", arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        ).run()
    }

    /// Runs git in the place, as somebody with access could, and returns its output.
    @discardableResult
    func gitInPlace(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try Self.git(["--git-dir", placeDirectory] + arguments, in: directory)
        #expect(result.status == 0, "\(result.error)", sourceLocation: sourceLocation)
        return result.output.trimmingCharacters(in: .newlines)
    }

    /// Returns somebody's home, with a vault.
    func home(_ name: String) throws -> CommandHome {
        if let found = homes[name] { return found }
        let home = try CommandHome.initialised()
        homes[name] = home
        return home
    }

    /// Runs a command of somebody to its end.
    @discardableResult
    func run(
        _ name: String, _ arguments: String..., input: ProgramRunner.Input = .null
    ) throws -> ProgramResult {
        try home(name).runner(arguments, input: input, environment: environment).run()
    }

    func run(_ name: String, _ arguments: [String]) throws -> ProgramResult {
        var runner = try home(name).runner(arguments, environment: environment)
        // git waits a minute for a server that has become silent.
        runner.timeLimit = .seconds(300)
        return try runner.run()
    }

    /// Returns the result of a command that succeeds.
    func object(
        _ name: String, _ arguments: [String], input: ProgramRunner.Input = .null,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONDocument {
        try json(
            home(name).runner(
                arguments + ["--json"], input: input, environment: environment
            ).run(),
            sourceLocation: sourceLocation)
    }

    func set(_ name: String, _ key: String, _ value: String, _ options: String...) throws {
        done(
            try home(name).runner(
                ["set", key, "-p", "web", "--raw"] + options, input: .text(value)
            ).run())
    }

    /// The first person shares `web`, which they must have.
    func share(_ name: String) throws {
        done(
            try run(
                name, "share", "web", "--group", "acme", "--at", place, "--as", name, "--yes",
                "--json"))
    }

    /// Invites somebody, who joins, is admitted, syncs and adopts `web`.
    func admit(_ name: String, by admin: String, _ options: String...) throws {
        let invite = try object(admin, ["group", "invite", name, "--yes"] + options)
        let code = try #require(invite["code"]?.text)
        done(
            try run(
                name, "group", "join", place, "--group", "acme", input: .text(code + "\n")))
        done(try run(admin, "sync", "--admit"))
        done(try run(name, "sync"))
        done(try run(name, "group", "adopt", "web@acme"))
    }

    /// Syncs everybody until nobody has anything new.
    func settle(_ names: String...) throws { try settle(names) }

    func settle(_ names: [String]) throws {
        for _ in 0..<2 { for name in names { done(try run(name, "sync", "--admit")) } }
    }

    func value(_ name: String, _ key: String) throws -> String {
        done(try run(name, "reveal", key, "-p", "web")).output
    }

    /// The only group of somebody's vault, as `group show` has it.
    func group(_ name: String) throws -> JSONDocument {
        try #require(object(name, ["group", "show"])["groups"]?.elements.first)
    }

    /// The only group's part of the result of a sync.
    func sync(_ name: String) throws -> JSONDocument {
        try #require(object(name, ["sync"])["groups"]?.elements.first)
    }

    /// The folder of the group in a directory place.
    func groupFolder() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: placeDirectory)
        return "\(placeDirectory)/\(try #require(names.first { $0.count == 64 }))"
    }

    /// Runs `body` while the place lacks the newest membership entry: a place that hides it, or
    /// somebody who publishes without looking.
    func withoutNewestEntry(_ body: () throws -> Void) throws {
        let entries = try groupFolder() + "/entries"
        let newest = try #require(
            FileManager.default.contentsOfDirectory(atPath: entries).max())
        let aside = directory.path("newest-entry")
        try move("\(entries)/\(newest)", aside)
        try body()
        try move(aside, "\(entries)/\(newest)")
    }

    /// Deletes somebody's copies of the place and its objects.
    func deleteCopies(_ name: String) throws {
        try FileManager.default.removeItem(
            atPath: home(name).directory.path("state/zg-env/groups"))
    }

    /// The values of a key: of all versions, and those in question (one, unless it is contested).
    func values(
        _ name: String, _ key: String
    ) throws -> (all: Set<String>, inQuestion: Set<String>) {
        let history = try object(name, ["history", key, "-p", "web"])
        var (values, current) = ([Int: String](), Set<Int>())
        for version in history["versions"]?.elements ?? [] {
            guard case .integer(let number) = version["version"] else { continue }
            values[number] =
                done(try run(name, "reveal", key, "-p", "web", "--version", "\(number)")).output
            if version["current"] == true { current.insert(number) }
        }
        let resolve = try run(name, "resolve", key, "-p", "web", "--json")
        if resolve.status == 0 {
            let list = try JSONDocument(resolve.standardOutput)
            current = Set(
                (list["candidates"]?.elements ?? []).compactMap {
                    if case .integer(let number) = $0["version"] { number } else { nil }
                })
        }
        return (Set(values.values), Set(current.compactMap { values[$0] }))
    }
}

/// Moves a place, as if a server were down.
func move(_ place: String, _ other: String) throws {
    try FileManager.default.moveItem(atPath: place, toPath: other)
}
