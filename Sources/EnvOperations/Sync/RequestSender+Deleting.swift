internal import Vault

/// Deletes records that nobody else has changed.
extension RequestSender {
    /// Deletes records in one request, except those that another user changed. The listing
    /// afterwards shows which of them are gone.
    func delete(_ steps: [Placed]) throws {
        if steps.contains(where: { !$0.step.waitsFor.isEmpty }) { listing.expire() }
        var left = try steps.filter { try isDue($0) }
        guard !left.isEmpty else { return }
        try begin(left)
        while !left.isEmpty {
            do throws(PlatformError) {
                try platform.delete(left.compactMap(\.step.recordID), check: check(left))
                break
            } catch {
                if error.code == .notSent {
                    left = try unchanged(left, isSent: false)
                    continue
                }
                guard left.count == 1, let (place, step) = left.first else {
                    guard error.isRefusal else { throw error }
                    // A missing record may be the cause.
                    for step in left { try delete([step]) }
                    return
                }
                // Not found is success, even if another user deleted it.
                guard error.code == .notFound else { return try refused(step, at: place, error) }
                break
            }
        }
        for (place, step) in left {
            outcomes[place] = RequestOutcome(request: step, end: .verified, record: nil)
        }
        recordSent(left.map(\.place))
    }

    /// Returns whether a record may be deleted, because what has its value under a new name exists.
    private func isDue(_ placed: Placed) throws -> Bool {
        let made = outcomes.compactMap(\.self).filter {
            placed.step.waitsFor.contains($0.request.key) && !$0.request.isDeletion
        }
        let isThere = try made.allSatisfy { outcome in
            guard let id = outcome.record?.id else { return false }
            return try listing.currentByID()[id] != nil
        }
        if isThere { return true }
        outcomes[placed.place] = RequestOutcome(
            request: placed.step,
            end: .failed(
                "not deleted, because the variable does not exist under its new name", nil),
            record: nil, isSent: false)
        return false
    }
}
