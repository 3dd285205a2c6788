import Foundation
import TestSupport
import Testing

/// How a relay authenticates to the cluster, and which servers it trusts.
@Suite struct ClusterAccessTests {
    private func status(
        _ nats: PrivateNATS, _ options: [String] = [], environment: [String: String] = [:]
    ) throws -> ProgramResult {
        let addresses = nats.addresses.joined(separator: ",")
        return try ProgramRunner(
            "zg-env-postal", ["status", "--nats", addresses] + options,
            environment: ["LC_ALL": "C.UTF-8"].merging(environment) { $1 }
        ).run()
    }

    @Test func `A user and password, or a token, come from a file that only its owner can read`()
        throws
    {
        for (lines, text) in [
            (
                #"authorization { user: relay, password: "pass-of-the-test" }"#,
                "relay:pass-of-the-test"
            ),
            (#"authorization { token: "token-of-the-test" }"#, "token-of-the-test"),
        ] {
            let nats = try PrivateNATS(access: .init(lines: lines))
            let files = try TemporaryDirectory()
            let right = try files.write(text + "\n", to: "right", mode: 0o400)
            let wrong = try files.write(text + "x\n", to: "wrong")
            let open = try files.write(text + "\n", to: "open", mode: 0o644)
            #expect(try status(nats, ["--nats-credentials", right]).status == 0)
            for options in [[], ["--nats-credentials", wrong]] {
                let result = try status(nats, options)
                #expect(result.status == 7)
                #expect(result.error.contains("rejected the credentials"))
                #expect(!result.error.contains("of-the-test"))
            }
            let refused = try status(nats, ["--nats-credentials", open])
            #expect(refused.status == 1 && refused.error.contains("Other users can read"))
            let missing = try status(nats, ["--nats-credentials", files.path("missing")])
            #expect(missing.status == 1)
            // As systemd passes it.
            try files.write(text + "\n", to: "nats-credentials", mode: 0o400)
            #expect(
                try status(nats, environment: ["CREDENTIALS_DIRECTORY": files.path]).status == 0)
        }
        let argument = try ProgramRunner(
            "zg-env-postal", ["status", "--nats", "nats://relay:pass-of-the-test@127.0.0.1:1"]
        ).run()
        #expect(argument.status == 2 && !argument.error.contains("of-the-test"))
    }

    @Test func `TLS needs a certificate that the system trusts, with the name of the server`()
        throws
    {
        let files = try TemporaryDirectory()
        try certificate(files, "right", "IP:127.0.0.1")
        try certificate(files, "other", "DNS:nats.example")
        for name in ["right", "other"] {
            let nats = try PrivateNATS(
                access: .init(
                    lines: """
                        tls { cert_file: "\(files.path(name)).crt"
                              key_file: "\(files.path(name)).key" }
                        """, scheme: "tls"))
            let trusting = try status(
                nats, environment: ["SSL_CERT_FILE": files.path("\(name).crt")])
            #expect(trusting.status == (name == "right" ? 0 : 7), "\(name): \(trusting.error)")
            #expect(try status(nats).status == 7)
        }
    }

    /// A self-signed certificate.
    private func certificate(_ files: TemporaryDirectory, _ name: String, _ subject: String) throws
    {
        let result = try ProgramRunner(
            path: "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext",
                "subjectAltName=\(subject)", "-keyout", files.path("\(name).key"), "-out",
                files.path("\(name).crt"),
            ], environment: ["PATH": "/usr/bin:/bin", "HOME": files.path]
        ).run()
        #expect(result.status == 0, "\(result.error)")
    }
}
