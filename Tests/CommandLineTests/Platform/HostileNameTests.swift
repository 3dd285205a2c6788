import Foundation
import TestSupport
import Testing

/// Names with characters that steer a terminal, in errors and warnings: exact for scripts, harmless for
/// people.
@Suite("Names that would steer a terminal")
struct HostileNameTests {
    /// A name, and what people see of it.
    private static let names = [
        ("web\u{1B}]0;title", "web]0;title"), ("web\u{1B}[", "web["), ("web\u{9D}x", "webx"),
        ("web\r\nmore", "web more"), ("we\u{202E}b", "web"), ("\u{1B}]web\u{7}", "]web"),
    ]

    /// Compares scalars: a carriage return and the line feed behind it are one character.
    private func expect(
        _ text: String, holds words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            Data(text.utf8).range(of: Data(words.utf8)) != nil, "\(text.debugDescription)",
            sourceLocation: sourceLocation)
    }

    @Test func `an error about a project has its name`() throws {
        let platform = try PlatformHome()
        let show = ["deployment", "show", try platform.deployments()[0], "-p"]
        for (name, shown) in Self.names {
            let text = try failedAsJSON(
                platform.runner(show + [name, "--json"]).run(), 5, "conflict")
            expect(text, holds: " is a deployment of web, not of \(name). ")
            let people = try platform.runner(show + [name]).run()
            failed(people, 5)
            expect(people.error, holds: " is a deployment of web, not of \(shown).\n")
        }
    }

    @Test func `an error about an account has its name`() throws {
        let platform = try PlatformHome()
        for (name, shown) in Self.names {
            let text = try failedAsJSON(
                platform.run("logout", "--account", name, "--json"), 4, "not_found")
            expect(text, holds: "The vault has no account \(name).")
            let people = try platform.run("logout", "--account", name)
            failed(people, 4)
            expect(people.error, holds: "The vault has no account \(shown).\n")
        }
    }

    @Test func `a warning has the name of a project`() throws {
        let platform = try PlatformHome()
        let id = try platform.deployments()[0]
        for (name, shown) in Self.names {
            func show(_ options: String...) throws -> ProgramResult {
                try platform.runner(
                    ["deployment", "show", id] + options, environment: ["ZG_ENV_PROJECT": name]
                ).run()
            }
            let warnings = try json(show("--json"))["warnings"]?.elements ?? []
            #expect(warnings.map { $0["code"] } == ["other-project"])
            expect(warnings.first?["message"]?.text ?? "", holds: ", not of \(name), which is")
            expect(done(try show()).error, holds: ", not of \(shown), which is")
        }
    }
}
