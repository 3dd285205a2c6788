internal import EnvOperations

/// What was read of a project of the platform before a push is planned.
struct PlatformReading {
    /// The names of custom environments; empty where no variable is for one.
    let environments: CustomEnvironmentNames
    /// All its variables.
    let records: [PlatformRecord]
    /// The same variables, read again once they are a second old.
    let listing: FreshListing
    /// When they were asked for, by this machine's clock, in milliseconds since 1970.
    let listedAt: UInt64
    /// The platform's time then, in milliseconds since 1970.
    let platformTime: UInt64
}
