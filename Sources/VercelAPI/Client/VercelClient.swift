package import HTTPClient
package import Sealing

/// Vercel's API for one token, acting for its owner or one team.
///
/// All calls block. They wait for rate limits, and retry what is safe to retry according to
/// ``RetryPolicy``. Not thread-safe.
package final class VercelClient {
    package let origin: APIOrigin
    package let scope: APIScope
    /// The largest number of requests in progress at once.
    package let concurrency: Int

    let session: Session
    private let token: SecretSlice
    private let userAgent: String
    /// Overrides the timeouts of calls.
    private let timeouts: HTTPTimeouts?

    /// What the clients of one token share: the connection, the clock and the rate limits.
    final class Session {
        let transport: any HTTPTransport
        let waitingRoom: any Sleeper
        let policy: RetryPolicy
        let random: () -> Double
        let known: KnownSecrets
        var limits = RateLimits()
        /// How often a call has waited or was retried.
        var pauseCount = 0
        /// The `Date` of the last response that had one, in seconds since 1970.
        var vercelSeconds: Int64?

        init(
            transport: any HTTPTransport, waitingRoom: any Sleeper, policy: RetryPolicy,
            known: KnownSecrets, random: @escaping () -> Double
        ) {
            self.known = known
            self.transport = transport
            self.waitingRoom = waitingRoom
            self.policy = policy
            self.random = random
        }

        /// Returns a session with a different transport or policy, and a copy of the rate limits.
        func like(transport: (any HTTPTransport)? = nil, policy: RetryPolicy? = nil) -> Session {
            let other = Session(
                transport: transport ?? self.transport, waitingRoom: waitingRoom,
                policy: policy ?? self.policy, known: known, random: random)
            other.limits = limits.forAnotherClient()
            other.vercelSeconds = vercelSeconds
            return other
        }
    }

    /// - Parameters:
    ///   - token: Sent to `origin` and nowhere else. The caller must know that it belongs there.
    ///   - known: What no error may contain, besides the token and what is sent.
    ///   - random: Returns a number from 0 to below 1, for the jitter of retries.
    /// - Throws: ``VercelAPIError/Code/tokenMissing`` if the token is empty, and
    ///   ``VercelAPIError/Code/tokenInvalid`` if it has invalid bytes.
    package init(
        transport: any HTTPTransport, origin: APIOrigin, token: SecretSlice,
        scope: APIScope = .personal, waitingRoom: any Sleeper,
        policy: RetryPolicy = RetryPolicy(), userAgent: String = "zg-env", concurrency: Int = 8,
        known: KnownSecrets = KnownSecrets(),
        random: @escaping () -> Double = VercelClient.randomFraction
    ) throws(VercelAPIError) {
        guard token.count > 0 else {
            throw VercelAPIError(
                .tokenMissing, reason: "there is no token", hint: "log in with 'zg-env login'")
        }
        // Any other byte could end the header field and start another one.
        let isClean = token.withBytes { bytes in
            (0..<bytes.byteCount).allSatisfy { (0x21...0x7E).contains(bytes.byte(at: $0)) }
        }
        guard isClean, token.count <= 4096 else {
            throw VercelAPIError(
                .tokenInvalid, reason: "the token has invalid characters",
                hint: "copy the token again, without spaces or line breaks")
        }
        self.origin = origin
        self.token = token
        self.scope = scope
        self.userAgent = userAgent
        timeouts = nil
        self.concurrency = max(concurrency, 1)
        session = Session(
            transport: transport, waitingRoom: waitingRoom, policy: policy, known: known,
            random: random)
    }

    private init(
        _ other: VercelClient, scope: APIScope, session: Session, timeouts: HTTPTimeouts?
    ) {
        origin = other.origin
        token = other.token
        userAgent = other.userAgent
        concurrency = other.concurrency
        self.session = session
        self.scope = scope
        self.timeouts = timeouts
    }

    /// Throws right before an attempt to prevent it. It may make calls of its own.
    package typealias SendCheck = () throws(VercelAPIError) -> Void

    /// The time since a fixed moment; monotonic.
    package var elapsed: Duration { session.waitingRoom.elapsed }

    /// How often a call has waited or was retried. Data read before such a pause is stale.
    package var pauseCount: Int { session.pauseCount }

    /// Returns a client for a different scope that shares connections and rate limits.
    package func scoped(to scope: APIScope) -> VercelClient {
        VercelClient(self, scope: scope, session: session, timeouts: timeouts)
    }

    /// Returns a client for a caller with a fallback: it tries once and gives up after seconds.
    package func failFast() -> VercelClient {
        trying(
            onceWithin: HTTPTimeouts(
                connect: .seconds(2), firstByte: .seconds(3), idle: .seconds(3),
                total: .seconds(15)))
    }

    /// Returns a client with its own transport, for calls made while this one is busy.
    package func connected(through transport: any HTTPTransport) -> VercelClient {
        VercelClient(
            self, scope: scope, session: session.like(transport: transport), timeouts: timeouts)
    }

    /// Returns a client for a caller that retries by itself: it tries once, does not wait for rate
    ///   limits, and knows the same limits.
    ///
    /// - Parameter limit: The longest time for a call; at least a second.
    package func withoutRetries(within limit: Duration = .seconds(30)) -> VercelClient {
        let limit = max(limit, .seconds(1))
        return trying(
            onceWithin: HTTPTimeouts(
                connect: min(.seconds(5), limit), firstByte: min(.seconds(10), limit),
                idle: min(.seconds(10), limit), total: min(.seconds(30), limit)))
    }

    private func trying(onceWithin timeouts: HTTPTimeouts) -> VercelClient {
        var policy = session.policy
        policy.maximumAttempts = 1
        policy.longestRateLimitWait = .seconds(1)
        return VercelClient(
            self, scope: scope, session: session.like(policy: policy), timeouts: timeouts)
    }

    /// Vercel's time of the last response, in milliseconds since 1970, rounded down because the
    /// `Date` field of RFC 9110 has whole seconds; 0 if no response had one.
    package var lastDate: UInt64 {
        session.vercelSeconds.map { UInt64(min(max($0, 0), 1 << 40)) * 1_000 } ?? 0
    }

    /// Vercel's time of the last response, in milliseconds since 1970, rounded up, so that
    /// everything in that response happened before. Falls back to this machine's clock.
    package var vercelTime: UInt64 {
        let seconds = session.vercelSeconds ?? session.waitingRoom.secondsSince1970
        return UInt64(min(max(seconds, 0), 1 << 40)) * 1_000 + 999
    }

    /// Returns a number from 0 to below 1 from the kernel's random generator.
    package static func randomFraction() -> Double {
        let bits = Random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(bits) / Double(1 << 32)
    }

    /// Returns the request for `call`, with scope, token and the common header fields.
    func request(_ call: APICall) -> HTTPRequest {
        var headers: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("User-Agent", userAgent),
        ]
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        let query = call.query + (call.isScoped ? scope.query : [])
        // The transport must not resend a request that has to be checked before each attempt.
        let isRepeatable = call.isRepeatable && call.check == nil
        return HTTPRequest(
            method: call.method, origin: origin,
            target: call.target + PercentEncoding.query(query), headers: headers, token: token,
            body: call.body, isRepeatable: isRepeatable, timeouts: timeouts ?? call.timeouts)
    }

    /// Returns what errors of `call` may and may not contain.
    func secrets(of call: APICall) -> ResponseSecrets {
        ResponseSecrets(
            [token] + call.sent, names: call.names, trust: call.trust, known: session.known)
    }
}
