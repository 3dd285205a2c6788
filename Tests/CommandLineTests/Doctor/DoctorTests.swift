import Foundation
import TestSupport
import Testing

/// `doctor` as a program: without a vault, with a damaged one, a keyring, and a sandbox.
@Suite("doctor")
struct DoctorTests {
    private struct Found {
        let state: String
        let message: String
        let remedy: String?
    }

    /// The findings of a run, by check; each must have the documented form.
    private func findings(
        _ result: ProgramResult, status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String: Found] {
        #expect(result.end == .exited(status), "\(result.output)", sourceLocation: sourceLocation)
        let document = try JSONDocument(result.standardOutput)
        #expect(document.names == ["findings"], sourceLocation: sourceLocation)
        var findings: [String: Found] = [:]
        for finding in document["findings"]?.elements ?? [] {
            #expect(finding.names == ["check", "state", "message", "remedy"])
            let state = finding["state"]?.text ?? ""
            #expect(["ok", "warning", "failed", "skipped"].contains(state))
            #expect(finding["message"]?.text?.hasSuffix(".") == true, "\(finding)")
            if state == "failed" { #expect(finding["remedy"]?.text != nil, "\(finding)") }
            findings[finding["check"]?.text ?? ""] = Found(
                state: state, message: finding["message"]?.text ?? "",
                remedy: finding["remedy"]?.text)
        }
        #expect(findings.values.contains { $0.state == "failed" } == (status == 1))
        return findings
    }

    private let doctor = ["doctor", "--offline", "--json"]

    @Test func `with an intact vault nothing fails and no passphrase is needed`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "1"])
        _ = try home.revealed("A")
        let found = try findings(home.run(doctor, unlocked: false))
        for check in [
            "vault", "settings", "vault-file", "vault-directory", "lock-file", "state-directory",
            "temporaries", "libsodium", "libsecret", "libcurl", "core-dumps", "passphrase-memory",
            "audit-log", "clock",
        ] {
            #expect(found[check]?.state == "ok", "\(check): \(String(describing: found[check]))")
        }
        for check in ["keyring", "api", "pinentry", "clipboard", "notifications"] {
            #expect(found[check]?.state == "skipped", "\(check)")
        }
        #expect(found["file-system"] != nil && found["memory-lock"] != nil)
        #expect(found["kernel-keyring"] != nil && found["session-keyring"] != nil)
    }

    @Test func `a notification server is named, and a missing one reported`() throws {
        let home = try CommandHome()
        let server = try NotificationServer()
        var found = try findings(
            home.run(doctor, environment: server.environment))["notifications"]
        #expect(found?.state == "ok" && found?.remedy == nil)
        #expect(found?.message.contains("with actions") == true, "\(String(describing: found))")
        let bus = try PrivateBus()
        found = try findings(
            home.run(doctor, environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        )["notifications"]
        #expect(found?.state == "warning")
        #expect(found?.remedy?.contains("dunst") == true)
        withExtendedLifetime((server, bus)) {}
    }

    @Test func `a read-only vault directory is found`() throws {
        let home = try CommandHome.initialised()
        let script = """
            mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" || exit 99
            exec "$@"
            """
        let result = try home.wrapped("/usr/bin/unshare") { program in
            [
                "--mount", "/bin/sh", "-c", script, home.directory.path("data/zg-env"), program,
            ] + doctor
        }.run()
        let found = try findings(result, status: 1)["vault-directory"]
        #expect(found?.state == "failed")
        #expect(found?.message.contains("read-only") == true)
    }

    @Test func `an invalid rollback guard and an older vault are found`() throws {
        let home = try CommandHome.initialised()
        let path = try #require(try home.anchors().first)
        #expect(try findings(home.run(doctor))["anchor"]?.state == "ok")
        let old = try home.vaultBytes()
        try home.store(["A": "1"])
        let new = try home.vaultBytes()
        try home.directory.write(old, to: "data/zg-env/vault.zgv")
        let older = try findings(home.run(doctor, unlocked: false), status: 1)["anchor"]
        #expect(older?.state == "failed")
        #expect(older?.remedy?.contains("zg-env restore FILE") == true)
        try home.directory.write(new, to: "data/zg-env/vault.zgv")
        try "garbage".write(toFile: path, atomically: false, encoding: .utf8)
        let garbage = try findings(home.run(doctor))["anchor"]
        #expect(garbage?.state == "warning")
        #expect(garbage?.message.contains(path) == true)
        #expect(garbage?.remedy?.contains("delete that file") == true)
        try home.forgetAnchors()
        #expect(try findings(home.run(doctor))["anchor"]?.state == "skipped")
    }

    @Test func `with a project it checks the variables, and values while unlocked`()
        throws
    {
        let home = try CommandHome.initialised()
        try home.store([
            "PADDED": " value ", "TWIN_TOKEN": "same-secret-value-1",
            "OTHER_TOKEN": "same-secret-value-1",
        ])
        let open = try findings(home.run(doctor + ["-p", "web"]))
        #expect(open["blank-at-ends"]?.state == "warning")
        #expect(open["blank-at-ends"]?.message.contains("PADDED") == true)
        #expect(open["same-secret"]?.message.contains("TWIN_TOKEN") == true)
        #expect(!"\(open)".contains("same-secret-value-1"))
        let locked = try findings(home.run(doctor + ["-p", "web"], unlocked: false))
        #expect(locked["project"]?.state == "skipped")
        #expect(locked["blank-at-ends"] == nil)
        let missing = try home.run(doctor + ["-p", "elsewhere"])
        #expect(missing.end == .exited(4), "\(missing.output)")
    }

    @Test func `it prints a table for people, in color on a terminal`() throws {
        let home = try CommandHome.initialised()
        let plain = done(try home.run(["doctor", "--offline"], unlocked: false)).output
        let lines = plain.split(separator: "\n")
        #expect(lines[0].hasPrefix("STATE    CHECK "))
        #expect(lines.count > 15)
        let column = try #require(lines[0].range(of: "RESULT")?.lowerBound)
        let offset = lines[0].distance(from: lines[0].startIndex, to: column)
        #expect(lines.allSatisfy { $0.count > offset && $0.dropFirst(offset - 1).first == " " })
        let colours = try home.terminalRunner(["doctor", "--offline"], streams: true).run()
        #expect(colours.screen.contains("\u{1B}[32mok\u{1B}[0m"))
    }

    @Test func `without a vault it checks everything else`() throws {
        let home = try CommandHome()
        let found = try findings(home.run(doctor, unlocked: false))
        #expect(found["vault"]?.state == "skipped")
        #expect(found["vault"]?.remedy == "Create one with: zg-env init")
        #expect(found["libsodium"]?.state == "ok" && found["audit-log"]?.state == "ok")
        let text = try home.run(["doctor", "--offline"], unlocked: false)
        #expect(text.status == 0 && text.error == "")
    }

    @Test(arguments: ["damaged", "short", "newer", "readable", "shared", "link"])
    func `a problem of the vault fails with a hint`(what: String) throws {
        let home = try CommandHome.initialised()
        var bytes = try home.vaultBytes()
        let files = FileManager.default
        switch what {
        case "damaged":
            bytes[40] ^= 1
            try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        case "short": try home.directory.write(Array(bytes.prefix(9)), to: "data/zg-env/vault.zgv")
        case "newer": try home.rewriteHeader { $0[8] = 4 }
        case "readable":
            try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: home.vaultPath)
        case "shared":
            try files.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: home.directory.path("data/zg-env"))
        default:
            try files.moveItem(atPath: home.vaultPath, toPath: home.directory.path("elsewhere"))
            try files.createSymbolicLink(
                atPath: home.vaultPath, withDestinationPath: home.directory.path("elsewhere"))
        }
        let result = try home.run(doctor, unlocked: false)
        let found = try findings(result, status: 1)
        // What others may do to the file is a finding of its own: it can be read all the same.
        let isReadable = ["readable", "shared", "link"].contains(what)
        #expect(found["vault"]?.state == (isReadable ? "ok" : "failed"))
        let error = try JSONDocument(result.standardError)
        #expect(error["error"]?["code"] == "failed")
        switch what {
        case "readable": #expect(found["vault-file"]?.remedy?.contains("chmod go-rwx") == true)
        case "shared": #expect(found["vault-directory"]?.remedy?.contains("chmod go-w") == true)
        case "link": #expect(found["vault-file"]?.message.contains("regular file") == true)
        default: #expect(found["vault-file"]?.state == "ok")
        }
    }

    @Test func `invalid settings, leftovers and an unreachable audit log are found`() throws {
        let home = try CommandHome.initialised()
        try home.directory.makeDirectory("config/zg-env")
        try home.directory.write("{\"kdf\":3}", to: "config/zg-env/config.json")
        try home.directory.write("x", to: "data/zg-env/.vault.zgv.tmp-0123456789abcdef")
        let blocked = home.directory.path("passphrase") + "/log"
        let found = try findings(
            home.run(doctor, unlocked: false, environment: ["ZG_ENV_AUDIT_LOG": blocked]),
            status: 1)
        #expect(found["settings"]?.state == "failed")
        #expect(found["temporaries"]?.state == "warning")
        #expect(found["audit-log"]?.state == "failed")
        #expect(found["audit-log"]?.remedy?.contains("--audit-log") == true)
    }

    @Test func `orphaned keys are removed from the keyring after a yes`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.initialised(keyring)
        let whole = try findings(home.run(doctor, unlocked: false))
        #expect(whole["keyring"]?.message.contains("gnome-keyring") == true)
        #expect(whole["keyring-slot"]?.state == "ok" && whole["keyring-orphans"]?.state == "ok")
        #expect(try keyring.itemCount().unlocked >= 1)
        let items = try keyring.itemCount().unlocked

        // A vault without the slot, as after a removal that stopped before the keyring's turn.
        let status = try json(home.run(["status", "--json"]))
        let slot = try #require(
            status["slots"]?.elements.first { $0["kind"] == "secret-service" }?["id"]?.text)
        func orphan() throws {
            done(
                try home.run(
                    ["slot", "remove", slot, "--yes"],
                    environment: ["DBUS_SESSION_BUS_ADDRESS": ""]))
        }
        try orphan()
        let before = try findings(home.run(doctor, unlocked: false))
        #expect(before["keyring-orphans"]?.state == "warning")
        #expect(try keyring.itemCount().unlocked == items)
        #expect(
            try findings(home.run(doctor + ["--yes", "--dry-run"]))["keyring-orphans"]?.state
                == "warning")
        let asked = try home.terminalRunner(
            ["doctor", "--offline"], script: [(.terminal("Remove 1 unused key"), .line("n"))]
        ).run()
        #expect(asked.status == 0 && asked.output.contains("doctor --yes"))
        #expect(try keyring.itemCount().unlocked == items)
        let after = try findings(home.run(doctor + ["--yes"], unlocked: false))
        #expect(after["keyring-orphans"]?.message.contains("Removed 1 unused key") == true)
        #expect(try keyring.itemCount().unlocked == items - 1)

        try keyring.lock()
        let locked = try findings(home.run(doctor, unlocked: false))
        #expect(locked["keyring"]?.state == "warning")
    }

    @Test func `a changed key in the keyring is found`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.initialised(keyring)
        try keyring.overwriteItems(with: Array("QUJD".utf8))
        let found = try findings(home.run(doctor, unlocked: false))
        #expect(found["keyring-slot"]?.state == "warning")
        // A key of another length is invalid, and must not crash it.
        failed(try home.run(["list", "-p", "web"], unlocked: false), 3, "does not open this vault")
        try keyring.deleteItems()
        let gone = try findings(home.run(doctor, unlocked: false))
        #expect(gone["keyring-slot"]?.message.contains("has no key") == true)
    }

    @Test func `Vercel is reached without a token, and the clocks are compared`() throws {
        let platform = try SandboxHome()
        let home = platform.home
        let online = ["doctor", "--json", "--api-url", platform.url]
        let found = try findings(home.run(online, unlocked: false))
        #expect(found["api"]?.state == "ok", "\(String(describing: found["api"]))")
        #expect(found["clock-api"]?.state == "ok", "\(String(describing: found["clock-api"]))")
        let down = try findings(
            home.run(["doctor", "--json", "--api-url", "http://127.0.0.1:1"], unlocked: false),
            status: 1)
        #expect(down["api"]?.state == "failed" && down["clock-api"] == nil)
        let wrong = try findings(
            home.run(["doctor", "--json", "--api-url", "http://example.org"], unlocked: false),
            status: 1)
        #expect(wrong["api"]?.state == "failed")
    }

    @Test func `SEC-F14: a passphrase file that others can open is found`() throws {
        let home = try CommandHome.initialised()
        #expect(try findings(home.run(doctor))["passphrase-file"]?.state == "ok")
        #expect(try findings(home.run(doctor, unlocked: false))["passphrase-file"] == nil)
        #expect(unsafe chmod(home.passphrasePath, 0o644) == 0)
        let open = try findings(home.run(doctor), status: 1)["passphrase-file"]
        #expect(open?.state == "failed")
        #expect(open?.message == "\(home.passphrasePath) can be opened by other users.")
        #expect(open?.remedy == "Run: chmod go-rwx \(home.passphrasePath)")
        let link = home.directory.path("link")
        #expect(unsafe symlink(home.passphrasePath, link) == 0)
        let linked = try findings(
            home.run(doctor, environment: ["ZG_ENV_PASSPHRASE_FILE": link]), status: 1)
        #expect(linked["passphrase-file"]?.state == "failed")
        for path in ["/dev/null", "/nonexistent"] {
            let found = try findings(
                home.run(doctor, environment: ["ZG_ENV_PASSPHRASE_FILE": path]))
            #expect(found["passphrase-file"] == nil, "\(path)")
        }
    }
}
