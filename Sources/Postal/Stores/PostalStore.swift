/// A store of events and devices, which also reports changes.
///
/// All functions may be called by several threads at once and may block on disk or network. Relays
/// share no state outside the store.
package protocol PostalStore: EventLog, Register {
    /// Calls `observer` with every change from now on, also by other processes, within a second. It
    /// runs on a thread of the store and must not block. A second call replaces the observer.
    func observe(_ observer: @escaping @Sendable (StoreChange) -> Void)

    /// Announces to other relays that a stream of `device` began at `relay`, so that they end
    /// theirs. Does nothing in a store for one relay.
    func announceStream(of device: String, at relay: String)

    /// Checks that the store works: writes something and waits until it is durable.
    func check() throws(StoreError)

    func status() throws(StoreError) -> StoreStatus

    /// A warning for the administrator, in one sentence.
    var warning: String? { get }

    /// Stops observing and releases everything. Nothing may be called afterwards.
    func close()
}

extension PostalStore {
    package var warning: String? { nil }
}

/// A change of a store.
package enum StoreChange: Equatable, Sendable {
    /// There are new events of these accounts.
    case events(accounts: Set<String>)
    /// These devices were removed.
    case removed(devices: [String])
    /// A stream of `device` began at the relay `relay`.
    case streamBegan(device: String, relay: String)
    /// Anything may have changed, for example after a lost connection.
    case anything
}

package struct StoreStatus: Equatable, Sendable {
    package var devices: Int
    /// Invites that can still be used.
    package var invites: Int
    package var events: Int
    /// The newest number ever used; 0 before the first.
    package var newest: Int64
    /// The store's size, if known.
    package var byteCount: Int64?
    /// The replication; nil for a store without replicas.
    package var replicas: Replicas?

    /// Copies of a whole store on several servers.
    package struct Replicas: Equatable, Sendable {
        /// Servers that should have everything.
        package var count: Int
        /// Servers that have everything.
        package var current: Int
        /// The number to use if there are enough servers.
        package var wanted: Int
    }
}

/// How long and how many events a store keeps.
package struct StoreLimits: Equatable, Sendable {
    /// How long an event is kept after it was accepted, in milliseconds.
    package var keptMilliseconds: Int64 = 7 * 24 * 3_600_000
    /// Most events that wait for one device.
    package var eventsOfDevice = 1_000

    package init() {}
}
