package import VercelAPI

/// The records of a project as Vercel listed them less than a second ago.
///
/// Vercel has no conditional write. What is written is held against this right before it is sent, so that
/// a change by somebody else goes unseen only within that second (docs/sync.md).
package final class FreshListing {
    /// A listing older than this is made again.
    package static let maximumAge: Duration = .seconds(1)

    private let client: VercelClient
    private let project: String
    private let environments: CustomEnvironmentNames
    /// The records of the last listing, however old it is.
    package private(set) var last: [PlatformRecord] = []
    private var recordsByID: [String: PlatformRecord] = [:]
    /// When the listing was asked for, and how often the client had paused by then; nil for none.
    private var readAt: (elapsed: Duration, pauseCount: Int)?
    /// Vercel's time of the newest listing, in milliseconds since 1970, to the second; 0 where it did
    /// not say.
    package private(set) var time: UInt64 = 0

    /// - Parameter project: Vercel's id of the project.
    package init(
        _ client: VercelClient, project: String, environments: CustomEnvironmentNames
    ) {
        self.client = client
        self.project = project
        self.environments = environments
    }

    /// Takes a listing that the caller has asked for.
    ///
    /// - Parameters:
    ///   - elapsed: ``VercelClient/elapsed`` before it was asked for.
    ///   - pauseCount: ``VercelClient/pauseCount`` then.
    package func take(
        _ variables: [EnvironmentVariable], elapsed: Duration, pauseCount: Int
    ) {
        last = variables.map { PlatformRecord($0, environments: environments) }
        recordsByID = Dictionary(
            last.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        readAt = (elapsed, pauseCount)
        time = client.lastDate
    }

    /// Forgets the listing: something happened since that took an unknown time, or changed a record.
    package func expire() { readAt = nil }

    /// The records, listed again where the last listing is too old, or was made before the client's last
    /// pause.
    package func current() throws(VercelAPIError) -> [PlatformRecord] {
        if let readAt, client.elapsed - readAt.elapsed < Self.maximumAge,
            client.pauseCount == readAt.pauseCount
        {
            return last
        }
        let (elapsed, pauseCount) = (client.elapsed, client.pauseCount)
        take(
            try client.environmentVariables(ofProject: project), elapsed: elapsed,
            pauseCount: pauseCount)
        return last
    }

    /// The same records by Vercel's ids.
    func currentByID() throws(VercelAPIError) -> [String: PlatformRecord] {
        _ = try current()
        return recordsByID
    }
}
