internal import Vault
internal import VercelAPI

/// The requests that remove records, each only where nobody else changed it.
extension PushApplication {
    /// Deletes records in one request, as far as nobody else changed them. Which of them went is seen in
    /// the listing afterwards.
    func delete(_ steps: [Placed]) throws {
        if steps.contains(where: { $0.step.successor != nil }) { listing.expire() }
        var left = try steps.filter { try isDue($0) }
        guard !left.isEmpty else { return }
        try begin(left)
        while !left.isEmpty {
            do throws(VercelAPIError) {
                let ids = left.compactMap(\.step.remoteID)
                if ids.count == 1 {
                    _ = try client.deleteEnvironmentVariable(
                        ids[0], ofProject: project, check: check(left))
                } else {
                    _ = try client.deleteEnvironmentVariables(
                        ids, ofProject: project, check: check(left))
                }
                break
            } catch {
                if error.code == .notSent {
                    left = try unchanged(left, isSent: false)
                    continue
                }
                guard left.count == 1, let (place, step) = left.first else {
                    guard error.isRefusal else { throw error }
                    // One that is not there may be the cause.
                    for step in left { try delete([step]) }
                    return
                }
                // Gone is what was asked for, also where somebody else removed it.
                guard error.code == .notFound else { return try refused(step, at: place, error) }
                break
            }
        }
        for (place, step) in left {
            outcomes[place] = PushOutcome(step: step, end: .verified, record: nil)
        }
        keepSent(left.map(\.place))
    }

    /// Tells whether a record may go: the one that takes its place is there.
    private func isDue(_ placed: Placed) throws -> Bool {
        guard let successor = placed.step.successor else { return true }
        let made = outcomes.compactMap { $0 }.first {
            $0.step.variable?.id == successor && !$0.step.isDeletion
        }
        if let id = made?.record?.id, try listing.currentByID()[id] != nil { return true }
        outcomes[placed.place] = PushOutcome(
            step: placed.step,
            end: .failed("not deleted, because the variable under its new name is not there", nil),
            record: nil, isSent: false)
        return false
    }
}
