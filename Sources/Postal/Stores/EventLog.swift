internal import Sealing

/// The events that were accepted, each with a copy sealed to every device that is to get it.
///
/// A number belongs to one event, grows, and is never used again. What `append` numbered stays until
/// it is too old, and is handed to its devices in the order of the numbers.
package protocol EventLog: Sendable {
    /// Keeps events, each with a copy for every device of its account that is registered by then: a
    /// device that was given the number N when it joined has a copy of every event above N.
    ///
    /// Whoever reads the devices first and appends afterwards has to look again for those that joined
    /// meanwhile. The events are independent: one may fail where another is kept.
    ///
    /// - Returns: One outcome for each event, in order. With ``AppendOutcome/kept(number:)`` and
    ///   ``AppendOutcome/duplicate`` the event survives a power cut from here on. With
    ///   ``AppendOutcome/failed(_:)`` it may or may not be there; the sender tries again.
    func append(_ events: [AcceptedEvent]) -> [AppendOutcome]

    /// What devices are to get after their cursors, one answer for each request, in order.
    ///
    /// Requests come together so that a store which keeps many copies in one place fetches it once.
    func read(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents]

    /// The newest number there ever was; 0 before the first.
    func newest() throws(StoreError) -> Int64

    /// Forgets what is too old or too much by the store's ``StoreLimits``, what its device has
    /// acknowledged, and invites that expired. `now` is in milliseconds since 1970.
    func prune(now: Int64) throws(StoreError)
}

/// An event that a webhook brought, before it has a number.
package struct AcceptedEvent: Sendable {
    /// BLAKE2b-256 of account and id: the same for an event that comes again, and no way back.
    package let digest: [UInt8]
    /// Whose devices get it.
    package let account: String
    /// By the relay's clock, in milliseconds since 1970.
    package let acceptedAt: Int64
    /// What is to be sealed: `PostalEvent.sealedText`. Never kept in clear.
    package let text: [UInt8]

    /// - Parameter id: The platform's id of the event.
    package init(account: String, id: String, acceptedAt: Int64, text: [UInt8]) {
        digest = Array("zg-env-postal event\0\(account)\0\(id)".utf8)
            .withBytes { Digest.checksum($0) }
        (self.account, self.acceptedAt, self.text) = (account, acceptedAt, text)
    }

    /// The copy for one device: the event's text, sealed to the device's key of 32 bytes. All copies of
    /// an event have the same length. nil for a key that nothing can be sealed to; no device joins with
    /// one.
    package func sealed(toKey publicKey: [UInt8]) -> [UInt8]? {
        try? text.withBytes { (text) throws(SealingError) in
            try SealedBox.seal(text, to: publicKey)
        }
    }
}

/// What became of one event in ``EventLog/append(_:)``.
package enum AppendOutcome: Equatable, Sendable {
    /// It is kept under this number.
    case kept(number: Int64)
    /// It was kept before.
    case duplicate
    /// It could not be kept.
    case failed(StoreError)
}

/// Where a device is, and how much it takes now.
package struct ReadRequest: Equatable, Sendable {
    /// The device, with its accounts.
    package var device: Device
    /// The last number it had.
    package var after: Int64
    /// Stop after the event with which so many bytes of sealed text are reached; one is always given.
    package var byteLimit: Int

    package init(device: Device, after: Int64, byteLimit: Int) {
        (self.device, self.after, self.byteLimit) = (device, after, byteLimit)
    }
}

/// A part of what a device is to get.
package struct DeviceEvents: Equatable, Sendable {
    /// One event's copy for the device.
    package struct Copy: Equatable, Sendable {
        package var number: Int64
        package var sealed: [UInt8]

        package init(number: Int64, sealed: [UInt8]) {
            (self.number, self.sealed) = (number, sealed)
        }
    }

    /// Events above the request's number that are not kept any more, told before the copies.
    package struct Missed: Equatable, Sendable {
        /// How many; 0 where that is not known.
        package var count: Int
        /// The last number that is covered by it.
        package var through: Int64

        package init(count: Int, through: Int64) { (self.count, self.through) = (count, through) }
    }

    package var missed: Missed?
    /// In the order of numbers, without gaps between those that are the device's.
    package var copies: [Copy]
    /// Where the next request goes on: the last number that was looked at for this device, also where
    /// no copy was found. Never smaller than the request's.
    package var through: Int64
    /// Whether there may be more already.
    package var hasMore: Bool

    package init(missed: Missed? = nil, copies: [Copy] = [], through: Int64, hasMore: Bool) {
        (self.missed, self.copies) = (missed, copies)
        (self.through, self.hasMore) = (through, hasMore)
    }
}
