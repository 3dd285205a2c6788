import Foundation
internal import JSON
import TestSupport
import Testing

/// The homes of several people, and a place for their group.
final class GroupHomes {
    let directory: TemporaryDirectory
    /// A bare git repository, or a directory.
    let place: String
    private(set) var homes: [String: CommandHome] = [:]

    init(git: Bool = true) throws {
        directory = try TemporaryDirectory()
        place = try directory.makeDirectory("place")
        if git {
            let made = try ProgramRunner(
                path: "/usr/bin/git", ["init", "--quiet", "--bare", place],
                environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path]
            ).run()
            #expect(made.status == 0, "\(made.error)")
        }
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
        try home(name).runner(arguments, input: input).run()
    }

    /// Returns the result of a command that succeeds.
    func object(
        _ name: String, _ arguments: [String], input: ProgramRunner.Input = .null,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONDocument {
        try json(
            home(name).runner(arguments + ["--json"], input: input).run(),
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
                name, "share", "web", "--group", "acme", "--at", place, "--as", name, "--yes"))
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
    func settle(_ names: String...) throws {
        for _ in 0..<2 { for name in names { done(try run(name, "sync", "--admit")) } }
    }

    func value(_ name: String, _ key: String) throws -> String {
        done(try run(name, "reveal", key, "-p", "web")).output
    }
}

/// Moves a place, as if a server were down.
func move(_ place: String, _ other: String) throws {
    try FileManager.default.moveItem(atPath: place, toPath: other)
}
