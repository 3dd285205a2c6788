import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// The selected events, and where they are stored.
@Suite("notify set and show")
struct NotifyChoiceTests {
    private static func home() throws -> SandboxHome {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        return platform
    }

    private static func files(_ platform: SandboxHome) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: platform.home.directory.path("state/zg-env")
        ).filter { $0.contains(".notify") }.sorted()
    }

    @Test func `no event is shown until selected, and a selection replaces the last one`()
        throws
    {
        let platform = try Self.home()
        #expect(try json(platform.run("notify", "show", "--json"))["choices"] == [])
        let set = try json(
            platform.run(
                "notify", "set", "web", "--on", "ready,failed", "--production-only", "--json"))
        #expect(set["project"] == "web" && set["on"] == ["ready", "failed"])
        #expect(set["productionOnly"] == true && set["dryRun"] == false)
        done(try platform.run("notify", "set", "web", "--on", "started", "--on", "canceled"))
        let shown = try json(platform.run("notify", "show", "--json"))["choices"]?.elements
        #expect(shown?.count == 1)
        #expect(shown?.first?["on"] == ["started", "canceled"])
        #expect(shown?.first?["productionOnly"] == false)
        let text = done(try platform.run("notify", "show")).output
        #expect(text.contains("web") && text.contains("started, canceled"))
        done(try platform.run("notify", "set", "web", "--off"))
        #expect(try json(platform.run("notify", "show", "--json"))["choices"] == [])
    }

    @Test func `wrong words are refused, and --dry-run stores nothing`() throws {
        let platform = try Self.home()
        for (words, status) in [
            (["web"], 2), (["web", "--on", "everything"], 2),
            (["web", "--on", "ready", "--off"], 2),
            (["web", "--off", "--production-only"], 2), (["nothing", "--on", "ready"], 4),
        ] as [([String], Int32)] {
            #expect(
                try platform.runner(["notify", "set"] + words).run().end == .exited(status),
                "\(words)")
        }
        let planned = try json(
            platform.run("notify", "set", "web", "--on", "ready", "--dry-run", "--json"))
        #expect(planned["dryRun"] == true)
        #expect(try Self.files(platform).isEmpty)
    }

    @Test func `the selection contains no clear project name and is private`() throws {
        let platform = try Self.home()
        done(try platform.run("notify", "set", "web", "--on", "ready"))
        let id = try #require(
            try platform.teammate.send("GET", "/v9/projects/web")["id"]?.string)
        let name = try #require(try Self.files(platform).first { $0.hasSuffix(".notify") })
        let path = platform.home.directory.path("state/zg-env/\(name)")
        let bytes = try platform.home.directory.read("state/zg-env/\(name)")
        for text in [id, "web", "ready", "choices", platform.url] {
            #expect(bytes.firstRange(of: Array(text.utf8)) == nil)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        // A modified file is reported and not taken for an empty one.
        for change in [bytes.count - 1, 0, bytes.count / 2] {
            var changed = bytes
            changed[change] ^= 1
            try platform.home.directory.write(changed, to: "state/zg-env/\(name)", mode: 0o600)
            #expect(try platform.run("notify", "show").end == .exited(8))
            #expect(try platform.run("notify", "set", "web", "--off").end == .exited(8))
        }
    }

    @Test func `concurrent writers lose nothing`() throws {
        let platform = try Self.home()
        let names = ["bare", "web"]
        for name in names where name != "web" {
            try platform.home.store(["KEY": "value"], in: name)
        }
        // Linked first, since linking writes to the vault.
        for name in names { done(try platform.run("notify", "set", name, "--on", "ready")) }
        let runners = (0..<8).map { place in
            platform.runner([
                "notify", "set", names[place % 2], "--on",
                "canceled," + ["started", "failed"][place / 2 % 2],
            ])
        }
        for result in try Together.run(runners) {
            // Another writer may win after ours was stored; then it is reported.
            #expect([.exited(0), .exited(5)].contains(result.end), "\(result.error)")
        }
        let shown = try json(platform.run("notify", "show", "--json"))["choices"]?.elements ?? []
        #expect(shown.map { $0["project"]?.text } == names)
        #expect(
            shown.allSatisfy { $0["on"]?.elements.contains("canceled") == true }, "\(shown)")
    }

    @Test func `the unit is written once and replaces no other file, and systemd parses it`()
        throws
    {
        let home = try CommandHome()
        let path = home.directory.path("config/systemd/user/zg-env-notify.service")
        let dry = done(try home.run(["notify", "install", "--dry-run"])).output
        #expect(dry.contains("notify\" \"run\"") && dry.contains("NoNewPrivileges=yes"))
        #expect(!FileManager.default.fileExists(atPath: path))
        let written = done(try home.run(["notify", "install"]))
        #expect(
            written.error.contains("systemctl --user enable --now")
                || written.error.contains("enable --now zg-env-notify"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == dry)
        // It replaces its own unit and no other.
        let vault = home.directory.path("a vault 100%$x.zgv")
        done(
            try home.run([
                "notify", "install", "--vault", vault, "--every", "90s",
            ]))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("a vault 100%%$$x.zgv\"") && text.contains("\"--every\" \"90s\""))
        try home.directory.write("[Service]\n", to: "config/systemd/user/zg-env-notify.service")
        #expect(try home.run(["notify", "install"]).end == .exited(5))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "[Service]\n")
        done(try home.run(["notify", "install", "--force"]))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: "/dev/null")
        #expect(try home.run(["notify", "install"]).end == .exited(5))
        #expect(try home.run(["notify", "install", "--every", "1s"]).end == .exited(2))
        #expect(try home.run(["notify", "install", "--vault", "a\nb"]).end == .exited(2))
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"),
            "needs systemd-analyze"))
    func `systemd-analyze finds nothing wrong with the unit`() throws {
        let home = try CommandHome()
        let unit = done(try home.run(["notify", "install", "--dry-run"])).output
        let path = try home.directory.write(unit, to: "zg-env-notify.service")
        var analyze = ProgramRunner(
            path: "/usr/bin/systemd-analyze", ["verify", "--user", "--man=no", path],
            environment: home.environment)
        analyze.timeLimit = .seconds(60)
        let result = try analyze.run()
        let words = ["Unknown", "Failed to parse", "Invalid", "ignoring"]
        #expect(!words.contains { result.error.contains($0) }, "\(result.error)")
    }

    @Test func `notify test shows a message, or says why it cannot`() throws {
        let home = try CommandHome()
        let none = try home.run(["notify", "test"])
        #expect(none.end == .exited(7) && none.error.contains("session bus"))
        let empty = try NotificationServer(starts: false)
        let refused = try home.run(["notify", "test"], environment: empty.environment)
        #expect(refused.end == .exited(7) && refused.error.contains("dunst"))
        let server = try NotificationServer()
        let result = try json(
            home.run(["notify", "test", "--json"], environment: server.environment))
        #expect(result["shown"] == true && result["actions"] == true)
        #expect(server.wait(for: 1).map(\.title) == ["zg-env: notifications work"])
    }
}
