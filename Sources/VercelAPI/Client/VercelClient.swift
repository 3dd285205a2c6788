package import Sealing

/// The API of the platform for one token, on behalf of its owner or one team.
///
/// All calls block. They wait for rate limits and repeat what is safe to repeat, as ``RetryPolicy``
/// says; nothing else does. Not for use from several threads at once.
package final class VercelClient {
    /// Where requests go.
    package let origin: APIOrigin
    /// On whose behalf.
    package let scope: APIScope
    /// How many reads are under way at once.
    package let concurrency: Int

    let session: Session
    private let token: SecretSlice
    private let userAgent: String
    /// In place of what calls say themselves.
    private let timeouts: HTTPTimeouts?

    /// What clients of one token share: the connection, the clock, and what is known of limits.
    final class Session {
        let transport: any HTTPTransport
        let waitingRoom: any WaitingRoom
        let policy: RetryPolicy
        let random: () -> Double
        let known: KnownSecrets
        var limits = RateLimits()
        /// How often a call has waited, or was sent again.
        var pauseCount = 0
        /// What the last answer that named a time said, in seconds since 1970.
        var platformSeconds: Int64?

        init(
            transport: any HTTPTransport, waitingRoom: any WaitingRoom, policy: RetryPolicy,
            known: KnownSecrets, random: @escaping () -> Double
        ) {
            self.known = known
            self.transport = transport
            self.waitingRoom = waitingRoom
            self.policy = policy
            self.random = random
        }

        /// The same with another part, and with what is known of the rate limits.
        func like(transport: (any HTTPTransport)? = nil, policy: RetryPolicy? = nil) -> Session {
            let other = Session(
                transport: transport ?? self.transport, waitingRoom: waitingRoom,
                policy: policy ?? self.policy, known: known, random: random)
            other.limits = limits.forOthers()
            other.platformSeconds = platformSeconds
            return other
        }
    }

    /// Makes a client. Nothing is sent.
    ///
    /// - Parameters:
    ///   - token: Sent to `origin` and nowhere else; whether it belongs there is the caller's to
    ///     know.
    ///   - known: What no error may repeat, beside the token and what is sent.
    ///   - random: From 0 to below 1; spreads repeated requests.
    /// - Throws: ``VercelAPIError/Code/tokenMissing`` if the token is empty, and
    ///   ``VercelAPIError/Code/tokenInvalid`` if it has bytes that no token has.
    package init(
        transport: any HTTPTransport, origin: APIOrigin, token: SecretSlice,
        scope: APIScope = .personal, waitingRoom: any WaitingRoom,
        policy: RetryPolicy = RetryPolicy(), userAgent: String = "zg-env", concurrency: Int = 8,
        known: KnownSecrets = KnownSecrets(),
        random: @escaping () -> Double = VercelClient.randomFraction
    ) throws(VercelAPIError) {
        guard token.count > 0 else {
            throw VercelAPIError(
                .tokenMissing, reason: "there is no token", hint: "log in with 'zg-env login'")
        }
        // Anything else could end the header field and begin another one.
        let isClean = token.withBytes { bytes in
            (0..<bytes.byteCount).allSatisfy { (0x21...0x7E).contains(bytes.byte(at: $0)) }
        }
        guard isClean, token.count <= 4096 else {
            throw VercelAPIError(
                .tokenInvalid, reason: "the token has characters that no token has",
                hint: "copy the token again, without blanks or line ends")
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

    /// Decides right before an attempt whether it is sent. It may make calls of its own.
    package typealias SendCheck = () throws(VercelAPIError) -> Void

    /// The time since some fixed moment; never goes back.
    package var elapsed: Duration { session.waitingRoom.elapsed }

    /// How often a call has waited, or was sent again. What was read before such a pause is old.
    package var pauseCount: Int { session.pauseCount }

    /// The same client on behalf of somebody else; it shares connections and rate limits.
    package func scoped(to scope: APIScope) -> VercelClient {
        VercelClient(self, scope: scope, session: session, timeouts: timeouts)
    }

    /// The same client for a caller who has something else to show: it tries once, and gives up after
    /// seconds.
    package func impatient() -> VercelClient {
        trying(
            onceWithin: HTTPTimeouts(
                connect: .seconds(2), firstByte: .seconds(3), idle: .seconds(3),
                total: .seconds(15)))
    }

    /// The same client over a transport of its own, for what is asked while this one is busy.
    package func connected(through transport: any HTTPTransport) -> VercelClient {
        VercelClient(
            self, scope: scope, session: session.like(transport: transport), timeouts: timeouts)
    }

    /// The same client for a caller who comes back by himself: it tries once, does not wait for rate
    /// limits, and shares what is known of them.
    ///
    /// - Parameter limit: The longest time that he has; a second at least.
    package func unrepeated(within limit: Duration = .seconds(30)) -> VercelClient {
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

    /// The platform's time of the last answer, in milliseconds since 1970, rounded down (the `Date` field of
    /// RFC 9110 has seconds); 0 where no answer named a time.
    package var lastDate: UInt64 {
        session.platformSeconds.map { UInt64(min(max($0, 0), 1 << 40)) * 1_000 } ?? 0
    }

    /// The platform's time of the last answer, in milliseconds since 1970, rounded up: what that answer shows
    /// happened before. By this machine's clock where no answer names a time.
    package var platformTime: UInt64 {
        let seconds = session.platformSeconds ?? session.waitingRoom.secondsSince1970
        return UInt64(min(max(seconds, 0), 1 << 40)) * 1_000 + 999
    }

    /// A number from 0 to below 1 from the kernel's generator.
    package static func randomFraction() -> Double {
        let bits = Random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(bits) / Double(1 << 32)
    }

    /// The request of `call`, with scope, token and what every request carries.
    func request(_ call: APICall) -> HTTPRequest {
        var headers: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("User-Agent", userAgent),
        ]
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        let query = call.query + (call.isScoped ? scope.query : [])
        // What is to be checked before each attempt is never sent again by the transport itself.
        let isRepeatable = call.isRepeatable && call.check == nil
        return HTTPRequest(
            method: call.method, origin: origin,
            target: call.target + PercentEncoding.query(query), headers: headers, token: token,
            body: call.body, isRepeatable: isRepeatable, timeouts: timeouts ?? call.timeouts)
    }

    /// What errors of `call` may and may not repeat.
    func secrets(of call: APICall) -> AnswerSecrets {
        AnswerSecrets(
            [token] + call.sent, names: call.names, trust: call.trust, known: session.known)
    }
}
