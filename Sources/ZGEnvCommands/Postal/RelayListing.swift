internal import CommandLineKit
internal import JSON
internal import Vault

/// How registrations with relays are shown.
enum RelayListing {
    static func members(_ registration: RelayRegistration) -> [JSONValue.Member] {
        [
            .init("relay", .string(registration.relay)),
            .init("device", .string(registration.device)),
            .init("accounts", .strings(registration.accounts)),
            .init("joinedAt", .time(orNull: Int64(clamping: registration.joinedAt))),
        ]
    }
}
