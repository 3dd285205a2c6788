internal import HTTPClient
internal import PostalDevice
internal import Sealing
internal import Vault
internal import VercelAPI

/// Opens relays for a command.
enum RelayAccess {
    /// Parses a relay's URL like `--api-url`.
    ///
    /// - Throws: ``ExitCode/usage`` for an invalid URL, or one that would expose the token.
    static func origin(_ text: String) throws -> APIOrigin {
        do throws(APIOrigin.Problem) {
            return try APIOrigin(text)
        } catch {
            throw CommandError(
                .usage,
                error == .notSecure
                    ? "The relay URL uses plain http to another machine, which would expose the device's token."
                    : "Not a valid relay URL.",
                hint: "Use https://HOST or http://127.0.0.1:PORT.")
        }
    }

    /// Returns a client for a registration, with its own copy of the token, for use on another
    /// thread.
    ///
    /// - Throws: ``ExitCode/unavailable`` with `--offline`.
    static func client(
        of registration: RelayRegistration, _ workspace: Workspace
    ) throws -> RelayClient {
        let token = try registration.token.withBytes {
            try SecretArena(firstRegionByteCount: 4_096).copy($0)
        }
        return try client(try APIOrigin(registration.relay), token, workspace)
    }

    static func client(
        _ origin: APIOrigin, _ token: SecretSlice?, _ workspace: Workspace
    ) throws -> RelayClient {
        guard !workspace.options.offline else {
            throw CommandError(
                .unavailable, "This command needs the relay, but --offline is set.")
        }
        return RelayClient(
            transport: try workspace.context.transport(), origin: origin, token: token)
    }

    /// Returns the vault's relays, and the keys that it was opened with.
    static func registrations(
        _ workspace: Workspace
    ) throws -> (all: [RelayRegistration], keys: VaultKeys) {
        let keys = try workspace.session.keys(.index)
        return (try workspace.session.index(.everything).relays(), keys)
    }

    /// Returns the relay with the given URL, or the only one.
    static func registration(_ url: String?, _ workspace: Workspace) throws -> RelayRegistration {
        let all = try registrations(workspace).all
        if let text = url {
            let origin = try origin(text)
            guard let found = all.first(where: { $0.relay == origin.description }) else {
                throw CommandError(
                    .notFound, "This vault has not joined \(origin).",
                    hint: "List relays with: zg-env postal status")
            }
            return found
        }
        guard let only = all.first else {
            throw CommandError(
                .notFound, "This vault has not joined a relay.",
                hint: "Join a relay with: zg-env postal join URL")
        }
        guard all.count == 1 else {
            throw CommandError(
                .usage, "This vault has joined \(all.count) relays.",
                hint: "Specify the URL of a relay; list the relays with: zg-env postal status")
        }
        return only
    }
}

extension CommandError {
    init(mapping error: RelayError, relay: String) {
        let code: ExitCode =
            switch error.code {
            case .inviteRefused, .deviceRefused: .unauthorized
            case .unavailable, .notARelay, .outcomeUnknown: .unavailable
            case .failed: .failed
            }
        let hint: String? =
            switch error.code {
            case .inviteRefused:
                "The code may be mistyped, used or expired. Ask the relay's operator for a new one."
            case .deviceRefused:
                "The device was removed from the relay. Leave the relay with: zg-env postal leave, then join again."
            case .unavailable: "Try again later. The relay's URL is \(relay)"
            case .notARelay: "Check the relay's URL: \(relay)"
            case .outcomeUnknown: "Check with: zg-env postal status"
            case .failed: nil
            }
        self.init(code, Self.sentence(error.reason), hint: hint)
    }
}
