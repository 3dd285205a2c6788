internal import JSON
internal import PostalProtocol
package import Sealing
package import VercelAPI

/// What a device asks of a relay. The token goes to the relay's origin and nowhere else, and no redirect
/// is followed. All calls block. Not for use from several threads at once.
package final class RelayClient {
    /// What the relay says of a device.
    package struct Device: Equatable, Sendable {
        /// The relay's name of it.
        package let name: String
        /// Whose events come.
        package let accounts: [String]
        /// In milliseconds since 1970; nil where it is not told.
        package let joinedAt: Int64?
        /// Nothing up to this number is sent again.
        package let acknowledged: Int64?
        /// The number of the newest event.
        package let newest: Int64?
    }

    /// What joining brings.
    package struct Joined {
        /// The device that was made.
        package let device: Device
        /// Its password.
        package let token: SecretSlice
    }

    /// Where the relay is.
    package let origin: APIOrigin
    private let transport: any HTTPTransport
    private let token: SecretSlice?
    private static let timeouts = HTTPTimeouts(
        connect: .seconds(5), firstByte: .seconds(10), idle: .seconds(10), total: .seconds(20))
    /// A keep-alive comes every 20 seconds.
    private static let streamTimeouts = HTTPTimeouts(
        connect: .seconds(10), firstByte: .seconds(20), idle: .seconds(60), total: nil)

    /// - Parameter token: The device's; nil for somebody who wants to become one.
    package init(transport: any HTTPTransport, origin: APIOrigin, token: SecretSlice? = nil) {
        (self.transport, self.origin, self.token) = (transport, origin, token)
    }

    /// Joins with an invite code.
    ///
    /// - Parameters:
    ///   - invite: As it is shown; good for one device.
    ///   - publicKey: 32 bytes.
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
            throw RelayError(.inviteRefused, "the relay refuses the invite code")
        }
        guard response.status == 201 else {
            throw RelayError(status: response.status, headers: response.headers)
        }
        let token = response.body.withBytes { body in
            try? SecretMembers.text("token", of: body, into: arena)
        }
        guard let token, token.count == 43, Self.isWord(token), let device = Self.device(response)
        else {
            throw RelayError(.outcomeUnknown, "the relay's answer cannot be read")
        }
        return Joined(device: device, token: token)
    }

    /// What the relay knows of this device.
    package func device() throws(RelayError) -> Device {
        let response = try send(.get, "/device")
        guard response.status == 200 else {
            throw RelayError(status: response.status, headers: response.headers)
        }
        guard let device = Self.device(response) else {
            throw RelayError(.notARelay, "what answers there is no relay")
        }
        return device
    }

    /// Has the relay forget this device. That it did so before is ``RelayError/Code/deviceRefused``.
    package func leave() throws(RelayError) {
        let response = try send(.delete, "/device", mayHaveHappened: true)
        guard response.status == 204 else {
            throw RelayError(status: response.status, headers: response.headers)
        }
    }

    /// Tells that everything up to a number is kept here.
    package func acknowledge(_ number: Int64) throws(RelayError) {
        let response = try send(.post, "/device/acknowledge") { (json) throws(OutputError) in
            try json.name("number")
            try json.integer(number)
        }
        guard response.status == 204 else {
            throw RelayError(status: response.status, headers: response.headers)
        }
    }

    /// Reads the stream of events until one side ends it.
    ///
    /// - Parameters:
    ///   - number: Up to which everything is kept here, and need not come again; 0 for nothing.
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
        guard response.status == 200 else {
            throw RelayError(status: response.status, headers: response.headers)
        }
    }

    // MARK: Requests

    private func request(
        _ method: HTTPRequest.Method, _ target: String, _ body: GuardedBytes?
    ) -> HTTPRequest {
        var headers = [("Accept", "application/json"), ("User-Agent", "zg-env")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return HTTPRequest(
            method: method, origin: origin, target: target,
            headers: headers.map { (name: $0.0, value: $0.1) }, token: token, body: body,
            timeouts: Self.timeouts)
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
                throw RelayError(.failed, "the request could not be put together")
            }
        }
        do throws(TransportError) {
            return try transport.send(request(method, target, body))
        } catch {
            throw RelayError(error, mayHaveHappened: mayHaveHappened)
        }
    }

    // MARK: Answers

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
