package import VercelAPI

/// The records of a project as Vercel listed them less than a second ago.
///
/// Vercel has no conditional writes. Each write is checked against this list right before it is
/// sent, so that another user's change goes unnoticed only within that second (docs/sync.md).
package final class FreshListing {
    /// The age at which a listing is read again.
    package static let maximumAge: Duration = .seconds(1)

    private let client: VercelClient
    private let project: String
    private let environments: CustomEnvironmentNames
    /// The records of the last listing, regardless of age.
    package private(set) var last: ListedRecords = []
    private var recordsByID: [String: VercelRecord] = [:]
    private var hasListed = false
    /// When the listing was requested, and the client's pause count then; nil without a listing.
    private var readAt: (elapsed: Duration, pauseCount: Int)?
    /// Vercel's time of the newest listing, in milliseconds since 1970, rounded to the second; 0 if
    /// unknown.
    package private(set) var time: UInt64 = 0

    /// - Parameter project: Vercel's id of the project.
    package init(
        _ client: VercelClient, project: String, environments: CustomEnvironmentNames
    ) {
        self.client = client
        self.project = project
        self.environments = environments
    }

    /// Uses a listing that the caller has requested.
    ///
    /// - Parameters:
    ///   - elapsed: ``VercelClient/elapsed`` before the request.
    ///   - pauseCount: ``VercelClient/pauseCount`` before the request.
    package func take(
        _ variables: VariableList<EnvironmentVariable>, elapsed: Duration, pauseCount: Int
    ) {
        last = ListedRecords(variables, environments: environments)
        recordsByID = Dictionary(firstOf: last.map { ($0.id, $0) })
        hasListed = true
        readAt = (elapsed, pauseCount)
        time = client.lastDate
    }

    /// Marks the listing as stale, after a delay of unknown length or a change of a record.
    package func expire() { readAt = nil }

    /// Returns the records, listing them again if the listing is too old or precedes the client's
    /// last pause.
    ///
    /// - Throws: ``VercelAPIError/Code/forbidden`` if Vercel hides more than in the last listing, so
    ///   that nothing counts as removed that was only hidden since.
    package func current() throws(VercelAPIError) -> ListedRecords {
        if let readAt, client.elapsed - readAt.elapsed < Self.maximumAge,
            client.pauseCount == readAt.pauseCount
        {
            return last
        }
        let (elapsed, pauseCount) = (client.elapsed, client.pauseCount)
        let list = try client.environmentVariables(ofProject: project)
        let now = ListedRecords(list, environments: environments)
        guard !hasListed || now.hiddenProduction <= last.hiddenProduction else {
            throw VercelAPIError(
                .forbidden, reason: "\(now.hidingClause), more than a moment ago",
                hint: "use a token that has access to production variables")
        }
        take(list, elapsed: elapsed, pauseCount: pauseCount)
        return last
    }

    /// Returns the records by Vercel's ids.
    func currentByID() throws(VercelAPIError) -> [String: VercelRecord] {
        _ = try current()
        return recordsByID
    }
}
