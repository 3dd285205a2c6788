/// What a process observes of its environment at one moment: the clocks, files that other processes
/// change, and the network.
package struct RefreshObservation: Equatable, Sendable {
    /// Identifies one state of a file or directory.
    package struct FileMark: Equatable, Sendable {
        package let device: UInt64
        /// The inode number. A replaced file has a different one.
        package let inode: UInt64
        /// When the content was changed, in nanoseconds since 1970.
        package let changedAt: Int64

        package init(device: UInt64, inode: UInt64, changedAt: Int64) {
            self.device = device
            self.inode = inode
            self.changedAt = changedAt
        }
    }

    /// `CLOCK_MONOTONIC`, which stops while the machine sleeps.
    package var monotonic: Duration
    /// `CLOCK_BOOTTIME`, which continues while the machine sleeps.
    package var sinceBoot: Duration
    /// `CLOCK_REALTIME` in milliseconds since 1970, which may be set.
    package var wallMilliseconds: Int64
    /// The vault file; nil if it does not exist.
    package var vault: FileMark?
    /// The directory of the response cache; nil if it does not exist.
    package var answers: FileMark?
    /// Whether a network is up; nil if unknown.
    package var hasNetwork: Bool?

    package init(
        monotonic: Duration, sinceBoot: Duration, wallMilliseconds: Int64,
        vault: FileMark? = nil, answers: FileMark? = nil, hasNetwork: Bool? = nil
    ) {
        self.monotonic = monotonic
        self.sinceBoot = sinceBoot
        self.wallMilliseconds = wallMilliseconds
        self.vault = vault
        self.answers = answers
        self.hasNetwork = hasNetwork
    }
}
