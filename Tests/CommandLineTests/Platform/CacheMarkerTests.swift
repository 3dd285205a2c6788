import Foundation
import Sandbox
import TestSupport
import Testing

@testable import EnvOperations

/// The cache cannot be read without the index key, and never contains a value.
@Suite("Content of the response cache")
struct CacheMarkerTests {
    @Test func `no file has a name, value or token in clear, nor a value once decrypted`()
        throws
    {
        let (own, shared, local, token) = (
            Marker("Vercel's value"), Marker("shared value"), Marker("the vault's value"),
            Marker("token")
        )
        let names = (Marker("project name"), Marker("variable name"), Marker("shared name"))
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme"}], "token": "\(token.text)",
                 "projects": [{"name": "\(names.0.text)", "team": "acme",
                   "env": [{"key": "\(names.1.text)", "value": "\(own.text)", "type": "plain",
                            "target": ["production"]}],
                   "deployments": [{"target": "production", "state": "ERROR"},
                                   {"target": "production"}]}],
                 "sharedEnv": [{"key": "\(names.2.text)", "value": "\(shared.text)",
                   "type": "plain", "team": "acme", "projects": ["\(names.0.text)"]}]}
                """)
        let project = names.0.text
        done(try platform.run("link", project, "--team", "acme"))
        done(try platform.run("set", "LOCAL", input: .text(local.text)))
        done(try platform.run("push", "--yes"))
        done(try platform.run("project", "list", "--team", "acme"))
        for options in [[], ["--failed"], ["-t", "production"]] {
            done(try platform.runner(["deployment", "list"] + options).run())
        }
        done(try platform.run("list", "--refresh"))
        done(try platform.run("harden", "--yes"))
        done(
            try platform.run(
                "project", "list", "--team", "acme",
                environment: ["VERCEL_TOKEN": platform.token]))

        let probe = try CacheProbe(platform.home)
        let answers = probe.answers()
        #expect(answers.count == 7)
        let secrets = Needles([own, shared, local, token])
        let all = Needles([own, shared, local, token, names.0, names.1, names.2])
        var opened: [UInt8] = []
        for name in probe.names {
            #expect(all.found(in: Array(name.utf8)) == [])
            #expect(all.found(in: probe.file(name)) == [])
        }
        for answer in answers {
            #expect(secrets.found(in: answer.line) == [])
            opened += answer.line
        }
        // The names are there once decrypted: the search had the right bytes.
        let text = String(decoding: opened, as: UTF8.self)
        #expect(text.contains(names.0.text) && text.contains(names.2.text))
        for member in ["\"value\"", "\"env\"", "buildEnv", "vsmValue", "legacyValue"] {
            #expect(!text.contains(member), "\(member)")
        }
        for name in probe.names { #expect(try mode("\(probe.path)/\(name)") == 0o600) }
        #expect(try mode(probe.path) == 0o700)
    }
}
