internal import EnvOperations

/// What was read of a project of the platform before a push is planned.
struct PlatformReading {
    /// The names of custom environments; empty where no variable is for one.
    let environments: CustomEnvironmentNames
    /// All its variables.
    let records: [PlatformRecord]
    /// When they were asked for, by this machine's clock, in milliseconds since 1970.
    let listedAt: UInt64
}
