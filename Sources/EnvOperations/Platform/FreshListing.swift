/// The records of a project as Vercel listed them less than a second ago.
///
/// Vercel has no conditional writes. Each write is checked against this list right before it is
/// sent, so that another user's change goes unnoticed only within that second (docs/sync.md).
package final class FreshListing {
    /// The age at which a listing is read again.
    package static let maximumAge: Duration = .seconds(1)

    private let platform: any SyncPlatform
    /// The records of the last listing, regardless of age.
    package private(set) var last: ListedRecords = []
    private var recordsByID: [String: VercelRecord] = [:]
    private var hasListed = false
    /// When the listing was requested, and the client's pause count then; nil without a listing.
    private var readAt: (elapsed: Duration, pauseCount: Int)?
    /// Vercel's time of the newest listing, in milliseconds since 1970, rounded to the second; 0 if
    /// unknown.
    package private(set) var time: UInt64 = 0

    package init(_ platform: any SyncPlatform) { self.platform = platform }

    /// Uses a listing that the caller has requested.
    ///
    /// - Parameters:
    ///   - elapsed: ``SyncPlatform/elapsed`` before the request.
    ///   - pauseCount: ``SyncPlatform/pauseCount`` before the request.
    package func take(_ records: ListedRecords, elapsed: Duration, pauseCount: Int) {
        last = records
        recordsByID = Dictionary(firstOf: last.map { ($0.id, $0) })
        hasListed = true
        readAt = (elapsed, pauseCount)
        time = platform.time
    }

    /// Marks the listing as stale, after a delay of unknown length or a change of a record.
    package func expire() { readAt = nil }

    /// Returns the records, listing them again if the listing is too old or precedes the last
    /// pause.
    ///
    /// - Throws: `PlatformError.init(hiding:)` if more is hidden than in the last listing, so that
    ///   nothing counts as removed that was only hidden since.
    package func current() throws(PlatformError) -> ListedRecords {
        if let readAt, platform.elapsed - readAt.elapsed < Self.maximumAge,
            platform.pauseCount == readAt.pauseCount
        {
            return last
        }
        let (elapsed, pauseCount) = (platform.elapsed, platform.pauseCount)
        let now = try platform.list()
        guard !hasListed || now.hiddenProduction <= last.hiddenProduction else {
            throw PlatformError(hiding: "\(now.hidingClause), more than a moment ago")
        }
        take(now, elapsed: elapsed, pauseCount: pauseCount)
        return last
    }

    /// Returns the records by Vercel's ids.
    func currentByID() throws(PlatformError) -> [String: VercelRecord] {
        _ = try current()
        return recordsByID
    }
}
