internal import Vault

/// Explains creations that failed because of an existing variable.
extension RequestSender {
    /// Adds the author of the existing variable to creations that failed because of it.
    func explainExistingVariables() {
        let places = outcomes.indices.filter { place in
            guard let outcome = outcomes[place], case .create = outcome.request.action,
                case .failed(_, let error?) = outcome.end
            else { return false }
            return error.isExisting
        }
        listing.expire()
        guard !places.isEmpty, let now = try? listing.current() else { return }
        for place in places {
            guard let step = outcomes[place]?.request,
                let record = now.first(where: {
                    traits.isSameName($0.key, step.key)
                        && $0.attributes.scope.overlaps(step.attributes.scope)
                })
            else {
                if !now.isComplete, let step = outcomes[place]?.request {
                    outcomes[place]?.end = .failed(
                        "Vercel already has a variable of that name for \(step.attributes.scope.description), and hides it from this token",
                        PlatformError(hiding: now.hidingClause))
                    outcomes[place]?.isSent = false
                }
                continue
            }
            // It is not new: the step that was to make room for this one failed.
            if let planned = planned[record.id], planned.updatedAt == record.updatedAt {
                outcomes[place]?.end = .failed(
                    "Vercel's variable for \(record.attributes.scope.description) should have given up this target first, but was not changed",
                    nil)
                outcomes[place]?.isSent = false
                continue
            }
            let who = record.phrase(for: record.author, as: origin.author)
            outcomes[place]?.end = .conflict(
                "a variable for \(record.attributes.scope.description) was created on Vercel while the command was running\(who)"
            )
            outcomes[place]?.isSent = false
            outcomes[place]?.way = .init(record, sendsValue: true)
        }
    }
}
