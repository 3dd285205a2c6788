import Foundation
import Sandbox
import TestSupport
import Testing

/// What works from vault and cache while Vercel is unreachable.
@Suite("With the network down")
struct NetworkDownTests {
    private static let commands = [
        ["list", "-p", "web"], ["show", "KEY", "-p", "web"], ["reveal", "KEY", "-p", "web"],
        ["run", "-p", "web", "--", "true"], ["status"], ["project", "list"],
        ["deployment", "list", "-p", "web"],
    ]

    /// A home that has read everything once.
    private func prepared() throws -> SandboxHome {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        try platform.pushed()
        done(try platform.run("project", "list"))
        done(try platform.run("deployment", "list", "-p", "web"))
        return platform
    }

    @Test func `only one request waits for a server that never answers`() throws {
        let (platform, hole) = try swallowed(accepts: true)
        // The first command that needs it finds out.
        let first = done(try platform.run("project", "list"))
        #expect(first.duration < .seconds(20), "\(first.duration)")
        #expect(first.error.contains("2 h ago") && first.output.contains("web"))
        #expect(hole.newConnections() == 1)
        for arguments in Self.commands {
            let result = done(try platform.runner(arguments).run())
            #expect(hole.newConnections() == 0, "\(arguments)")
            if arguments.contains("deployment") {
                #expect(result.error.contains("Vercel was unreachable a moment ago"))
                #expect(result.output.contains("READY, live"))
            }
        }
        #expect(try platform.home.revealed("KEY") == Array("value".utf8))
        let status = try json(platform.run("status", "--json"))
        #expect(status["account"] == "dev")
        #expect(hole.newConnections() == 0)
    }

    /// An unreachable server in place of the sandbox, with cached responses that are two hours old.
    /// Another process may take the port in the moment it is free.
    private func swallowed(accepts: Bool) throws -> (SandboxHome, BlackHole) {
        for attempt in 1... {
            let platform = try prepared()
            try CacheProbe(platform.home).age(bySeconds: 7_200)
            platform.server.stop()
            do {
                return (platform, try BlackHole(at: platform.url, accepts: accepts))
            } catch {
                guard attempt < 5 else { throw error }
            }
        }
        preconditionFailure("the loop has no end")
    }

    @Test func `nothing waits twice for a server that refuses connections`() throws {
        let (platform, hole) = try swallowed(accepts: false)
        let first = done(try platform.run("deployment", "list", "-p", "web"))
        #expect(first.duration > .seconds(1) && first.duration < .seconds(20), "\(first.duration)")
        #expect(first.error.contains("2 h ago") && first.output.contains("READY, live"))
        for arguments in Self.commands {
            let result = done(try platform.runner(arguments).run())
            #expect(result.duration < .seconds(3), "\(arguments): \(result.duration)")
        }
        withExtendedLifetime(hole) {}
    }

    @Test func `a machine without a network works at once`() throws {
        let platform = try prepared()
        try CacheProbe(platform.home).age(bySeconds: 7_200)
        platform.server.stop()
        for arguments in Self.commands {
            let result = done(try platform.runner(arguments).run())
            #expect(result.duration < .seconds(20), "\(arguments): \(result.duration)")
        }
        // A list without a cached response is an error.
        try failedAsJSON(
            platform.run("deployment", "list", "-p", "web", "--failed", "--json"), 7, "unavailable")
        try failedAsJSON(
            platform.run("deployment", "list", "-p", "web", "--refresh", "--json"), 7,
            "unavailable")
    }

    @Test func `status works while Vercel cannot be reached`() throws {
        let platform = try prepared()
        platform.server.stop()
        let status = try json(platform.run("status", "-p", "web", "--refresh", "--json"))
        #expect(status["warnings"]?.elements.map { $0["code"] } == ["not-refreshed"])
        #expect(status["variables"] == 1)
        failed(try platform.run("list", "-p", "web", "--refresh"), 7)
    }
}
