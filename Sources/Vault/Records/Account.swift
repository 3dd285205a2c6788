package import Sealing

/// An account of the platform and the token that opens it. The token never becomes text here.
package struct Account {
    /// How the token is kept.
    package enum Protection: UInt8, Sendable {
        /// Readable with the index key.
        case index = 1
        /// Sealed to the vault's public key: readable with the values only (`login --protect`).
        case values = 2

        static func decode(from reader: inout ByteReader) throws(VaultError) -> Protection {
            guard let protection = Protection(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "a token is kept in an unknown way")
            }
            return protection
        }
    }

    /// What people call it; one in a vault.
    package var name: String
    /// The only origin the token may be sent to, such as "https://api.vercel.com".
    package var origin: String
    /// The platform's id of the user.
    package var userID: String
    /// The platform's name of the user, for people.
    package var username: String
    /// The team that commands use without `--team`: the platform's id.
    package var teamID: String?
    /// That team's slug, for people.
    package var teamSlug: String?
    /// Tells which account is used where none is named.
    package var isDefault: Bool
    /// Milliseconds since 1970.
    package var createdAt: UInt64
    /// When the token ends, in milliseconds since 1970; 0 when unknown or never.
    package var expiresAt: UInt64
    /// How the token is kept.
    package var protection: Protection
    /// The token, or the box that holds it.
    package var secret: SecretSlice

    /// Names all parts.
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

    /// Writes everything but the secret's bytes, which follow as u32 length and bytes.
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

    /// - Parameter index: The opened index, of which the secret stays a part.
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
