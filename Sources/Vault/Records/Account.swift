package import Sealing

/// A Vercel account and its token, which is never converted to a string here.
package struct Account {
    /// How the token is protected.
    package enum Protection: UInt8, Sendable {
        /// Readable with the index key.
        case index = 1
        /// Sealed to the vault's public key: readable with the values only (`login --protect`).
        case values = 2

        static func decode(from reader: inout ByteReader) throws(VaultError) -> Protection {
            guard let protection = Protection(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "a token has an unknown protection type")
            }
            return protection
        }
    }

    /// The name for people, unique in a vault.
    package var name: String
    /// The only origin that may receive the token, such as "https://api.vercel.com".
    package var origin: String
    /// The user's id on Vercel.
    package var userID: String
    /// The user's name on Vercel, for display.
    package var username: String
    /// The Vercel id of the team that commands use without `--team`.
    package var teamID: String?
    /// That team's slug, for display.
    package var teamSlug: String?
    /// Whether commands use this account by default.
    package var isDefault: Bool
    /// Milliseconds since 1970.
    package var createdAt: UInt64
    /// The token's expiry, in milliseconds since 1970; 0 if unknown or never.
    package var expiresAt: UInt64
    package var protection: Protection
    /// The token, or the sealed box that contains it.
    package var secret: SecretSlice

    package init(
        name: String, origin: String, userID: String, username: String, teamID: String? = nil,
        teamSlug: String? = nil, isDefault: Bool, createdAt: UInt64, expiresAt: UInt64 = 0,
        protection: Protection = .index, secret: SecretSlice
    ) {
        self.name = name
        self.origin = origin
        self.userID = userID
        self.username = username
        self.teamID = teamID
        self.teamSlug = teamSlug
        self.isDefault = isDefault
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.protection = protection
        self.secret = secret
    }

    /// Writes everything up to the secret's u32 length; the secret's bytes must follow.
    func encodeFront(into writer: inout ByteWriter) {
        writer.text(name)
        writer.text(origin)
        writer.text(userID)
        writer.text(username)
        writer.optionalText(teamID)
        writer.optionalText(teamSlug)
        writer.flag(isDefault)
        writer.uint64(createdAt)
        writer.uint64(expiresAt)
        writer.byte(protection.rawValue)
        writer.uint32(UInt32(secret.count))
    }

    /// - Parameter index: The opened index; the secret refers to a part of it.
    static func decode(
        from reader: inout ByteReader, in index: SecretSlice
    ) throws(VaultError) -> Account {
        let limit = VaultFormat.textLimit
        let name = try reader.text(limit: VaultFormat.nameLimit)
        let origin = try reader.text(limit: limit)
        let userID = try reader.text(limit: limit)
        let username = try reader.text(limit: limit)
        let teamID = try reader.optionalText(limit: limit)
        let teamSlug = try reader.optionalText(limit: limit)
        let isDefault = try reader.flag()
        let createdAt = try reader.uint64()
        let expiresAt = try reader.uint64()
        let protection = try Protection.decode(from: &reader)
        let count = Int(try reader.uint32())
        let start = reader.offset
        guard count <= 64 << 10 else { throw VaultError(damaged: .bounds, "a token is too long") }
        _ = try reader.section(count)
        return Account(
            name: name, origin: origin, userID: userID, username: username, teamID: teamID,
            teamSlug: teamSlug, isDefault: isDefault, createdAt: createdAt, expiresAt: expiresAt,
            protection: protection, secret: index.part(start..<start + count))
    }
}
