internal import Sealing
internal import Vault
internal import VercelAPI

/// Proving that what was sent arrived.
extension PushApplication {
    /// Looks at every record that was written: is it there, with that scope and type, and with that
    /// value where the platform shows it; and is every deleted one gone.
    func readBack(_ places: [Int]) throws {
        guard !places.isEmpty else { return }
        let now: [PlatformRecord]
        let arena = SecretArena()
        let read: [Result<SecretSlice?, VercelAPIError>]
        let readable = places.filter { outcomes[$0]?.isReadable ?? false }
        do {
            now = try listed()
            read = try PlatformValues(client, project: project).read(
                readable.compactMap { outcomes[$0]?.record }, into: arena, trustsEmpty: true,
                isExpected: { number, value in self.isSent(value, at: readable[number]) })
        } catch {
            for place in places {
                outcomes[place]?.end = .failed(
                    "sent, but it could not be read back: \(error.description)", error)
            }
            return
        }
        let found = Dictionary(now.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let answers = Dictionary(uniqueKeysWithValues: zip(readable, read))
        for place in places {
            guard let outcome = outcomes[place] else { continue }
            outcomes[place]?.end = try judge(outcome, found: found, answer: answers[place])
            if let id = outcome.record?.id { outcomes[place]?.record = found[id] }
            if case .delete(let id) = outcome.step.action, found[id] == nil { endDeletion(of: id) }
        }
        end([], places.compactMap { outcomes[$0]?.proved })
        try flush()
    }

    /// Tells whether a value is the one that was sent. Where that cannot be told it is looked at
    /// again.
    private func isSent(_ value: SecretSlice, at place: Int) -> Bool {
        guard let variable = outcomes[place]?.step.variable, let sent = try? values(variable)
        else { return false }
        return sent.withBytes { sent in value.withBytes { sent.isEqualInConstantTime(to: $0) } }
    }

    private func judge(
        _ outcome: PushOutcome, found: [String: PlatformRecord],
        answer: Result<SecretSlice?, VercelAPIError>?
    ) throws -> PushOutcome.End {
        if case .delete(let id) = outcome.step.action {
            return found[id] == nil ? .verified : .failed("it is still on the platform", nil)
        }
        guard let record = outcome.record.flatMap({ found[$0.id] }) else {
            return .failed("the platform does not have it", nil)
        }
        let wanted = outcome.step.attributes
        guard record.key == outcome.step.key else {
            return .failed("the platform has it under the name \(record.key)", nil)
        }
        guard record.attributes.scope == wanted.scope else {
            return .failed(
                "the platform has it for \(record.attributes.scope.description) only", nil)
        }
        guard record.attributes.kind == wanted.kind else {
            return .failed(
                "the platform made it \(record.attributes.kind.name) instead of \(wanted.kind.name)",
                nil)
        }
        guard outcome.step.sendsValue else { return .verified }
        return try judgeValue(outcome, answer)
    }

    private func judgeValue(
        _ outcome: PushOutcome, _ answer: Result<SecretSlice?, VercelAPIError>?
    ) throws -> PushOutcome.End {
        guard let variable = outcome.step.variable, outcome.isReadable else {
            return .unverified("sent, cannot be read back")
        }
        switch answer {
        case .success(let read):
            guard let value = read else { return .unverified("sent, cannot be read back") }
            let sent = try values(variable)
            let isEqual = sent.withBytes { sent in
                value.withBytes { sent.isEqualInConstantTime(to: $0) }
            }
            return isEqual
                ? .verified
                : .failed(
                    value.count == 0
                        ? "the platform stored an empty value" : "the platform holds another value",
                    nil)
        case .failure(let error):
            return .failed("sent, but it could not be read back: \(error.description)", error)
        case nil: return .unverified("sent, cannot be read back")
        }
    }
}

extension PushOutcome {
    /// Tells whether the step was not done.
    package var isFailed: Bool {
        if case .failed = end { true } else { false }
    }

    /// Tells whether it is done as far as is known.
    var isVerified: Bool {
        if case .verified = end { true } else { false }
    }

    /// Tells whether the platform shows the value that was sent.
    fileprivate var isReadable: Bool {
        record != nil && step.attributes.kind != .sensitive && step.sendsValue
    }

    /// What the vault is to know after reading back; nil where it knows that already.
    fileprivate var proved: PushRecord? {
        guard let variable = step.variable else { return nil }
        if case .delete = step.action {
            return isVerified ? PushRecord(variable: variable.id, knowledge: .gone) : nil
        }
        guard let record else { return nil }
        switch end {
        case .verified, .unverified:
            return PushRecord(
                variable: variable.id,
                knowledge: .agreed(
                    record, version: step.sendsValue ? variable.currentVersion : nil,
                    attributes: step.attributes))
        case .failed(_, nil) where isPresumed:
            // Somebody else's after all, and the next push is to say so.
            return PushRecord(variable: variable.id, knowledge: .gone)
        case .failed(_, nil):
            // Not agreed: the next push sends it again.
            return PushRecord(
                variable: variable.id,
                knowledge: .agreed(
                    record, version: step.sendsValue ? 0 : nil, attributes: record.attributes))
        case .failed(_, .some): return nil
        }
    }
}
