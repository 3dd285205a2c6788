internal import EnvOperations

/// The state of a project on Vercel, read before a push is planned.
struct VercelReading {
    /// The names of custom environments; empty if no variable applies to one.
    let environments: CustomEnvironmentNames
    let records: [VercelRecord]
    /// The same variables, read again once older than a second.
    let listing: FreshListing
    /// The time of the request by this machine's clock, in milliseconds since 1970.
    let listedAt: UInt64
    /// Vercel's time then, in milliseconds since 1970.
    let vercelTime: UInt64
}
