internal import Sealing

/// The accepted events, each with a copy sealed to every device that gets it.
///
/// A number belongs to one event, grows, and is never reused. An appended event stays until it is
/// too old, and devices get events in the order of their numbers.
package protocol EventLog: Sendable {
    /// Stores events with a copy for every registered device of their account: a device that joined
    /// at number N has a copy of every event above N.
    ///
    /// Implementations that read the devices before appending must check again for devices that
    /// joined meanwhile. Events are independent: one may fail while another is stored.
    ///
    /// - Returns: One outcome for each event, in order. After ``AppendOutcome/kept(number:)`` and
    ///   ``AppendOutcome/duplicate`` the event survives a power failure. After
    ///   ``AppendOutcome/failed(_:)`` it may or may not be stored; the sender retries.
    func append(_ events: [AcceptedEvent]) -> [AppendOutcome]

    /// Returns what devices get after their cursors, one answer for each request, in order.
    ///
    /// Requests are batched so that a store can fetch shared copies once.
    func read(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents]

    /// The newest number ever used; 0 before the first.
    func newest() throws(StoreError) -> Int64

    /// Deletes events beyond the store's ``StoreLimits``, acknowledged copies and expired invites.
    /// `now` is in milliseconds since 1970.
    func prune(now: Int64) throws(StoreError)
}

/// An event from a webhook, before it has a number.
package struct AcceptedEvent: Sendable {
    /// BLAKE2b-256 of account and id, to detect repeated events without storing the id.
    package let digest: [UInt8]
    package let account: String
    /// By the relay's clock, in milliseconds since 1970.
    package let acceptedAt: Int64
    /// The text to seal, `PostalEvent.sealedText`. Never stored in the clear.
    package let text: [UInt8]

    /// - Parameter id: Vercel's id of the event.
    package init(account: String, id: String, acceptedAt: Int64, text: [UInt8]) {
        digest = Array("zg-env-postal event\0\(account)\0\(id)".utf8)
            .withBytes { Digest.checksum($0) }
        (self.account, self.acceptedAt, self.text) = (account, acceptedAt, text)
    }

    /// Returns the text sealed to a device's key of 32 bytes, or nil for an invalid key, with which
    /// no device can join. All copies of an event have the same length.
    package func sealed(toKey publicKey: [UInt8]) -> [UInt8]? {
        try? text.withBytes { (text) throws(SealingError) in
            try SealedBox.seal(text, to: publicKey)
        }
    }
}

/// The result of ``EventLog/append(_:)`` for one event.
package enum AppendOutcome: Equatable, Sendable {
    /// It was stored under this number.
    case kept(number: Int64)
    /// It was already stored.
    case duplicate
    /// It could not be stored.
    case failed(StoreError)
}

/// A device's position, and how much it can take.
package struct ReadRequest: Equatable, Sendable {
    package var device: Device
    /// The last number that the device has.
    package var after: Int64
    /// Stop after the event that reaches this many bytes of sealed text; at least one is returned.
    package var byteLimit: Int

    package init(device: Device, after: Int64, byteLimit: Int) {
        (self.device, self.after, self.byteLimit) = (device, after, byteLimit)
    }
}

/// The next part of a device's events.
package struct DeviceEvents: Equatable, Sendable {
    /// The device's copy of one event.
    package struct Copy: Equatable, Sendable {
        package var number: Int64
        package var sealed: [UInt8]
    }

    /// Events above the request's number that are no longer stored; sent before the copies.
    package struct Missed: Equatable, Sendable {
        /// 0 if unknown.
        package var count: Int
        /// The last missing number.
        package var through: Int64

        package init(count: Int, through: Int64) { (self.count, self.through) = (count, through) }
    }

    package var missed: Missed?
    /// In the order of numbers, without gaps between those that are the device's.
    package var copies: [Copy]
    /// Where the next request continues: the last number that was checked for this device, also
    /// without a copy. At least the request's.
    package var through: Int64
    /// Whether there may already be more.
    package var hasMore: Bool

    package init(missed: Missed? = nil, copies: [Copy] = [], through: Int64, hasMore: Bool) {
        (self.missed, self.copies) = (missed, copies)
        (self.through, self.hasMore) = (through, hasMore)
    }
}
