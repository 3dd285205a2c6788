import Foundation
import Sealing
import Testing
import VercelAPI

@Suite struct `Reading and writing variables` {
    private let list = #"""
        {"envs":[
        {"id":"1","key":"PLAIN","type":"plain","value":"clear","target":["production","preview"],"createdAt":1700000000000,"updatedAt":"1700000000001"},
        {"id":"2","key":"ENC","type":"encrypted","value":"eyJ2Ijoi","target":"preview","gitBranch":"dev","decrypted":true,"comment":"note"},
        {"id":"3","key":"SENS","type":"sensitive","target":["production"]},
        {"id":"4","key":"SYS","type":"system","value":"VERCEL_URL","customEnvironmentIds":["env_1"],"system":true},
        {"id":"5","key":"NEW","type":"quantum","value":"zzz","target":["mars"],"gitBranch":null}
        ]}
        """#

    @Test func `a list is read without values, whatever members are missing`() throws {
        let api = try FakeAPI(.answer(200, list))
        let found = try api.client.environmentVariables(ofProject: "my web/x").variables
        #expect(api.transport.sent.first?.target == "/v10/projects/my%20web%2Fx/env")
        #expect(found.map(\.key) == ["PLAIN", "ENC", "SENS", "SYS", "NEW"])
        #expect(found[0].targets == [.production, .preview])
        #expect(found[0].createdAt == APITime(milliseconds: 1_700_000_000_000))
        #expect(found[0].updatedAt == APITime(milliseconds: 1_700_000_000_001))
        #expect(found[1].targets == [.preview])
        #expect(found[1].gitBranch == "dev")
        #expect(found[1].comment == "note")
        #expect(found[2].type == .sensitive)
        #expect(found[3].targets.isEmpty)
        #expect(found[3].customEnvironmentIds == ["env_1"])
        #expect(found[3].isSystem)
        #expect(found[4].type.rawValue == "quantum")
        #expect(found[4].targets.first?.rawValue == "mars")
        #expect(found[4].gitBranch == nil)
    }

    @Test func `a list has the values of plain variables only`() throws {
        let api = try FakeAPI(.answer(200, list))
        let found = try api.client.environmentVariables(ofProject: "w", valuesInto: api.arena)
            .variables
        #expect(found.map { $0.value?.exposedText } == ["clear", nil, nil, "VERCEL_URL", nil])
    }

    @Test(
        arguments: [
            (#""type":"encrypted","value":"v","decrypted":true"#, "v"),
            (#""type":"encrypted","value":"v""#, "v"),
            (#""type":"encrypted","value":"","decrypted":true"#, ""),
            (#""type":"encrypted","value":"eyJ","decrypted":false"#, nil),
            (#""type":"encrypted","decrypted":true"#, nil),
            (#""type":"encrypted","value":null,"decrypted":true"#, nil),
            (#""type":"sensitive","value":"","decrypted":true"#, nil),
            (#""type":"sensitive","value":"eyJ"#, nil),
            (#""type":"plain","value":"v","decrypted":false"#, "v"),
        ] as [(String, String?)])
    func `a single variable has its value only if Vercel shows it`(
        members: String, value: String?
    ) throws {
        let body =
            "{\"id\":\"e/1\",\"key\":\"K\",\(members)" + (members.hasSuffix("eyJ") ? "\"}" : "}")
        let api = try FakeAPI(.answer(200, body))
        let read = try api.client.environmentVariables(
            [("web", "e/1")], valuesInto: api.arena)[0].get()
        #expect(read.value?.exposedText == value)
        #expect(api.transport.sent.first?.target == "/v1/projects/web/env/e%2F1")
    }

    @Test func `a value that is not text is an invalid response`() throws {
        let api = try FakeAPI(
            .answer(200, #"{"id":"1","key":"K","type":"encrypted","value":{"a":1}}"#))
        #expect(
            api.error {
                _ = try api.client.environmentVariables(
                    [("web", "1")], valuesInto: api.arena)[0].get()
            }?.code == .malformedAnswer)
    }

    @Test func `all variables of a target are pulled in one request`() throws {
        let body = #"{"env":{"A":"1","S":""},"buildEnv":{"A":"1\n"},"x":[{"env":{}}]}"#
        let api = try FakeAPI(.answer(200, body))
        let pulled = try api.client.pulledEnvironments(
            [("web", "preview", "feature/x")], valuesInto: api.arena)[0].get()
        #expect(pulled.environment.mapValues(\.exposedText) == ["A": "1", "S": ""])
        #expect(pulled.buildEnvironment.mapValues(\.exposedText) == ["A": "1\n"])
        _ = try api.client.pulledEnvironment(ofDeployment: "dpl_1", valuesInto: api.arena)
        _ = try api.client.pulledEnvironments([("a", "production", nil)], valuesInto: api.arena)
        #expect(
            api.transport.sent.map(\.target) == [
                "/v3/env/pull/web/preview/feature%2Fx", "/v3/env/pull/dpl_1",
                "/v3/env/pull/a/production",
            ])
        let empty = try FakeAPI(.answer(200, "{}"))
        #expect(
            empty.error {
                _ = try empty.client.pulledEnvironment(
                    ofDeployment: "d", valuesInto: empty.arena)
            }?.code == .malformedAnswer)
    }

    @Test(arguments: ["", ".", "..", String(repeating: "x", count: 2000)])
    func `an invalid name or ID is not sent`(name: String) throws {
        let api = try FakeAPI(.answer())
        let error = api.error { _ = try api.client.environmentVariables(ofProject: name) }
        #expect(error?.code == .invalidRequest)
        #expect(api.transport.sent.isEmpty)
    }

    @Test(arguments: [
        #"{"created":{"id":"1","key":"K","type":"encrypted"},"failed":[]}"#,
        #"{"created":[{"id":"1","key":"K","type":"encrypted"}]}"#,
        #"{"id":"1","key":"K","type":"encrypted","value":"eyJ"}"#,
        #"{"created":[{"id":"1","key":"K","type":"encrypted"}],"failed":null}"#,
    ])
    func `a creation's response is read in several forms`(body: String) throws {
        let api = try FakeAPI(.answer(201, body), scope: .teamSlug("acme & co"))
        let new = NewEnvironmentVariable(
            key: "K", value: try api.arena.secret("a\"b\n😀"), type: .sensitive,
            targets: [.production, .preview], customEnvironmentIds: ["env_1"], comment: "c")
        #expect(try api.client.create(new, inProject: "web").id == "1")
        let sent = api.transport.sent[0]
        #expect(sent.method == "POST")
        #expect(sent.target == "/v10/projects/web/env?slug=acme%20%26%20co")
        #expect(sent.token == FakeAPI.token)
        #expect(
            sent.body
                == #"[{"key":"K","value":"a\"b\n😀","type":"sensitive","target":["production","preview"],"customEnvironmentIds":["env_1"],"comment":"c"}]"#
        )
    }

    @Test func `a value that is not UTF-8 is not sent`() throws {
        let api = try FakeAPI(.answer(201))
        let value = try ([0xFF, 0xFE] as [UInt8]).withBytes { try api.arena.copy($0) }
        let new = NewEnvironmentVariable(key: "K", value: value, targets: [.production])
        let error = api.error {
            _ = try api.client.create(new, inProject: "web")
        }
        #expect(error?.code == .invalidRequest)
        #expect(api.transport.sent.isEmpty)
    }

    @Test func `a batch reports what was created and what was refused`() throws {
        let body = #"""
            {"created":[{"id":"1","key":"A","type":"plain"}],"failed":[{"error":{"code":"ENV_CONFLICT","message":"taken","envVarKey":"B","target":["preview"],"gitBranch":"dev"}},{"error":{"code":"KEY_RESERVED","key":"TZ"}}]}
            """#
        let api = try FakeAPI(.answer(201, body))
        let value = try api.arena.secret("v")
        let new = ["A", "B", "TZ"].map {
            NewEnvironmentVariable(key: $0, value: value, targets: [.preview], gitBranch: "dev")
        }
        let batch = try api.client.createEnvironmentVariables(new, inProject: "web")
        #expect(batch.created.map(\.key) == ["A"])
        #expect(batch.failed.map(\.key) == ["B", "TZ"])
        #expect(batch.failed.map(\.error.code) == [.conflict, .badRequest])
        #expect(batch.failed[0].error.conflict?.gitBranch == "dev")
        #expect(batch.failed[0].targets == ["preview"])
        #expect(api.transport.sent[0].body?.hasPrefix(#"[{"key":"A","value":"v""#) == true)
    }

    @Test func `a batch reports when all of it is refused`() throws {
        let body = #"""
            {"error":{"code":"bad_request","message":"all failed"},"failed":[{"error":{"code":"ENV_CONFLICT","envVarKey":"B"}}]}
            """#
        let api = try FakeAPI(.answer(400, body))
        let new = NewEnvironmentVariable(
            key: "B", value: try api.arena.secret("value"), targets: [.preview])
        let batch = try api.client.createEnvironmentVariables([new], inProject: "web")
        #expect(batch.created.isEmpty)
        #expect(batch.failed.map(\.error.code) == [.conflict])
        let empty = try api.client.createEnvironmentVariables([], inProject: "web")
        #expect(empty.created.isEmpty && api.transport.sent.count == 1)
    }

    @Test func `a creation refused in a successful response is an error`() throws {
        let api = try FakeAPI(
            .answer(201, #"{"created":[],"failed":[{"error":{"code":"ENV_CONFLICT"}}]}"#))
        let new = NewEnvironmentVariable(
            key: "B", value: try api.arena.secret("value"), targets: [.preview])
        #expect(
            api.error { _ = try api.client.create(new, inProject: "web") }?
                .code == .conflict)
    }

    @Test func `a change sends only changed members`() throws {
        let api = try FakeAPI(
            .answer(200, #"{"id":"1","key":"K","type":"plain"}"#), .answer(200, "{}"))
        var change = EnvironmentVariableChange()
        change.targets = [.preview]
        change.gitBranch = .some(nil)
        #expect(
            try api.client.changeEnvironmentVariable("1", ofProject: "web", change)?.id == "1")
        change = EnvironmentVariableChange()
        change.value = try api.arena.secret("v")
        change.gitBranch = "dev"
        change.comment = ""
        #expect(try api.client.changeEnvironmentVariable("1", ofProject: "web", change) == nil)
        #expect(api.transport.sent.map(\.method) == ["PATCH", "PATCH"])
        #expect(api.transport.sent[0].target == "/v9/projects/web/env/1")
        #expect(
            api.transport.sent.map(\.body) == [
                #"{"target":["preview"],"gitBranch":null}"#,
                #"{"value":"v","gitBranch":"dev","comment":""}"#,
            ])
    }

    @Test func `deletions are sent a thousand at a time`() throws {
        let transport = FakeTransport { _, number in
            .answer(200, "{\"deleted\":1,\"ids\":[\"x\(number)\"]}")
        }
        let api = try FakeAPI(transport)
        let ids = (0..<2001).map { "e\($0)" }
        let deleted = try api.client.deleteEnvironmentVariables(ids, ofProject: "web")
        #expect(deleted == ["x0", "x1", "x2"])
        #expect(transport.sent.map(\.method) == ["DELETE", "DELETE", "DELETE"])
        #expect(transport.sent[2].body == #"{"ids":["e2000"]}"#)
        #expect(transport.sent[0].target == "/v1/projects/web/env")
    }

    @Test func `a plan without custom environments has none`() throws {
        let none = try FakeAPI(.answer(404, #"{"error":{"code":"not_found"}}"#))
        #expect(try none.client.customEnvironments(ofProject: "web").isEmpty)
        let some = try FakeAPI(
            .answer(
                200,
                #"{"accountLimit":{"total":1},"environments":[{"id":"env_1","slug":"qa","type":"preview"}]}"#
            ))
        #expect(try some.client.customEnvironments(ofProject: "web").map(\.slug) == ["qa"])
    }

    @Test func `shared variables are listed`() throws {
        let api = try FakeAPI(
            .answer(
                200,
                #"{"data":[{"id":"env_1","key":"K","type":"encrypted","value":"eyJ","target":["production"],"projectId":["prj_1"]}],"pagination":{"next":null}}"#
            ),
            scope: .team(id: "team_1"))
        let shared = try api.client.sharedVariables(usedByProject: "prj_1")
        #expect(shared.map(\.projectIds) == [["prj_1"]])
        #expect(api.transport.sent[0].target == "/v1/env?projectId=prj_1&teamId=team_1")
    }
}
