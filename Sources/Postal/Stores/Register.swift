internal import PostalProtocol
internal import Sealing

/// The devices, and the invites by which they join.
package protocol Register: Sendable {
    /// Stores an invite until it is used or expires.
    func add(_ invite: Invite) throws(StoreError)

    /// Uses an invite for a new device in one step: at most one device joins with a code, also
    /// across relays. A crash in between may use up the invite, but never uses it twice.
    ///
    /// - Returns: The device with the number it begins after, or nil if the code is unknown, used
    ///   or expired at `now`.
    func redeem(
        inviteDigest: [UInt8], id: String, tokenDigest: [UInt8], publicKey: [UInt8], now: Int64
    ) throws(StoreError) -> Device?

    /// Returns the device, or nil if it does not exist; a removal is visible at once.
    func device(id: String) throws(StoreError) -> Device?

    /// All devices, in the order in which they joined.
    func devices() throws(StoreError) -> [Device]

    /// Removes a device and its copies. Returns whether it existed.
    func removeDevice(id: String) throws(StoreError) -> Bool

    /// Stores what devices have received. Smaller numbers than before and unknown devices are
    /// ignored.
    func acknowledge(_ numbers: [String: Int64]) throws(StoreError)
}

/// A registered device.
package struct Device: Equatable, Sendable {
    /// Derived from the token by ``DeviceToken``, so that one lookup finds both.
    package var id: String
    /// BLAKE2b-256 of its token.
    package var tokenDigest: [UInt8]
    /// The X25519 key that its copies are sealed to.
    package var publicKey: [UInt8]
    /// The accounts whose events it gets; they never change.
    package var accounts: [String]
    /// In milliseconds since 1970.
    package var joinedAt: Int64
    /// The device gets events after this number.
    package var start: Int64
    /// The last number it acknowledged; at least ``start``.
    package var acknowledged: Int64
}

/// A stored invite.
package struct Invite: Equatable, Sendable {
    /// BLAKE2b-256 of the code's 20 characters.
    package var digest: [UInt8]
    package var accounts: [String]
    /// In milliseconds since 1970, exclusive.
    package var expiresAt: Int64

    package init(digest: [UInt8], accounts: [String], expiresAt: Int64) {
        (self.digest, self.accounts, self.expiresAt) = (digest, accounts, expiresAt)
    }

    /// Returns the digest that is stored for a code.
    static func digest(of code: InviteCode) -> [UInt8] {
        code.signs.withBytes { Digest.checksum($0) }
    }
}
