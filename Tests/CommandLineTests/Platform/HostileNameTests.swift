import Foundation
import TestSupport
import Testing

/// Names with terminal control characters, in errors and warnings: exact for scripts, harmless for
/// people.
@Suite("Names with control characters")
struct HostileNameTests {
    /// A name, and its displayed form.
    private static let names = [
        ("web\u{1B}]0;title", "web]0;title"), ("web\u{1B}[", "web["), ("web\u{9D}x", "webx"),
        ("web\r\nmore", "web more"), ("we\u{202E}b", "web"), ("\u{1B}]web\u{7}", "]web"),
    ]

    /// Compares bytes: a carriage return and a line feed are one Character.
    private func expect(
        _ text: String, holds words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            Data(text.utf8).range(of: Data(words.utf8)) != nil, "\(text.debugDescription)",
            sourceLocation: sourceLocation)
    }

    @Test func `an error about a project contains its name`() throws {
        let platform = try SandboxHome()
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

    @Test func `an error about an account contains its name`() throws {
        let platform = try SandboxHome()
        for (name, shown) in Self.names {
            let text = try failedAsJSON(
                platform.run("logout", "--account", name, "--json"), 4, "not_found")
            expect(text, holds: "The vault has no account \(name).")
            let people = try platform.run("logout", "--account", name)
            failed(people, 4)
            expect(people.error, holds: "The vault has no account \(shown).\n")
        }
    }

    @Test func `a warning contains a project's name`() throws {
        let platform = try SandboxHome()
        let id = try platform.deployments()[0]
        for (name, shown) in Self.names {
            func show(_ options: String...) throws -> ProgramResult {
                try platform.runner(
                    ["deployment", "show", id] + options, environment: ["ZG_ENV_PROJECT": name]
                ).run()
            }
            let warnings = try json(show("--json"))["warnings"]?.elements ?? []
            #expect(warnings.map { $0["code"] } == ["other-project"])
            expect(
                warnings.first?["message"]?.text ?? "",
                holds: ", not of \(name), the project selected by")
            expect(done(try show()).error, holds: ", not of \(shown), the project selected by")
        }
    }
}
