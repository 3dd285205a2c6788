internal import JSON
internal import PostalProtocol
internal import SystemFiles

/// A device in the register.
struct DeviceRecord: Equatable, Sendable {
    /// The position from which the account's events are counted.
    struct Place: Equatable, Sendable {
        var epoch: Int64
        var ordinal: Int64
    }

    enum Phase: String, Sendable {
        /// Gets copies, but is not registered yet.
        case pending
        case active
        /// Removed, or never completed. The name is not reused.
        case removed
    }

    var phase: Phase
    var tokenDigest: [UInt8] = []
    var publicKey: [UInt8] = []
    var accounts: [String] = []
    var joinedAt: Int64 = 0
    var start: Int64 = 0
    var places: [String: Place] = [:]

    var bytes: [UInt8] {
        ([
            "version": .integer(1), "phase": .string(phase.rawValue),
            "token": .string(Hexadecimal.text(of: tokenDigest)),
            "key": .string(Hexadecimal.text(of: publicKey)), "accounts": .strings(accounts),
            "joined": .integer(joinedAt), "start": .integer(start),
            "places": PlaceText.value(of: places),
        ] as JSONValue).encoded
    }

    init(phase: Phase) { self.phase = phase }

    /// Parses a message; nil if it is malformed.
    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), value["version"] == .integer(1),
            let phase = value["phase"]?.nonEmptyString.flatMap(Phase.init)
        else { return nil }
        self.phase = phase
        guard phase != .removed else { return }
        guard let token = value["token"]?.nonEmptyString.flatMap(Hexadecimal.bytes),
            token.count == 32,
            let key = value["key"]?.nonEmptyString.flatMap(Hexadecimal.bytes), key.count == 32,
            let accounts = AccountText.names(value["accounts"]),
            case .integer(let joined)? = value["joined"],
            case .integer(let start)? = value["start"], start >= 0,
            let places = PlaceText.places(value["places"])
        else { return nil }
        (tokenDigest, publicKey, self.accounts) = (token, key, accounts)
        (joinedAt, self.start, self.places) = (joined, start, places)
    }
}

/// An invite in the register.
struct InviteRecord: Equatable, Sendable {
    /// The device that is about to use the invite.
    struct Claim: Equatable, Sendable {
        var device: String
        var publicKey: [UInt8]
        var at: Int64
    }

    var accounts: [String]
    var expiresAt: Int64
    var claim: Claim?

    var bytes: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("version", .integer(1)), .init("accounts", .strings(accounts)),
            .init("expires", .integer(expiresAt)),
        ]
        if let claim {
            members.append(
                .init(
                    "claim",
                    [
                        "device": .string(claim.device),
                        "key": .string(Hexadecimal.text(of: claim.publicKey)),
                        "at": .integer(claim.at),
                    ]))
        }
        return JSONValue.object(members).encoded
    }

    init(accounts: [String], expiresAt: Int64) {
        (self.accounts, self.expiresAt) = (accounts, expiresAt)
    }

    /// Parses a message; nil if the invite was used or the message is malformed.
    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), value["version"] == .integer(1),
            let accounts = AccountText.names(value["accounts"]),
            case .integer(let expires)? = value["expires"]
        else { return nil }
        (self.accounts, expiresAt) = (accounts, expires)
        guard let claim = value["claim"] else { return }
        guard let device = claim["device"]?.nonEmptyString, PostalName.isHookOrDevice(device),
            let key = claim["key"]?.nonEmptyString.flatMap(Hexadecimal.bytes),
            case .integer(let at)? = claim["at"]
        else { return nil }
        self.claim = Claim(device: device, publicKey: key, at: at)
    }
}

/// A device's acknowledgement in the register.
struct AcknowledgementRecord: Equatable, Sendable {
    var number: Int64
    /// The accounts' positions at this number, as far as known.
    var places: [String: DeviceRecord.Place]

    var bytes: [UInt8] {
        ([
            "version": .integer(1), "number": .integer(number),
            "places": PlaceText.value(of: places),
        ] as JSONValue).encoded
    }

    init(number: Int64, places: [String: DeviceRecord.Place]) {
        (self.number, self.places) = (number, places)
    }

    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), value["version"] == .integer(1),
            case .integer(let number)? = value["number"], number >= 0,
            let places = PlaceText.places(value["places"])
        else { return nil }
        (self.number, self.places) = (number, places)
    }
}

private enum AccountText {
    static func names(_ value: JSONValue?) -> [String]? {
        guard case .array(let list)? = value, !list.isEmpty, list.count <= 64 else { return nil }
        let names = list.compactMap(\.nonEmptyString).filter(PostalName.isAccount)
        return names.count == list.count ? names : nil
    }
}

private enum PlaceText {
    static func value(of places: [String: DeviceRecord.Place]) -> JSONValue {
        .object(
            places.sorted { $0.key < $1.key }.map { name, place in
                .init(name, .array([.integer(place.epoch), .integer(place.ordinal)]))
            })
    }

    static func places(_ value: JSONValue?) -> [String: DeviceRecord.Place]? {
        guard case .object(let members)? = value, members.count <= 64 else { return nil }
        var places: [String: DeviceRecord.Place] = [:]
        for member in members {
            let (name, value) = (member.name, member.value)
            guard PostalName.isAccount(name), case .array(let list) = value, list.count == 2,
                case .integer(let epoch) = list[0], case .integer(let ordinal) = list[1],
                epoch >= 0, ordinal >= 0
            else { return nil }
            places[name] = .init(epoch: epoch, ordinal: ordinal)
        }
        return places
    }
}
