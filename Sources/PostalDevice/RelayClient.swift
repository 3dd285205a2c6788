package import HTTPClient
internal import JSON
internal import PostalProtocol
package import Sealing
internal import VercelAPI

/// A client for a relay's device API. Sends the token to the relay's origin only, and follows no
/// redirects. Calls block. Not thread-safe.
package final class RelayClient {
    /// A relay's record of a device.
    package struct Device: Equatable, Sendable {
        /// The name that the relay gave it.
        package let name: String
        /// The accounts whose events the device receives.
        package let accounts: [String]
        /// In milliseconds since 1970; nil if not reported.
        package let joinedAt: Int64?
        /// Events up to this number are not sent again.
        package let acknowledged: Int64?
        /// The number of the newest event for the device.
        package let newest: Int64?
    }

    /// The result of joining a relay.
    package struct Joined {
        package let device: Device
        /// The device's credential.
        package let token: SecretSlice
    }

    package let origin: APIOrigin
    private let transport: any HTTPTransport
    private let token: SecretSlice?
    private static let timeouts = HTTPTimeouts(
        connect: .seconds(5), firstByte: .seconds(10), idle: .seconds(10), total: .seconds(20))
    /// The relay sends a keep-alive every 20 seconds.
    private static let streamTimeouts = HTTPTimeouts(
        connect: .seconds(10), firstByte: .seconds(20), idle: .seconds(60), total: nil)

    /// - Parameter token: The device's token; nil before joining.
    package init(transport: any HTTPTransport, origin: APIOrigin, token: SecretSlice? = nil) {
        (self.transport, self.origin, self.token) = (transport, origin, token)
    }

    /// Registers a device with an invite code.
    ///
    /// - Parameters:
    ///   - invite: The code as displayed; good for one device.
    ///   - publicKey: The device's key, 32 bytes.
    package func join(
        invite: String, publicKey: [UInt8], into arena: SecretArena
    ) throws(RelayError) -> Joined {
        let key = Base64.encoded(publicKey, .padded)
        let response = try send(.post, "/devices", mayHaveHappened: true) {
            (json) throws(OutputError) in
            try json.member("invite", invite)
            try json.member("publicKey", String(decoding: key, as: UTF8.self))
        }
        if response.status == 403 {
            throw RelayError(.inviteRefused, "the relay rejected the invite code")
        }
        try check(response, is: 201)
        let token = response.body.withBytes { body in
            try? SecretMembers.text("token", of: body, into: arena)
        }
        guard let token, token.count == 43, Self.isWord(token), let device = Self.device(response)
        else {
            throw RelayError(.outcomeUnknown, "cannot read the relay's response")
        }
        return Joined(device: device, token: token)
    }

    /// Returns the relay's record of this device.
    package func device() throws(RelayError) -> Device {
        let response = try send(.get, "/device")
        try check(response, is: 200)
        guard let device = Self.device(response) else {
            throw RelayError(.notARelay, "the server is not a relay")
        }
        return device
    }

    /// Removes this device from the relay.
    ///
    /// - Throws: ``RelayError/Code/deviceRefused`` if it was removed before.
    package func leave() throws(RelayError) {
        try check(try send(.delete, "/device", mayHaveHappened: true), is: 204)
    }

    /// Acknowledges all events up to a number, which are stored here.
    package func acknowledge(_ number: Int64) throws(RelayError) {
        let response = try send(.post, "/device/acknowledge") { (json) throws(OutputError) in
            try json.name("number")
            try json.integer(number)
        }
        try check(response, is: 204)
    }

    /// Reads the stream of events until either side closes it.
    ///
    /// - Parameters:
    ///   - number: The last stored event; the relay sends the ones after it. 0 for none.
    ///   - onBytes: As for `HTTPTransport.stream`.
    package func follow(
        after number: Int64, onBytes: (RawSpan) -> Bool
    ) throws(RelayError) {
        var request = request(.get, "/events", nil)
        request.timeouts = Self.streamTimeouts
        request.headers = [("Accept", "text/event-stream"), ("User-Agent", "zg-env")]
        if number > 0 { request.headers.append(("Last-Event-ID", String(number))) }
        let response: HTTPResponse
        do throws(TransportError) {
            response = try transport.stream(request, onBytes: onBytes)
        } catch {
            throw RelayError(error, mayHaveHappened: false)
        }
        try check(response, is: 200)
    }

    // MARK: Requests

    private func request(
        _ method: HTTPRequest.Method, _ target: String, _ body: GuardedBytes?
    ) -> HTTPRequest {
        var headers = [(name: "Accept", value: "application/json"), ("User-Agent", "zg-env")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return HTTPRequest(
            method: method, origin: origin, target: target, headers: headers, token: token,
            body: body, timeouts: Self.timeouts)
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, mayHaveHappened: Bool = false,
        body write: ((inout GuardedJSONWriter) throws(OutputError) -> Void)? = nil
    ) throws(RelayError) -> HTTPResponse {
        var body: GuardedBytes?
        if let write {
            do throws(OutputError) {
                body = try GuardedBytes.json { (json) throws(OutputError) in
                    try json.object(write)
                }
            } catch {
                throw RelayError(.failed, "the request could not be encoded")
            }
        }
        do throws(TransportError) {
            return try transport.send(request(method, target, body))
        } catch {
            throw RelayError(error, mayHaveHappened: mayHaveHappened)
        }
    }

    // MARK: Responses

    private func check(_ response: HTTPResponse, is status: Int) throws(RelayError) {
        guard response.status == status else {
            throw RelayError(status: response.status, headers: response.headers)
        }
    }

    private struct DeviceAnswer: Decodable {
        let device: String
        let accounts: [String]
        let joinedAt: Int64?
        let acknowledged: Int64?
        let newest: Int64?
    }

    private static func device(_ response: HTTPResponse) -> Device? {
        guard response.body.count <= 64 << 10 else { return nil }
        let answer = response.body.withBytes { JSONDecoding.value(DeviceAnswer.self, from: $0) }
        guard let answer, PostalName.isHookOrDevice(answer.device),
            (1...64).contains(answer.accounts.count),
            answer.accounts.allSatisfy(PostalName.isAccount),
            Set(answer.accounts).count == answer.accounts.count
        else { return nil }
        return Device(
            name: answer.device, accounts: answer.accounts.sorted(), joinedAt: answer.joinedAt,
            acknowledged: answer.acknowledged, newest: answer.newest)
    }

    private static func isWord(_ token: SecretSlice) -> Bool {
        token.withBytes { bytes in
            (0..<bytes.byteCount).allSatisfy { place in
                let byte = bytes.byte(at: place)
                return Base64.isLetter(byte) && byte != 0x2B && byte != 0x2F || byte == 0x2D
                    || byte == 0x5F
            }
        }
    }
}
