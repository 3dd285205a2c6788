internal import CommandLineKit
internal import JSON
internal import PostalDevice
internal import PostalProtocol
internal import Sealing
internal import Vault
internal import VercelAPI

/// `postal join`: makes this vault a device of a relay.
struct PostalJoin: Command {
    static let spec = CommandSpec(
        ["postal", "join"], "Be told of the platform's events by a relay", section: "Platform",
        discussion: """
            The invite code comes from whoever runs the relay. It is typed at a hidden prompt, or read \
            from stdin when that is not a terminal, and is good for one device. The device's private \
            key and its password stay in the vault, where names and tokens are.
            """,
        arguments: [ArgumentSpec("URL", .one, "The relay, such as https://relay.example")],
        options: [],
        examples: [
            .init("zg-env postal join https://relay.example", "type the code at a prompt"),
            .init("zg-env postal join https://relay.example < code.txt", "take it from stdin"),
        ],
        exitCodes: ExitCode.ofPlatform)

    private let origin: APIOrigin

    init(_ command: ParsedCommand) throws {
        origin = try RelayAccess.origin(command.required("URL"))
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (known, keys) = try RelayAccess.registrations(workspace)
        try check(known)
        let client = try RelayAccess.client(origin, nil, workspace)
        let invite = try code(workspace)
        if workspace.options.dryRun {
            return CommandResult(
                json: ["relay": .string(origin.description), "dryRun": true],
                text: "Would join \(origin).\n")
        }
        let arena = SecretArena(firstRegionByteCount: 4_096)
        let seed = try SecretBytes.random(count: RelayRegistration.seedByteCount).withBytes {
            try arena.copy($0)
        }
        let joined: RelayClient.Joined
        do throws(RelayError) {
            joined = try client.join(
                invite: invite.text, publicKey: publicKey(of: seed), into: arena)
        } catch {
            throw failure(error)
        }
        let registration = RelayRegistration(
            joinedAt: workspace.context.now(), relay: origin.description,
            device: joined.device.name, accounts: joined.device.accounts, token: joined.token,
            seed: seed)
        try keep(registration, keys, workspace)
        try confirm(registration, workspace)
        workspace.note(
            "Joined \(origin) as \(registration.device). zg-env notify run is told at once from now on."
        )
        return CommandResult(json: .object(RelayListing.members(registration)))
    }

    private func check(_ known: [RelayRegistration]) throws {
        guard !known.contains(where: { $0.relay == origin.description }) else {
            throw CommandError(
                .conflict, "This vault is a device of \(origin) already.",
                hint: "Look at it with: zg-env postal status, or leave first: zg-env postal leave")
        }
        guard known.count < RelayRegistration.limit else {
            throw CommandError(
                .conflict,
                "This vault is a device of \(known.count) relays, which is as many as it takes.",
                hint: "Leave one of them first: zg-env postal leave URL")
        }
    }

    private func code(_ workspace: Workspace) throws -> InviteCode {
        let typed = try TypedSecret.read("invite code", prompt: "Invite code: ", workspace)
        let text = typed.withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
        guard let code = InviteCode(typed: text) else {
            throw CommandError(
                .usage, "That is no invite code: it has twenty letters and digits.",
                hint: "Nothing was sent. It looks like XXXX-XXXX-XXXX-XXXX-XXXX.")
        }
        return code
    }

    private func publicKey(of seed: SecretSlice) throws(RelayError) -> [UInt8] {
        do throws(SealingError) {
            return try EventOpener(seed: seed).publicKey
        } catch { throw RelayError(.failed, "there is no guarded memory for the key") }
    }

    private func failure(_ error: RelayError) -> CommandError {
        var failure = CommandError(mapping: error, relay: origin.description)
        if error.code == .outcomeUnknown {
            failure.message +=
                " The code may be used up, and a device may stand there that nobody has the key of."
            failure.hint =
                "Nothing was changed here. Ask whoever runs the relay to remove it, and for another code."
        }
        return failure
    }

    /// Puts it into the vault; where that fails the relay forgets the device again.
    private func keep(
        _ registration: RelayRegistration, _ keys: VaultKeys, _ workspace: Workspace
    ) throws {
        do {
            try workspace.session.update(with: keys) { transaction in
                guard
                    try !transaction.index.relays().contains(where: {
                        $0.relay == registration.relay
                    })
                else {
                    throw CommandError(
                        .conflict, "Another command has joined \(registration.relay) meanwhile.")
                }
                try transaction.join(registration)
            }
        } catch {
            var failure = CommandError(mapping: error)
            let (relay, device) = (registration.relay, registration.device)
            do {
                try RelayAccess.client(of: registration, workspace).leave()
                failure.message += " \(relay) has forgotten the device again."
                failure.hint = "The invite code is used up; ask for another one."
            } catch {
                failure.message +=
                    " \(relay) has a device \(device) now that nobody has the key of."
                failure.hint = "Ask whoever runs the relay to remove it, and for another code."
            }
            throw failure
        }
    }

    /// Asks the relay with what the vault has now.
    private func confirm(
        _ registration: RelayRegistration, _ workspace: Workspace
    ) throws {
        let kept = try RelayAccess.registrations(workspace).all.first {
            $0.id == registration.id
        }
        guard let kept else {
            throw CommandError(
                .conflict, "The vault does not show the registration that was sealed.",
                hint: "Look again with: zg-env postal status")
        }
        let relay = registration.relay
        do {
            let found = try RelayAccess.client(of: kept, workspace).device()
            guard found.name == kept.device, found.accounts == kept.accounts else {
                throw CommandError(
                    .failed, "\(relay) says something else of the device than when it joined.",
                    hint: "Leave with: zg-env postal leave, and look at the relay.")
            }
        } catch let error as RelayError {
            var failure = CommandError(mapping: error, relay: relay)
            failure.message =
                "The device is in the vault, and could not be confirmed. \(failure.message)"
            failure.hint = "See how it stands with: zg-env postal status"
            throw failure
        }
    }
}
