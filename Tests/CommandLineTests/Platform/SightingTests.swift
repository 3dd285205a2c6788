import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault

/// What Vercel showed at the last look is kept outside the vault, and decides what lists show.
@Suite("sightings")
struct SightingTests {
    /// Three pushed variables; production was built with them.
    private func live(_ configure: (inout SandboxConfiguration) -> Void = { _ in }) throws
        -> SandboxHome
    {
        let platform = try SandboxHome(seed: SandboxHome.bareSeed, configure: configure)
        for key in ["FIRST", "SECOND", "THIRD"] { try platform.set(key, "1") }
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        return platform
    }

    private func change(_ key: String, _ value: String, _ platform: SandboxHome) throws {
        _ = try platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(try platform.id(key))", ["value": .string(value)])
    }

    @Test(arguments: [
        ["list", "-p", "web", "--refresh"], ["list", "--all-projects", "--refresh"],
        ["show", "FIRST", "-p", "web", "--refresh"], ["status", "-p", "web", "--refresh"],
        ["redeploy", "-p", "web", "--yes", "--wait"],
        ["deployment", "list", "-p", "web", "--refresh"],
        ["deployment", "rollback", "-p", "web", "--yes"],
    ])
    func `a command that only looks writes no vault file`(arguments: [String]) throws {
        let platform = try live()
        try change("FIRST", "2", platform)
        _ = try platform.teammate.send(
            "DELETE", "/v9/projects/web/env/\(try platform.id("SECOND"))")
        let before = SmallFile.bytes(platform.home.vaultPath)
        done(try platform.runner(arguments).run())
        #expect(SmallFile.bytes(platform.home.vaultPath) == before)
    }

    @Test func `lists show the last look, and a lost cache only what was agreed`() throws {
        let platform = try live()
        try change("FIRST", "2", platform)
        #expect(try platform.sync("FIRST") == "synced")
        done(try platform.run("list", "-p", "web", "--refresh"))
        #expect(try platform.sync("FIRST") == "behind")
        let probe = try CacheProbe(platform.home)
        try probe.edit { _ in [] }
        #expect(try platform.sync("FIRST") == "synced")
        done(try platform.run("list", "-p", "web", "--refresh"))
        #expect(try platform.sync("FIRST") == "behind")
        // Where nothing can be kept, a command shows its own look all the same.
        let list = try json(
            platform.run(
                "list", "FIRST", "-p", "web", "--refresh", "--json",
                environment: ["XDG_CACHE_HOME": "/dev/null"]))
        #expect(list["variables"]?.elements.first?["sync"] == "behind")
        // What was agreed since is newer than the last look.
        done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(try platform.sync("FIRST") == "synced")
    }

    @Test func `a record that is gone is not the same as one that stayed`() throws {
        let platform = try live()
        _ = try platform.teammate.send(
            "DELETE", "/v9/projects/web/env/\(try platform.id("SECOND"))")
        done(try platform.run("list", "-p", "web", "--refresh"))
        #expect(try platform.sync("SECOND") == "behind")
        #expect(try platform.sync("FIRST") == "synced")
    }

    /// What commands say, request and end with that change something, prove or answer by exit code.
    private func outcomes(_ platform: SandboxHome) throws -> [String] {
        let commands: [[String]] = [
            ["push", "-p", "web", "--dry-run", "--json"],
            ["push", "FIRST", "-p", "web", "--dry-run", "--json"],
            ["pull", "-p", "web", "--dry-run", "--json"],
            ["harden", "-p", "web", "--dry-run", "--json"],
            ["redeploy", "-p", "web", "--dry-run", "--json"],
            ["rotate", "FIRST", "-p", "web", "--generate", "hex:8", "--dry-run", "--json"],
            ["exposure", "--since", "1m", "-p", "web", "--json"],
            ["check", "-p", "web", "--schema", "wanted.env", "--on", "vercel", "--json"],
            ["check", "-p", "web", "--schema", "wanted.env", "--on", "live", "--json"],
            ["link", "web", "--dry-run", "--json"],
        ]
        return try commands.map { arguments in
            let before = platform.server.requests.count
            let result = try platform.runner(arguments).run()
            let requests = platform.server.requests.dropFirst(before)
                .map { "\($0.method) \($0.path)" }.sorted()
            let times = /"(asOf|before)":"[^"]*"/
            let output = String(decoding: result.standardOutput, as: UTF8.self)
            return "\(arguments): \(result.end) \(output.replacing(times, with: "")) "
                + String(decoding: result.standardError, as: UTF8.self)
                + requests.joined(separator: " ")
        }
    }

    /// With ZG_ENV_PROOF=full 40 worlds, with ZG_ENV_PROOF_SEED.
    @Test(arguments: 0..<UInt64(Proof.count(short: 2, full: 40)))
    func `random forgeries change no decision in a random world`(number: UInt64) throws {
        var random = ProofRandom(900 + number)
        let platform = try live()
        try platform.home.directory.write("FIRST=\nSECOND=\nTHIRD=\n", to: "work/wanted.env")
        for step in 0..<5 {
            let key = ["FIRST", "SECOND", "THIRD"].randomElement(using: &random) ?? "FIRST"
            let there = platform.stored.first { $0.key == key }?.id
            // Some are refused, as a value for a variable that was renamed.
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                _ = try platform.run(
                    "set", key, "-p", "web", input: .text("mine-\(step)"))
            case 1:
                guard let there else { continue }
                _ = try? platform.teammate.send(
                    "PATCH", "/v9/projects/web/env/\(there)",
                    ["value": .string("theirs-\(step)")])
            case 2:
                guard let there else { continue }
                _ = try? platform.teammate.send("DELETE", "/v9/projects/web/env/\(there)")
            case 3: _ = try platform.run("rm", key, "-p", "web", "--all", "--yes")
            case 4: _ = try platform.run("rename", key, "NEW_\(step)", "-p", "web")
            default: _ = try platform.run("pull", "-p", "web", "--yes")
            }
        }
        done(try platform.run("list", "-p", "web", "--refresh"))
        let probe = try CacheProbe(platform.home)
        try probe.edit { answers in answers.filter { !$0.address.isSighting } }
        let honest = try outcomes(platform)
        for forgery in 0..<3 {
            try probe.forge { sighting, index in
                for variable in index.variables where Bool.random(using: &random) {
                    let known = variable.remote?.agreedUpdatedAt ?? 1
                    let other = index.variables.randomElement(using: &random)?.remote?.id
                    sighting.records[variable.id.hexadecimal] = .init(
                        id: (Bool.random(using: &random) ? variable.remote?.id : other) ?? "env_x",
                        agreedUpdatedAt: known, pushedAt: variable.remote?.pushedAt ?? 0,
                        seenUpdatedAt: [1, known, known + 1_000].randomElement(using: &random) ?? 1,
                        isGone: Bool.random(using: &random))
                }
                if Bool.random(using: &random) {
                    sighting.live = .init(id: "dpl_x", createdAt: 1)
                    sighting.seenAt = .max - 1
                }
            }
            for (forged, honest) in zip(try outcomes(platform), honest) {
                #expect(forged == honest, "\(random.seedText), world \(number), \(forgery)")
            }
        }
    }

    /// What the index key is enough to write into the cache.
    enum Forgery: CaseIterable {
        case gone, later, untouched, neverLive, otherLive
    }

    @Test(arguments: Forgery.allCases)
    func `a forged sighting changes no decision and no request`(forgery: Forgery) throws {
        let platform = try live()
        try platform.set("FIRST", "mine")
        try change("SECOND", "theirs", platform)
        _ = try platform.teammate.send(
            "DELETE", "/v9/projects/web/env/\(try platform.id("THIRD"))")
        done(try platform.run("rm", "THIRD", "-p", "web", "--yes"))
        done(try platform.run("list", "-p", "web", "--refresh"))
        let probe = try CacheProbe(platform.home)
        try probe.edit { answers in answers.filter { !$0.address.isSighting } }
        let honest = try outcomes(platform)
        try probe.forge { sighting, index in
            for variable in index.variables {
                guard let remote = variable.remote else { continue }
                sighting.records[variable.id.hexadecimal] = .init(
                    id: remote.id, agreedUpdatedAt: remote.agreedUpdatedAt,
                    pushedAt: remote.pushedAt,
                    seenUpdatedAt: forgery == .later
                        ? remote.agreedUpdatedAt + 1_000 : remote.agreedUpdatedAt,
                    isGone: forgery == .gone)
            }
            switch forgery {
            case .neverLive: (sighting.live, sighting.seenAt) = (nil, .max - 1)
            case .otherLive:
                (sighting.live, sighting.seenAt) = (.init(id: "dpl_x", createdAt: 1), .max - 1)
            case .gone, .later, .untouched: break
            }
        }
        for (forged, honest) in zip(try outcomes(platform), honest) { #expect(forged == honest) }
    }
}

extension CacheProbe {
    /// Replaces the responses.
    func edit(_ change: ([CachedResponse]) throws -> [CachedResponse]) throws {
        try cache.update(change)
    }

    /// Replaces the sighting of each project.
    func forge(_ change: (inout ProjectSighting, VaultIndex) -> Void) throws {
        for project in index.projects {
            var sighting = ProjectSighting()
            change(&sighting, index)
            let now = UInt64(Date().timeIntervalSince1970 * 1_000)
            cache.keep(sighting, of: project.id, askedAt: now, now: now)
        }
    }
}
