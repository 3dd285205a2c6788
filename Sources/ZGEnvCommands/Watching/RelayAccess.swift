internal import PostalDevice
internal import Sealing
internal import Vault
internal import VercelAPI

/// The way to a relay for one command.
enum RelayAccess {
    /// Reads a relay's address; the rule is that of `--api-url`.
    ///
    /// - Throws: ``ExitCode/usage`` for what is none, or would show the token on the way.
    static func origin(_ text: String) throws -> APIOrigin {
        do throws(APIOrigin.Problem) {
            return try APIOrigin(text)
        } catch {
            throw CommandError(
                .usage,
                error == .notSecure
                    ? "The relay's address is plain http to another machine, which would show the device's token."
                    : "That is no address of a relay.",
                hint: "Give it as https://HOST or http://127.0.0.1:PORT.")
        }
    }

    /// A client for a registration, with a copy of its token: another thread may use it.
    ///
    /// - Throws: ``ExitCode/unavailable`` with `--offline`.
    static func client(
        of registration: RelayRegistration, _ workspace: Workspace
    ) throws -> RelayClient {
        let keys = try workspace.session.keys(.index)
        if keys.opensValues {
            _ = try AcceptanceGate(workspace).open(.everything, with: keys) { _ in
                (.relay(registration.id), ())
            }
        }
        let token = try registration.token.withBytes {
            try SecretArena(firstRegionByteCount: 4_096).copy($0)
        }
        return try client(try APIOrigin(registration.relay), token, workspace)
    }

    /// A client for a relay.
    static func client(
        _ origin: APIOrigin, _ token: SecretSlice?, _ workspace: Workspace
    ) throws -> RelayClient {
        guard !workspace.options.offline else {
            throw CommandError(
                .unavailable, "This needs the relay, and --offline forbids it.",
                hint: "Nothing was sent.")
        }
        return RelayClient(
            transport: try workspace.context.transport(), origin: origin, token: token)
    }

    /// The relays that the vault is a device of, and the keys that it was opened with.
    static func registrations(
        _ workspace: Workspace
    ) throws -> (all: [RelayRegistration], keys: VaultKeys) {
        let keys = try workspace.session.keys(.index)
        return (try workspace.session.index(.everything).relays(), keys)
    }

    /// The relay that the argument names, or the only one.
    static func registration(_ url: String?, _ workspace: Workspace) throws -> RelayRegistration {
        let all = try registrations(workspace).all
        if let text = url {
            let origin = try origin(text)
            guard let found = all.first(where: { $0.relay == origin.description }) else {
                throw CommandError(
                    .notFound, "This vault is no device of \(origin).",
                    hint: "See which relays it knows with: zg-env postal status")
            }
            return found
        }
        guard let only = all.first else {
            throw CommandError(
                .notFound, "This vault is a device of no relay.",
                hint: "Join one with: zg-env postal join URL")
        }
        guard all.count == 1 else {
            throw CommandError(
                .usage, "This vault is a device of \(all.count) relays.",
                hint: "Name the one that is meant; zg-env postal status lists them.")
        }
        return only
    }
}

extension CommandError {
    /// Says why a relay did not do what it was asked for.
    init(mapping error: RelayError, relay: String) {
        let reason = Self.sentence(error.reason)
        switch error.code {
        case .inviteRefused:
            self.init(
                .unauthorized, reason,
                hint:
                    "It is mistyped, used or expired; nothing was changed. Ask whoever runs the relay for another one."
            )
        case .deviceRefused:
            self.init(
                .unauthorized, reason,
                hint: "It was removed there. Leave with: zg-env postal leave, and join anew.")
        case .unavailable:
            self.init(.unavailable, reason, hint: "Try again; \(relay) is where it should be.")
        case .notARelay:
            self.init(.unavailable, reason, hint: "Look at the address: \(relay).")
        case .outcomeUnknown:
            self.init(
                .unavailable, reason, hint: "See how it stands with: zg-env postal status")
        case .failed: self.init(.failed, reason)
        }
    }
}
