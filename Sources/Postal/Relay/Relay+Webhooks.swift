internal import JSON

/// Requests from Vercel.
extension Relay {
    /// Plans a webhook request. Its body is kept only for a known webhook and a well-formed
    /// signature.
    func webhook(_ name: String, _ head: RequestHead) -> RequestPlan {
        guard let hook = secrets.hook(name), let signature = head.signature,
            signature.utf8.count == 40
        else {
            return .work(.dropped(limit: Self.webhookByteLimit)) { [self] _, _, reply in
                reply(refusal(.signature))
            }
        }
        return .work(.kept(limit: Self.webhookByteLimit)) { [self] body, _, reply in
            let beganAt = clock.steady()
            let isTaken = running?.requests.add { [self] in
                check(body, of: hook, signature, since: beganAt, reply)
            }
            if isTaken != true { reply(refusal(.busy)) }
        }
    }

    private func check(
        _ body: [UInt8], of hook: HookSecrets.Hook, _ signature: String, since beganAt: Int64,
        _ reply: @escaping @Sendable (HTTPAnswer) -> Void
    ) {
        guard hook.signs(body, signature) else {
            reply(refusal(.signature))
            return
        }
        switch WebhookDecision(body: body, account: hook.account, now: clock.now()) {
        case .refuse(let reason): reply(refusal(reason))
        case .unknownType:
            metrics.unknownTypes.add()
            reply(.json(["accepted": false]))
        case .accept(let event):
            let arrival = Arrival(event: event, beganAt: beganAt, reply: reply)
            if running?.arrivals.add(arrival) != true { reply(refusal(.busy)) }
        }
    }

    /// Stores events together, and responds to each once it is durable.
    func keep(_ arrivals: [Arrival]) {
        let outcomes = store.append(arrivals.map(\.event))
        for (place, arrival) in arrivals.enumerated() {
            switch place < outcomes.count ? outcomes[place] : nil {
            case .kept:
                metrics.accepted.add()
                metrics.accepting.add(milliseconds: clock.steady() - arrival.beganAt)
                arrival.reply(.json(["accepted": true]))
            case .duplicate:
                metrics.duplicates.add()
                arrival.reply(.json(["accepted": true]))
            case .failed, nil:
                metrics.storeFailures.add()
                arrival.reply(refusal(.store))
            }
        }
    }
}
