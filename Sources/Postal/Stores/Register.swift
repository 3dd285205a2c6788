internal import PostalProtocol
internal import Sealing

/// Devices, and the invites by which they join.
package protocol Register: Sendable {
    /// Keeps an invite until it is used or expired.
    func add(_ invite: Invite) throws(StoreError)

    /// Uses an invite for a new device, in one step: of any number of devices with the same code, also
    /// at several relays, at most one joins. A stop in the middle may use up the invite, never twice.
    ///
    /// - Returns: The device with the number it begins after, or nil where the code is unknown, used or
    ///   expired at `now`.
    func redeem(
        inviteDigest: [UInt8], id: String, tokenDigest: [UInt8], publicKey: [UInt8], now: Int64
    ) throws(StoreError) -> Device?

    /// The device of that id; nil where there is none, also at once after its removal.
    func device(id: String) throws(StoreError) -> Device?

    /// All devices, in the order in which they joined.
    func devices() throws(StoreError) -> [Device]

    /// Forgets a device and what is kept for it.
    ///
    /// - Returns: Whether it was there.
    func removeDevice(id: String) throws(StoreError) -> Bool

    /// Keeps what devices have had. A number that is smaller than the device's before changes nothing,
    /// and neither does a device that is not there.
    func acknowledge(_ numbers: [String: Int64]) throws(StoreError)
}

/// A registered device.
package struct Device: Equatable, Sendable {
    /// Its name; ``DeviceToken`` makes it of the token, so that one look-up finds both.
    package var id: String
    /// BLAKE2b-256 of its token.
    package var tokenDigest: [UInt8]
    /// The X25519 key that its copies are sealed to.
    package var publicKey: [UInt8]
    /// Whose events it gets; these do not change.
    package var accounts: [String]
    /// In milliseconds since 1970.
    package var joinedAt: Int64
    /// Events after this number are its own.
    package var start: Int64
    /// The last number it said to have had; at least ``start``.
    package var acknowledged: Int64

    package init(
        id: String, tokenDigest: [UInt8], publicKey: [UInt8], accounts: [String], joinedAt: Int64,
        start: Int64, acknowledged: Int64
    ) {
        (self.id, self.tokenDigest, self.publicKey) = (id, tokenDigest, publicKey)
        (self.accounts, self.joinedAt) = (accounts, joinedAt)
        (self.start, self.acknowledged) = (start, acknowledged)
    }
}

/// An invite as it is kept: the code's digest, and what it is good for.
package struct Invite: Equatable, Sendable {
    /// BLAKE2b-256 of the code's 20 signs.
    package var digest: [UInt8]
    package var accounts: [String]
    /// In milliseconds since 1970; from then on nobody can use it.
    package var expiresAt: Int64

    package init(digest: [UInt8], accounts: [String], expiresAt: Int64) {
        (self.digest, self.accounts, self.expiresAt) = (digest, accounts, expiresAt)
    }

    /// What is kept of a code.
    static func digest(of code: InviteCode) -> [UInt8] {
        code.signs.withBytes { Digest.checksum($0) }
    }
}
