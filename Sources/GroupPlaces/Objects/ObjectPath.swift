package import Groups
internal import SystemFiles
package import Vault

/// Where an object of a group lies in a place: section 7 of `docs/group-format.md`.
package enum ObjectPath: Hashable, Sendable {
    /// The entry with this number, from 1 to 9,999,999,999.
    case entry(UInt64)
    /// An entry that lost the race for its number, with its hash.
    case losingEntry(UInt64, GroupHash)
    /// The change with this hash.
    case change(GroupHash)
    /// The invite with this id.
    case invite(Identifier)
    /// A join for an invite, with the hash of the join.
    case join(invite: Identifier, GroupHash)

    /// The largest number with ten decimal digits.
    package static let largestNumber: UInt64 = 9_999_999_999
    /// The folders of a group that contain objects.
    package static let folders = ["changes", "entries", "invites", "joins"]

    /// The path, with slashes and without one at the start.
    package var text: String {
        switch self {
        case .entry(let number): "entries/\(Self.digits(number))"
        case .losingEntry(let number, let hash):
            "entries/\(Self.digits(number))-\(hash.hexadecimal)"
        case .change(let hash):
            "changes/\(hash.hexadecimal.prefix(2))/\(hash.hexadecimal.dropFirst(2))"
        case .invite(let invite): "invites/\(invite.hexadecimal)"
        case .join(let invite, let hash): "joins/\(invite.hexadecimal)/\(hash.hexadecimal)"
        }
    }

    /// Parses a path. Returns nil for everything that ``text`` does not produce.
    package init?(_ text: some StringProtocol) {
        self.init(bytes: Array(text.utf8))
    }

    /// Parses the bytes of a path.
    package init?(bytes: some Collection<UInt8>) {
        // The longest is a join. A hostile tree may have names of any length.
        guard bytes.count <= "joins/".utf8.count + 32 + 1 + 64 else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { return nil }
        switch (String(decoding: parts[0], as: UTF8.self), parts.count) {
        case ("entries", 2):
            let halves = parts[1].split(
                separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
            guard let number = Self.number(halves[0]) else { return nil }
            guard halves.count == 2 else {
                self = .entry(number)
                return
            }
            guard let hash = Self.hash(Array(halves[1])) else { return nil }
            self = .losingEntry(number, hash)
        case ("changes", 3):
            guard parts[1].count == 2, let hash = Self.hash(Array(parts[1]) + Array(parts[2]))
            else { return nil }
            self = .change(hash)
        case ("invites", 2):
            guard let invite = Self.identifier(parts[1]) else { return nil }
            self = .invite(invite)
        case ("joins", 3):
            guard let invite = Self.identifier(parts[1]), let hash = Self.hash(Array(parts[2]))
            else { return nil }
            self = .join(invite: invite, hash)
        default: return nil
        }
    }

    /// The hash of the object's bytes, if it is part of the path.
    package var hash: GroupHash? {
        switch self {
        case .losingEntry(_, let hash), .change(let hash), .join(_, let hash): hash
        case .entry, .invite: nil
        }
    }

    /// The maximum size of the object, in bytes.
    package var limit: Int {
        switch self {
        case .entry, .losingEntry: GroupLimits.entry
        case .change: GroupLimits.change
        case .invite: GroupLimits.invite
        case .join: GroupLimits.join
        }
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        let range = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard digits.count == 10, digits.allSatisfy(range.contains) else { return nil }
        let number = UInt64(String(decoding: digits, as: UTF8.self))
        return number == 0 ? nil : number
    }

    private static func hash(_ digits: [UInt8]) -> GroupHash? {
        GroupHash(hexadecimal: String(decoding: digits, as: UTF8.self))
    }

    private static func identifier(_ digits: some Collection<UInt8>) -> Identifier? {
        guard digits.count == 32 else { return nil }
        return Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self))
            .flatMap { Identifier($0) }
    }
}
