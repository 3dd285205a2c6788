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
        self.step = step.updating(before.id, withValue: withValue)
    }

    package subscript<Member>(dynamicMember member: KeyPath<RequestOutcome, Member>) -> Member {
        result[keyPath: member]
    }

    /// Vercel's error if the step failed with one.
    package var error: VercelAPIError? {
        if case .failed(_, let error) = result.end { error?.cause } else { nil }
    }

    /// Creates the outcome of a variable that Vercel keeps sensitive.
    package static func keptSensitive(_ variable: Variable) -> PushOutcome {
        .leftOut(
            PushPlan.Step(
                variable: variable, key: variable.name, attributes: variable.attributes,
                action: .update(id: variable.remote?.id ?? "", withValue: true),
                agreed: variable.attributes.scope, waitsFor: [], hasKnownValue: false),
            "left out: Vercel does not make a sensitive variable readable")
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
        func before(_ id: String) -> SyncRequest.Before {
            let record = planned[id]
            return .init(
                id: id, updatedAt: record?.updatedAt,
                // What only makes room keeps its type.
                kind: variable == nil ? attributes.kind : record?.attributes.kind)
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
            hasKnownValue: hasKnownValue, agreed: agreed, waitsFor: waitsFor)
    }

    /// Returns the step as the change of a record.
    fileprivate func updating(_ id: String, withValue: Bool) -> PushPlan.Step {
        PushPlan.Step(
            variable: variable, key: key, attributes: attributes,
            action: .update(id: id, withValue: withValue), agreed: agreed, waitsFor: waitsFor,
            hasKnownValue: hasKnownValue)
    }
}
