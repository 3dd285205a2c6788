import CurlTransport
import Foundation
import HTTPClient
import Sealing
import TestSupport
import Testing
import VercelAPI

extension SecretArena {
    /// A secret with a text that is not one.
    func secret(_ text: String) throws -> SecretSlice {
        try Array(text.utf8).withBytes { try copy($0) }
    }
}

extension SecretSlice {
    /// The bytes, for comparison in tests.
    var exposed: [UInt8] {
        withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
    }

    var exposedText: String { String(decoding: exposed, as: UTF8.self) }
}

extension GuardedBytes {
    /// The bytes, for comparison in tests.
    var exposed: [UInt8] {
        withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
    }

    var exposedText: String { String(decoding: exposed, as: UTF8.self) }

    static func holding(_ text: String) throws -> GuardedBytes {
        try holding(bytes: Array(text.utf8))
    }

    static func holding(bytes content: [UInt8]) throws -> GuardedBytes {
        let bytes = try GuardedBytes()
        try content.withBytes { try bytes.append($0) }
        return bytes
    }
}

/// A generator with the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension LocalServer {
    /// A request to this server.
    func request(
        _ method: HTTPRequest.Method = .get, target: String = "/", token: SecretSlice? = nil,
        body: GuardedBytes? = nil, isRepeatable: Bool? = nil, timeouts: HTTPTimeouts? = nil
    ) throws -> HTTPRequest {
        HTTPRequest(
            method: method, origin: try APIOrigin(origin), target: target,
            headers: [("X-One", "1")], token: token, body: body, isRepeatable: isRepeatable,
            timeouts: timeouts)
    }
}

extension VercelClient {
    /// Creates one variable, or throws why Vercel refused it.
    func create(
        _ new: NewEnvironmentVariable, inProject project: String, isUpsert: Bool = false
    ) throws(VercelAPIError) -> EnvironmentVariable {
        let batch = try createEnvironmentVariables([new], inProject: project, isUpsert: isUpsert)
        if let failed = batch.failed.first { throw failed.error }
        guard let created = batch.created.first else {
            throw VercelAPIError(.malformedAnswer, reason: "nothing was created")
        }
        return created
    }
}

extension CurlTransport {
    /// Sends requests, and returns the responses in their order.
    func send(
        _ requests: [HTTPRequest], concurrency: Int
    ) -> [Result<HTTPResponse, TransportError>] {
        let missing = TransportError(.failed, mayHaveReachedServer: true, reason: "no response")
        var answers = [Result<HTTPResponse, TransportError>](
            repeating: .failure(missing), count: requests.count)
        send(requests, concurrency: concurrency) { place, result in
            answers[place] = result
            return true
        }
        return answers
    }

    /// The error of a request, or nil if it succeeded.
    func failure(of request: HTTPRequest) -> TransportError? {
        do throws(TransportError) {
            _ = try send(request)
            return nil
        } catch {
            return error
        }
    }
}
