internal import JSON

/// The routes; see `docs/postal-protocol.md`.
extension Relay {
    /// Most bytes of a webhook.
    static let webhookByteLimit = 256 << 10
    /// Most bytes of a device's request.
    static let deviceByteLimit = 4 << 10

    /// Plans a request. Called on the server's threads.
    func plan(for head: RequestHead) -> RequestPlan {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).map(
            String.init)
        let names = Array(parts.dropFirst())
        switch names {
        case _ where names.count == 2 && names[0] == "webhook":
            return guarding(head, ["POST"]) { webhook(names[1], head) }
        case ["devices"]:
            return guarding(head, ["POST"]) {
                limitedPlan(head) { [self] body, _, reply in
                    queue(reply) { [self] in join(body, head) }
                }
            }
        case ["device"]:
            return guarding(head, ["GET", "DELETE"]) {
                head.method == "GET"
                    ? devicePlan(head) { device, _ in self.describe(device) }
                    : devicePlan(head) { device, _ in self.leave(device) }
            }
        case ["device", "acknowledge"]:
            return guarding(head, ["POST"]) { acknowledging(head) }
        case ["events"]:
            return guarding(head, ["GET"]) {
                devicePlan(head) { self.open($0, head.lastEventID, $1) }
            }
        case ["healthz"]:
            return guarding(head, ["GET"]) {
                .work(.dropped(limit: 0)) { [self] _, _, reply in
                    queue(reply) { [self] in
                        health.isGood() ? .json(["status": "ok"]) : refusal(.store)
                    }
                }
            }
        case ["metrics"]:
            return guarding(head, ["GET"]) {
                .work(.dropped(limit: 0)) { [self] _, _, reply in
                    queue(reply) { [self] in metricsPage() }
                }
            }
        default:
            return .answer(refusal(.notFound))
        }
    }

    private func guarding(
        _ head: RequestHead, _ methods: [String], _ plan: () -> RequestPlan
    ) -> RequestPlan {
        guard methods.contains(head.method) else {
            var answer = refusal(.method)
            answer.allowed = methods.joined(separator: ", ")
            return .answer(answer)
        }
        return plan()
    }

    /// Plans a request of a device, refused after too many failed attempts.
    func limitedPlan(_ head: RequestHead, _ work: @escaping RequestWork) -> RequestPlan {
        guard !failures.isOver(head.client, now: clock.steady()) else {
            return .answer(refusal(.tooManyAttempts))
        }
        return .work(.kept(limit: Self.deviceByteLimit), work)
    }

    /// Plans a request of a device, authenticated by its token.
    private func devicePlan(
        _ head: RequestHead,
        _ work: @escaping @Sendable (Device, ConnectionHandle) -> HTTPAnswer
    ) -> RequestPlan {
        limitedPlan(head) { [self] _, connection, reply in
            queue(reply) { [self] in authenticated(head) { work($0, connection) } }
        }
    }

    /// Runs `work` for the token's device. Unknown tokens and those of removed devices are refused
    /// alike.
    func authenticated(
        _ head: RequestHead, _ work: (Device) throws(StoreError) -> HTTPAnswer
    ) -> HTTPAnswer {
        guard let token = head.token else {
            failures.add(head.client)
            return refusal(.device)
        }
        return withStore { () throws(StoreError) in
            guard let device = try store.device(id: token.deviceID), token.belongs(to: device)
            else {
                failures.add(head.client)
                return refusal(.device)
            }
            return try work(device)
        }
    }

    private func metricsPage() -> HTTPAnswer {
        guard let parts = running else { return refusal(.busy) }
        var store: StoreStatus?
        do throws(StoreError) { store = try self.store.status() } catch {
            metrics.storeFailures.add()
        }
        let text = metrics.text(
            streams: parts.hub.count, connections: parts.server.connections.count,
            waiting: parts.hub.waitingCount, store: store)
        var answer = HTTPAnswer(status: 200, body: Array(text.utf8))
        answer.type = "text/plain; version=0.0.4"
        return answer
    }
}
