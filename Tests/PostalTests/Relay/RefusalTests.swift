import Foundation
import Glibc
import PostalProtocol
import TestSupport
import Testing

/// Requests that the relay must refuse while it serves all others.
@Suite struct RefusalTests {
    private typealias Hook = RelayProcess.Hook

    @Test func `Invalid webhooks are refused and counted`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        try device.join(relay)
        let stream = try EventReader(relay, device)
        let hook = RelayProcess.hook
        let good = TestWebhook.deployment("evt_good")

        let wrong = [
            TestWebhook.signature(Array(good.utf8), "another"),
            TestWebhook.signature(Array(good.utf8), hook.secret).uppercased(), "", "x",
            String(repeating: "0", count: 40),
        ]
        for signature in wrong {
            let answer = try relay.send(good, signature: signature)
            #expect(answer.status == 401 && answer.code == "signature_refused")
        }
        let unsigned = try relay.client().request("POST", "/webhook/\(hook.name)", body: good)
        #expect(unsigned.status == 401)
        let nowhere = try relay.send(
            good, to: Hook(name: "no-hook-of-this-name", account: "", secret: "x"))
        #expect(nowhere.status == 401 && nowhere.body == unsigned.body)
        #expect(try relay.refused("signature_refused") == 7)

        // Another account's payload, signed with a valid hook.
        let foreign = try relay.send(TestWebhook.deployment("evt_f", account: "team_beta"))
        #expect(foreign.status == 403 && foreign.code == "account_refused")
        let nobody = try relay.send(
            #"{"id":"e","type":"deployment","createdAt":\#(TestWebhook.now),"payload":{}}"#)
        #expect(nobody.status == 403)
        #expect(try relay.refused("account_refused") == 2)

        let day: Int64 = 24 * 3_600_000
        for time in [TestWebhook.now - day - 60_000, TestWebhook.now + 11 * 60_000, 0, -1] {
            let answer = try relay.send(TestWebhook.deployment("evt_old", createdAt: time))
            #expect(answer.status == 410 && answer.code == "too_old")
        }
        #expect(try relay.refused("too_old") == 4)

        let deep = String(repeating: "[", count: 100_000)
        for body in [
            "", "{", "null", "[]", "{}", #"{"id":1,"type":"a","createdAt":1,"payload":{}}"#,
            #"{"id":"a","type":"a","createdAt":"1","payload":{}}"#,
            #"{"id":"a","type":"a","createdAt":1.5,"payload":{}}"#,
            #"{"id":"a","type":"a","createdAt":1,"payload":[]}"#,
            #"{"id":"a","type":"a","createdAt":1,"payload":{}} x"#, "\u{FEFF}{}", deep,
            good.dropLast() + #","x":"# + String(repeating: #"{"a":"#, count: 64) + "1"
                + String(repeating: "}", count: 65),
        ] {
            let answer = try relay.send(String(body))
            #expect(answer.status == 400 && answer.code == "invalid_event", "\(body.prefix(80))")
        }
        #expect(try relay.refused("invalid_event") == 13)

        // A replay is answered as one, and delivered once.
        #expect(try relay.send(good).text == #"{"accepted":true}"#)
        #expect(try relay.send(good).text == #"{"accepted":true}"#)
        let unknown = try relay.send(TestWebhook.deployment("evt_u", type: "flag.created"))
        #expect(unknown.status == 200 && unknown.text == #"{"accepted":false}"#)
        #expect(try relay.metric("zg_postal_events_duplicate_total") == 1)
        #expect(try relay.metric("zg_postal_events_unknown_total") == 1)
        #expect(try relay.metric("zg_postal_events_accepted_total") == 1)
        _ = try relay.send(TestWebhook.deployment("evt_last"))
        let came = try stream.wait(for: 2).map { try device.opened($0.data).id }
        #expect(came == ["evt_good", "evt_last"])
    }

    @Test func `A body that is too long is answered without being buffered`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let limit = 256 << 10
        let frame = TestWebhook.deployment("evt_long", message: "")
        let fits = TestWebhook.deployment(
            "evt_long", message: String(repeating: "m", count: limit - frame.utf8.count))
        #expect(fits.utf8.count == limit)
        #expect(try relay.send(fits).status == 200)
        #expect(try relay.send(fits + " ").status == 413)
        let before = try memory(of: relay)
        let megabyte = String(repeating: "x", count: 1 << 20)
        for _ in 0..<8 {
            let answer = try relay.send(megabyte)
            #expect(answer.status == 413 && answer.code == "too_long")
        }
        // Also if no length was announced.
        let chunked = try relay.client()
        try chunked.write(
            "POST /webhook/\(RelayProcess.hook.name) HTTP/1.1\r\nHost: r\r\n"
                + "x-vercel-signature: \(String(repeating: "0", count: 40))\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<20 { try chunked.write("4000\r\n\(megabyte.prefix(0x4000))\r\n") }
        try chunked.write("0\r\n\r\n")
        #expect(try chunked.answer().status == 413)
        // A sender that never stops is cut off.
        let endless = try relay.client()
        #expect(throws: CheckFailure.self) {
            for _ in 0..<10 {
                _ = try endless.send(String(repeating: megabyte, count: 8), to: RelayProcess.hook)
            }
        }
        #expect(try relay.refused("too_long") >= 10)
        #expect(try memory(of: relay) < before + 8_192)
    }

    /// The relay's resident memory in kilobytes.
    private func memory(of relay: RelayProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(relay.processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    @Test func `Invites work once and until they expire`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let device = try TestDevice()
        let code = try relay.invite(expires: "1s")
        let used = try relay.invite()
        func join(_ code: String) throws -> RelayClient.Answer {
            try relay.client().request("POST", "/devices", body: device.joining(code))
        }
        // As a person types it.
        #expect(try join(used.lowercased().replacingOccurrences(of: "-", with: " ")).status == 201)
        let again = try join(used)
        usleep(1_100_000)
        let late = try join(code)
        let unknown = try join("AAAA-BBBB-CCCC-DDDD-EEEE")
        let nonsense = try join("?")
        for answer in [again, late, unknown, nonsense] {
            #expect(answer.status == 403 && answer.code == "invite_refused")
            #expect(answer.body == again.body)
        }
        #expect(try relay.refused("invite_refused") == 4)
        let open = try relay.invite()
        for body in [
            "", "{}", "{", #"{"invite":"\#(open)","publicKey":"AAAA"}"#,
            #"{"invite":"\#(open)","publicKey":"\#(String(repeating: "A", count: 43))="}"#,
            #"{"invite":1,"publicKey":"\#(device.publicKey)"}"#,
        ] {
            let answer = try relay.client().request("POST", "/devices", body: body)
            #expect(answer.status == 400, "\(body)")
        }
        let long = try relay.client().request(
            "POST", "/devices", body: device.joining(open) + String(repeating: " ", count: 4_096))
        #expect(long.status == 413)
        // None of that has used it.
        #expect(try join(open).status == 201)
        #expect(try relay.run("status", "--json").output.contains(#""devices":2"#))
    }

    @Test func `SEC-F15: A device with a key of low order is refused`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let invite = try relay.invite()
        let zeros = [UInt8](repeating: 0, count: 31)
        let prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        for key in [[0] + zeros, [1] + zeros, [0] + zeros.dropLast() + [0x80], prime] {
            let letters = Data(key).base64EncodedString()
            let answer = try relay.client().request(
                "POST", "/devices", body: #"{"invite":"\#(invite)","publicKey":"\#(letters)"}"#)
            #expect(answer.status == 400 && answer.code == "invalid_request", "\(letters)")
        }
        // That does not use up the invite.
        let device = try TestDevice()
        let joined = try relay.client().request("POST", "/devices", body: device.joining(invite))
        #expect(joined.status == 201)
    }

    @Test func `A token opens what its device may see, and nothing after its removal`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let (one, two) = (try TestDevice(), try TestDevice())
        try one.join(relay)
        try two.join(relay, ["team_beta"])
        let (first, second) = (try EventReader(relay, one), try EventReader(relay, two))
        #expect(first.status == 200 && second.status == 200)
        let wrong = [
            [:], ["Authorization": "Bearer"], ["Authorization": "Basic \(one.token)"],
            ["Authorization": "Bearer \(one.token)x"],
            [
                "Authorization":
                    "Bearer \(one.token.dropLast())\(one.token.hasSuffix("0") ? "1" : "0")"
            ],
        ]
        for (method, path) in [
            ("GET", "/device"), ("DELETE", "/device"), ("POST", "/device/acknowledge"),
            ("GET", "/events"),
        ] {
            for headers in wrong {
                let answer = try relay.client().request(method, path, headers)
                #expect(answer.status == 401 && answer.code == "device_refused")
            }
        }
        _ = try relay.send(TestWebhook.deployment("evt_1"))
        _ = try relay.send(
            TestWebhook.deployment("evt_2", account: "team_beta"), to: RelayProcess.otherHook)
        #expect(try first.wait(for: 1).map { try one.opened($0.data).id } == ["evt_1"])
        #expect(try second.wait(for: 1).map { try two.opened($0.data).id } == ["evt_2"])

        // Another process removes one device; the other is not affected.
        let began = ContinuousClock.now
        #expect(try relay.run("devices", "remove", one.id).status == 0)
        #expect(first.hasEnded())
        #expect(ContinuousClock.now - began < .seconds(15))
        #expect(first.all.last == .init(event: "removed", id: nil, data: "{}"))
        for path in ["/device", "/events"] {
            #expect(try relay.client().request("GET", path, one.authorization).status == 401)
        }
        #expect(try relay.run("devices", "remove", one.id).status == 4)
        _ = try relay.send(
            TestWebhook.deployment("evt_3", account: "team_beta"), to: RelayProcess.otherHook)
        #expect(try second.wait(for: 2).count == 2)
        // A device can also remove itself.
        #expect(try relay.client().request("DELETE", "/device", two.authorization).status == 204)
        #expect(second.hasEnded())
        #expect(try relay.client().request("GET", "/device", two.authorization).status == 401)
        #expect(try relay.run("devices", "list", "--json").output.contains(#""devices":[]"#))
    }
}
