/// What a process saw of its surroundings at one moment: the clocks, the files that other processes
/// change, and whether there is a network.
package struct RefreshObservation: Equatable, Sendable {
    /// Tells one state of a file or directory from another.
    package struct FileMark: Equatable, Sendable {
        /// Its device.
        package let device: UInt64
        /// Its number there; a file that was replaced has another one.
        package let inode: UInt64
        /// When its content was changed, in nanoseconds since 1970.
        package let changedAt: Int64

        /// Names all parts.
        package init(device: UInt64, inode: UInt64, changedAt: Int64) {
            self.device = device
            self.inode = inode
            self.changedAt = changedAt
        }
    }

    /// `CLOCK_MONOTONIC`: stands still while the machine sleeps.
    package var monotonic: Duration
    /// `CLOCK_BOOTTIME`: goes on while the machine sleeps.
    package var sinceBoot: Duration
    /// `CLOCK_REALTIME`: milliseconds since 1970; may be set.
    package var wallMilliseconds: Int64
    /// The vault's file; nil where there is none.
    package var vault: FileMark?
    /// The directory of kept answers; nil where there is none.
    package var answers: FileMark?
    /// Whether a network is up; nil where that is not known.
    package var hasNetwork: Bool?

    /// Names all parts.
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
