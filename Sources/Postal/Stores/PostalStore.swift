/// One store: what a relay keeps of events and devices, with what it tells of changes.
///
/// All functions may be called by several threads at once and may block for as long as the disk or the
/// network takes. A relay keeps no state of its own beside it: what two relays have in common is what
/// their store says.
package protocol PostalStore: EventLog, Register {
    /// Calls `observer` with every change from now on, also of other processes, within a second; on a
    /// thread of the store's own, which it must not hold up. A second call replaces the first.
    func observe(_ observer: @escaping @Sendable (StoreChange) -> Void)

    /// Tells other relays that a stream of `device` began at the relay `relay`, so that they end theirs.
    /// A store of one relay alone has nothing to do.
    func announceStream(of device: String, at relay: String)

    /// Tries whether the store takes and gives: writes something and waits until it is durable.
    func check() throws(StoreError)

    /// Figures for `status` and `/metrics`.
    func status() throws(StoreError) -> StoreStatus

    /// What whoever runs it has to know of this store, in one sentence; nil for nothing.
    var warning: String? { get }

    /// Ends observing and lets go of everything. Nothing may be called afterwards.
    func close()
}

extension PostalStore {
    package var warning: String? { nil }
}

/// What became different in a store.
package enum StoreChange: Equatable, Sendable {
    /// There are new events of these accounts.
    case events(accounts: Set<String>)
    /// These devices are none any more.
    case removed(devices: [String])
    /// A stream of `device` began at the relay `relay`.
    case streamBegan(device: String, relay: String)
    /// Anything may have changed, as after a connection that was lost.
    case anything
}

/// Figures of a store.
package struct StoreStatus: Equatable, Sendable {
    /// Registered devices.
    package var devices: Int
    /// Invites that can still be used.
    package var invites: Int
    /// Events that are kept.
    package var events: Int
    /// The newest number there ever was; 0 before the first.
    package var newest: Int64
    /// Bytes that the store takes, where it knows.
    package var byteCount: Int64?
    /// On how many servers everything is; nil where a store has none.
    package var replicas: Replicas?

    /// Copies of a whole store on several servers.
    package struct Replicas: Equatable, Sendable {
        /// Servers that are to have everything.
        package var count: Int
        /// Servers of these that have it now.
        package var current: Int
        /// How many there would be if there were servers enough.
        package var wanted: Int

        package init(count: Int, current: Int, wanted: Int) {
            (self.count, self.current, self.wanted) = (count, current, wanted)
        }
    }

    package init(devices: Int, invites: Int, events: Int, newest: Int64, byteCount: Int64?) {
        (self.devices, self.invites, self.events) = (devices, invites, events)
        (self.newest, self.byteCount) = (newest, byteCount)
    }
}

/// How long and how much a store keeps.
package struct StoreLimits: Equatable, Sendable {
    /// How long an event is kept after it was accepted, in milliseconds.
    package var keptMilliseconds: Int64 = 7 * 24 * 3_600_000
    /// Most events that wait for one device.
    package var eventsOfDevice = 1_000

    package init() {}
}
