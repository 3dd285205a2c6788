import Foundation
import PostalProtocol
import Sealing
import TestSupport
internal import Threads

/// A small in-process relay for `docs/postal-protocol.md`, as unreliable as a test needs. The real
/// one has its own tests.
final class FakeRelay: Sendable {
    struct Device: Sendable {
        let name: String
        let publicKey: [UInt8]
        let accounts: [String]
        var acknowledged: Int64
        var frames: [(number: Int64, text: String)] = []
        var connections = 0
    }

    private struct State {
        var invites: [[UInt8]: [String]] = [:]
        /// By token.
        var devices: [String: Device] = [:]
        var number: Int64 = 10
        var isDown = false
        var epoch = 0
        /// Overriding answers, by method and path.
        var overrides: [String: [LocalServer.Action]] = [:]
    }

    private final class Box: Sendable {
        let state = Monitor(State())
    }

    let server: LocalServer
    private let box: Box

    init() throws {
        let box = Box()
        self.box = box
        server = try LocalServer { request in Self.answer(request, box) }
    }

    deinit { server.stop() }

    var url: String { server.origin }
    var devices: [String: Device] { box.state.look { $0.devices } }
    var device: Device? { devices.values.first }
    var targets: [String] { server.requests.map { "\($0.method) \($0.target)" } }

    /// Creates an invite for the accounts.
    func invite(_ accounts: String...) -> String {
        let code = InviteCode(random: Random.bytes(20))
        box.state.look { $0.invites[code.signs] = accounts }
        return code.text
    }

    /// Sends an event to every device of the account, encrypted for each.
    func emit(_ event: PostalEvent, times: Int = 1) {
        let text = event.sealedText ?? []
        box.state.look { state in
            for _ in 0..<times {
                state.number += 1
                for (token, device) in state.devices where device.accounts.contains(event.account) {
                    let sealed = try? text.withBytes {
                        try SealedBox.seal($0, to: device.publicKey)
                    }
                    let data = Data(sealed ?? []).base64EncodedString()
                    state.devices[token]?.frames.append(
                        (state.number, "id: \(state.number)\nevent: sealed\ndata: \(data)\n\n"))
                }
            }
        }
    }

    /// Sends a text unchanged on every stream, except for `NUMBER`.
    func emit(raw text: String) {
        box.state.look { state in
            state.number += 1
            for token in state.devices.keys {
                state.devices[token]?.frames.append(
                    (
                        state.number,
                        text.replacingOccurrences(of: "NUMBER", with: "\(state.number)")
                    ))
            }
        }
    }

    var newest: Int64 { box.state.look { $0.number } }

    /// Ends all streams, and answers 503 while it is down.
    func setDown(_ isDown: Bool) {
        box.state.look { state in
            state.isDown = isDown
            state.epoch += 1
        }
    }

    func removeDevices() { box.state.look { $0.devices = [:] } }

    /// Overrides the answer to a request, such as "GET /device"; nil for the ordinary one.
    func override(_ request: String, _ actions: [LocalServer.Action]?) {
        box.state.look { $0.overrides[request] = actions }
    }

    /// Waits until a device has opened its stream that often.
    func waitForStream(_ count: Int = 1) {
        for _ in 0..<2_000 where (device?.connections ?? 0) < count { usleep(10_000) }
    }

    /// Waits until the device has acknowledged everything.
    func waitForAcknowledgement() {
        for _ in 0..<2_000 where (device?.acknowledged ?? 0) < newest { usleep(10_000) }
    }

    // MARK: Answers

    private static func answer(_ request: LocalServer.Request, _ box: Box) -> [LocalServer.Action] {
        let state = box.state.look { $0 }
        if let actions = state.overrides["\(request.method) \(request.target)"] { return actions }
        if state.isDown { return [.answer(503, error("store_unavailable"))] }
        if request.method == "POST", request.target == "/devices" { return join(request, box) }
        let token = request.headers["authorization"].map { String($0.dropFirst(7)) } ?? ""
        guard let device = state.devices[token] else {
            return [.answer(401, error("device_refused"))]
        }
        switch (request.method, request.target) {
        case ("GET", "/device"):
            return [
                .answer(
                    200,
                    """
                    {"device":"\(device.name)","accounts":\(list(device.accounts)),"joinedAt":5,\
                    "acknowledged":\(device.acknowledged),"newest":\(state.number)}
                    """)
            ]
        case ("DELETE", "/device"):
            box.state.look { $0.devices[token] = nil }
            return [.answer(204, "")]
        case ("POST", "/device/acknowledge"):
            struct Body: Decodable { let number: Int64 }
            guard let body = try? JSONDecoder().decode(Body.self, from: Data(request.body)),
                body.number <= state.number
            else { return [.answer(400, error("invalid"))] }
            acknowledge(body.number, token, box)
            return [.answer(204, "")]
        case ("GET", "/events"):
            if let last = request.headers["last-event-id"].flatMap({ Int64($0) }) {
                acknowledge(last, token, box)
            }
            return events(token, epoch: state.epoch, box)
        default: return [.answer(404, error("not_found"))]
        }
    }

    private static func acknowledge(_ number: Int64, _ token: String, _ box: Box) {
        box.state.look { state in
            let known = state.devices[token]?.acknowledged ?? 0
            state.devices[token]?.acknowledged = max(known, number)
        }
    }

    private static func events(_ token: String, epoch: Int, _ box: Box) -> [LocalServer.Action] {
        let start = box.state.look { state -> Int64 in
            state.devices[token]?.connections += 1
            return state.devices[token]?.acknowledged ?? 0
        }
        let cursor = Box64(start)
        return [
            .text(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: hi\n\n"
            ),
            .stream {
                box.state.look { state -> [UInt8]? in
                    guard state.epoch == epoch else { return nil }
                    guard let device = state.devices[token] else {
                        return cursor.isOver
                            ? nil
                            : {
                                cursor.isOver = true;
                                return Array("event: removed\ndata: {}\n\n".utf8)
                            }()
                    }
                    let new = device.frames.filter { $0.number > cursor.number }
                    cursor.number = new.last?.number ?? cursor.number
                    return Array(new.map(\.text).joined().utf8)
                }
            }, .close,
        ]
    }

    /// How much of one connection was written. Only its own thread uses it.
    private final class Box64: @unchecked Sendable {
        var number: Int64
        var isOver = false
        init(_ number: Int64) { self.number = number }
    }

    private static func join(
        _ request: LocalServer.Request, _ box: Box
    ) -> [LocalServer.Action] {
        struct Body: Decodable {
            let invite: String
            let publicKey: String
        }
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(request.body)),
            let key = Data(base64Encoded: body.publicKey), key.count == 32
        else { return [.answer(400, error("invalid"))] }
        return box.state.look { state in
            guard let code = InviteCode(typed: body.invite),
                let accounts = state.invites.removeValue(forKey: code.signs)
            else { return [.answer(403, error("invite_refused"))] }
            let token = String(
                decoding: Base64.encoded(Random.bytes(32), .urlSafe), as: UTF8.self)
            let name = "device-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
            state.devices[token] = Device(
                name: name, publicKey: Array(key), accounts: accounts, acknowledged: state.number)
            return [
                .answer(
                    201,
                    """
                    {"device":"\(name)","token":"\(token)","accounts":\(list(accounts)),\
                    "number":\(state.number)}
                    """)
            ]
        }
    }

    private static func list(_ texts: [String]) -> String {
        "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    private static func error(_ code: String) -> String {
        "{\"error\":{\"code\":\"\(code)\",\"message\":\"No.\"}}"
    }
}
