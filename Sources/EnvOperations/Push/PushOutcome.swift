package import Sealing
package import Vault
package import VercelAPI

/// The outcome of one step of a push, after it was read back.
@dynamicMemberLookup
package struct PushOutcome {
    /// What was done last: a creation that was repaired is an update.
    package let step: PushPlan.Step
    private let result: RequestOutcome

    fileprivate init(_ step: PushPlan.Step, _ result: RequestOutcome) {
        self.result = result
        guard case .change(let before, let withValue) = result.request.action else {
            self.step = step
            return
        }
        self.step = PushPlan.Step(
            variable: step.variable, key: step.key, attributes: step.attributes,
            action: .update(id: before.id, withValue: withValue))
    }

    package subscript<Member>(dynamicMember member: KeyPath<RequestOutcome, Member>) -> Member {
        result[keyPath: member]
    }

    /// Vercel's error if the step failed with one.
    package var error: VercelAPIError? {
        if case .failed(_, let error) = result.end { error?.cause } else { nil }
    }

    /// Creates the outcome of a step that was taken out of the plan.
    package static func leftOut(_ step: PushPlan.Step, _ reason: String) -> PushOutcome {
        PushOutcome(
            step,
            RequestOutcome(
                request: step.request([:]), end: .failed(reason, nil), isSent: false))
    }
}

extension PushPlan {
    /// The steps as the sender takes them.
    package var requests: [SyncRequest] {
        let planned = Dictionary(firstOf: platform.map { ($0.id, $0) })
        return steps.map { $0.request(planned) }
    }

    /// Returns where the sender finds the values of the requests.
    package func values(
        sent: @escaping (Variable) throws -> SecretSlice,
        kept: @escaping (Variable) throws -> SecretSlice
    ) -> (sent: RequestSender.ValueSource, kept: RequestSender.ValueSource) {
        let owners = Dictionary(firstOf: steps.compactMap(\.variable).map { ($0.id, $0) })
        func owner(_ request: SyncRequest) -> Variable? {
            request.owner.flatMap { owners[$0.variable] }
        }
        return ({ try owner($0).map(sent) }, { try owner($0).map(kept) })
    }

    /// Sends the steps.
    ///
    /// - Returns: Their outcomes, or only the conflicts that were found before anything was sent.
    package func send(through sender: RequestSender) throws -> [PushOutcome] {
        let results = try PlatformError.unwrapping { try sender.send(requests) }
        return zip(steps, results).compactMap { step, result in
            result.map { PushOutcome(step, $0) }
        }
    }
}

extension PushPlan.Step {
    /// - Parameter planned: Vercel's records when the plan was made, by id.
    fileprivate func request(_ planned: [String: VercelRecord]) -> SyncRequest {
        let remote = variable?.remote
        func before(_ id: String) -> SyncRequest.Before {
            // What only makes room keeps its type.
            .init(
                id: id, updatedAt: planned[id]?.updatedAt,
                kind: variable == nil ? attributes.kind : remote?.agreed.kind)
        }
        let change: SyncRequest.Action =
            switch action {
            case .create: .create
            case .update(let id, let withValue): .change(before(id), withValue: withValue)
            case .delete(let id): .delete(before(id))
            }
        return SyncRequest(
            key: key, attributes: attributes, action: change,
            owner: variable.map { .init(variable: $0.id, version: $0.currentVersion) },
            // One that was never pushed and sends no value was found to be equal.
            hasKnownValue: variable.map {
                $0.currentVersion > 0
                    && (remote == nil || remote?.pushedVersion == $0.currentVersion)
            } ?? false,
            predecessor: remote.map { .init(id: $0.id, key: $0.key, attributes: $0.agreed) },
            waitsFor: successor)
    }
}
