import Postal
import Sealing

/// Where the stores of one check keep their data: a file, or a name within a cluster. Every
/// implementation of ``PostalStore`` must pass the same checks.
protocol StorePlace: Sendable {
    /// Whether `prune(now:)` uses the given time; an engine with its own clock does not.
    var prunesByGivenTime: Bool { get }
    /// Whether several relays may use it at once.
    var servesSeveralRelays: Bool { get }

    /// Opens the store as another process would.
    func open(serving: Bool) throws -> any PostalStore
}

/// A device of a check, which can open what is sealed to it.
final class CheckedDevice: Sendable {
    let token: DeviceToken
    let publicKey: [UInt8]
    private let seed: [UInt8]

    init() throws {
        seed = Random.bytes(32)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let text = Random.bytes(43).map { letters[Int($0 & 63)] }
        guard let token = text.withBytes({ DeviceToken(text: $0) }) else {
            throw CheckFailure("token")
        }
        self.token = token
        publicKey = try Self.keyPair(seed).publicKey
    }

    /// The text of a copy; throws if it is sealed to another device.
    func opened(_ sealed: [UInt8]) throws -> String {
        let pair = try Self.keyPair(seed)
        var text = try SecretBytes(count: sealed.count - SealedBox.overheadByteCount)
        try sealed.withBytes { sealed in
            try text.withMutableBytes { try SealedBox.open(sealed, with: pair, into: &$0) }
        }
        return text.withBytes { bytes in
            String(
                decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
    }

    /// Joins with an invite made for it.
    func join(
        _ store: any PostalStore, accounts: [String], now: Int64 = 1_000
    ) throws -> Device {
        let digest = Random.bytes(32)
        try store.add(Invite(digest: digest, accounts: accounts, expiresAt: now + 60_000))
        let device = try store.redeem(
            inviteDigest: digest, id: token.deviceID, tokenDigest: token.digest,
            publicKey: publicKey, now: now)
        guard let device else { throw CheckFailure("the invite was refused") }
        return device
    }

    private static func keyPair(_ seed: [UInt8]) throws -> SealedBox.KeyPair {
        try SealedBox.KeyPair(seed: seed.withBytes { bytes in try SecretBytes(copying: bytes) })
    }
}

/// A requirement that a store does not meet.
struct CheckFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension AcceptedEvent {
    /// An event of a check, with a short text.
    static func checked(
        _ account: String, _ id: String, text: String? = nil, at time: Int64 = 1_000
    ) -> AcceptedEvent {
        AcceptedEvent(
            account: account, id: id, acceptedAt: time, text: Array((text ?? id).utf8))
    }
}

extension PostalStore {
    /// The number of one stored event.
    func keep(_ event: AcceptedEvent) throws -> Int64 {
        let outcome = append([event]).first
        guard case .kept(let number)? = outcome else {
            throw CheckFailure("the event was not kept: \(String(describing: outcome))")
        }
        return number
    }

    /// All events for a device after a number, in as many batches as needed.
    func everything(
        for device: Device, after: Int64, byteLimit: Int = 200
    ) throws -> (missed: [DeviceEvents.Missed], copies: [DeviceEvents.Copy]) {
        var (cursor, missed, copies) = (after, [DeviceEvents.Missed](), [DeviceEvents.Copy]())
        while true {
            let request = ReadRequest(device: device, after: cursor, byteLimit: byteLimit)
            guard let part = try read([request]).first else { throw CheckFailure("no answer") }
            if let gap = part.missed { missed.append(gap) }
            copies += part.copies
            guard part.through >= cursor else { throw CheckFailure("the cursor went back") }
            guard part.hasMore else { return (missed, copies) }
            guard part.through > cursor else { throw CheckFailure("the cursor stands still") }
            cursor = part.through
        }
    }
}
