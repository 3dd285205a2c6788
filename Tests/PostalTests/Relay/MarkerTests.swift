import Foundation
import PostalProtocol
import TestSupport
import Testing

/// What a person who reads the store's files must not learn.
@Suite struct MarkerTests {
    @Test func `The database holds no name, message, token, code or secret in plain text`() throws {
        let relay = try RelayProcess()
        try relay.start()
        let (device, late) = (try TestDevice(), try TestDevice())
        try device.join(relay)
        let used = try relay.invite()
        let joined = try relay.client().request("POST", "/devices", body: late.joining(used))
        #expect(joined.status == 201)
        let open = try relay.invite()
        let stream = try EventReader(relay, device)
        for number in 0..<40 {
            let body = TestWebhook.deployment(
                "evt_marker_\(number)", message: "marker-commit-message \(number)")
            #expect(try relay.send(body).status == 200)
        }
        let variable =
            #"{"id":"evt_marker_variable","type":"project.env-variable.updated","createdAt":"#
            + "\(TestWebhook.now)"
            + #","payload":{"team":{"id":"team_alpha"},"project":{"id":"prj_marker_project","name":"#
            + #""marker-project-name"},"envVar":{"id":"env_marker","key":"MARKER_KEY","value":"#
            + #""marker-value"}}}"#
        #expect(try relay.send(variable).status == 200)
        let lines = try stream.wait(for: 41)
        let last = try device.opened(lines[40].data)
        #expect(last.variable == .init(id: "env_marker", key: "MARKER_KEY"))
        #expect(last.project == .init(id: "prj_marker_project", name: "marker-project-name"))
        let texts = lines.map(\.data)
        #expect(try device.opened(texts[3]).deployment?.commit == "marker-commit-message 3")

        let signs = [open, used].map { $0.replacingOccurrences(of: "-", with: "") }
        let markers =
            [
                "marker", "MARKER", "dpl_", "prj_", "evt_", "user_of_the_test", "production",
                device.token, RelayProcess.hook.secret, RelayProcess.hook.name, open, used,
            ] + signs
        var byteCount = 0
        for name in ["postal.db", "postal.db-wal", "postal.db-shm", "postal.db-relay"] {
            let path = relay.directory.path(name)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            byteCount += bytes.count
            for marker in markers {
                #expect(bytes.range(of: Data(marker.utf8)) == nil, "\(marker) is in \(name)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(name)")
        }
        // What routing needs is there, which shows that the test searches the right place.
        #expect(byteCount > 40 * 500)
        let whole = try ["postal.db", "postal.db-wal"].map {
            try Data(contentsOf: URL(fileURLWithPath: relay.directory.path($0)))
        }
        #expect(whole.contains { $0.range(of: Data("team_alpha".utf8)) != nil })
        #expect(whole.contains { $0.range(of: Data(device.id.utf8)) != nil })
        // Nor are they visible in the process list.
        let page = try relay.client().request("GET", "/metrics").text
        for marker in markers + ["team_alpha", device.id] { #expect(!page.contains(marker)) }
    }
}
