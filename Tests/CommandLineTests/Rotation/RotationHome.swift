import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// A sandbox with one variable that is pushed and live, and files in which commands record what
/// they got.
final class RotationHome {
    static let old = "old-\(marker)-value"
    static let new = "new-\(marker)-value"
    private static let marker = "k7Qz0"

    let platform: SandboxHome

    /// - Parameter type: The type of `KEY` of `web`, which has the old value for production.
    init(
        type: String = "encrypted", targets: String = "production", seed: String? = nil,
        projects: [String] = ["web"], buildSeconds: Double = 0.2
    ) throws {
        platform = try SandboxHome(seed: seed ?? SandboxHome.seed, buildSeconds: buildSeconds)
        for project in projects {
            done(
                try platform.run(
                    "set", "KEY", "-p", project, "-t", targets, "--type", type,
                    input: .text(Self.old)))
            done(try platform.run("push", "-p", project, "--yes"))
            done(try platform.run("redeploy", "-p", project, "--wait", "--yes"))
        }
    }

    /// Rotates `KEY` to the new value with a redeploy.
    func runner(_ arguments: [String] = [], redeploys: Bool = true) -> ProgramRunner {
        platform.runner(
            ["rotate", "KEY", "-p", "web", "--yes", "--json"] + (redeploys ? ["--redeploy"] : [])
                + arguments, input: .text(Self.new))
    }

    func rotate(_ arguments: String..., redeploys: Bool = true) throws -> ProgramResult {
        try runner(arguments, redeploys: redeploys).run()
    }

    func proceed(_ arguments: String...) throws -> ProgramResult {
        try platform.runner(["rotate", "--yes", "--json"] + arguments).run()
    }

    /// A file in the home.
    func path(_ name: String) -> String { platform.home.directory.path(name) }

    /// What a command recorded; empty if it did not run.
    func read(_ name: String) -> String {
        (try? platform.home.directory.read(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// A command that records its step, its stdin and what is on descriptor 3.
    func recorder(_ name: String) -> String {
        "{ printf '%s ' \"$ZG_ENV_STEP\"; cat; printf ' '; cat <&3; echo; } >>\(path(name))"
    }

    /// The values of `KEY` on Vercel, in all scopes.
    func stored(_ project: String = "web") -> [String] {
        (platform.server.storedVariables(project: project) ?? []).filter { $0.key == "KEY" }
            .map(\.value)
    }

    /// The value in the live deployment.
    func served(_ project: String = "web") throws -> String? {
        let now = try platform.teammate.send("GET", "/v9/projects/\(project)")
        let id = try #require(now["targets"]?["production"]?["id"]?.string)
        return platform.server.builtVariables(deployment: id)?["KEY"]
    }

    /// The value that the vault reveals.
    func revealed(_ project: String = "web") throws -> String {
        String(
            decoding: try platform.home.revealed("KEY", "-t", "production", project: project),
            as: UTF8.self)
    }

    /// Expects one value in vault, Vercel and production.
    func expect(
        _ value: String, served: String? = nil, project: String = "web",
        _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(stored(project) == [value], comment, sourceLocation: sourceLocation)
        #expect(try revealed(project) == value, comment, sourceLocation: sourceLocation)
        #expect(
            try self.served(project) == served ?? value, comment, sourceLocation: sourceLocation)
    }
}

extension JSONDocument {
    /// The rotation's only project.
    var project: JSONDocument? { self["projects"]?.elements.first }
}
