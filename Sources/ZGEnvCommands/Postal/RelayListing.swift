internal import CommandLineKit
internal import JSON
internal import Vault

/// The JSON form of a registration with a relay.
enum RelayListing {
    static let fields = "relay, device: string; accounts: [string]; joinedAt: time"

    static func members(_ registration: RelayRegistration) -> [JSONValue.Member] {
        [
            .init("relay", .string(registration.relay)),
            .init("device", .string(registration.device)),
            .init("accounts", .strings(registration.accounts)),
            .init("joinedAt", .time(orNull: Int64(clamping: registration.joinedAt))),
        ]
    }
}
