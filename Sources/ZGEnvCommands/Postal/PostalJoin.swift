internal import CommandLineKit
internal import HTTPClient
internal import JSON
internal import PostalDevice
internal import PostalProtocol
internal import Sealing
internal import Vault
internal import VercelAPI

/// `postal join`: registers this vault as a device of a relay.
struct PostalJoin: Command {
    static let spec = CommandSpec(
        ["postal", "join"], "Receive Vercel events through a relay",
        discussion: """
            The relay's operator gives you an invite code, which works for one device. Type the \
            code at the prompt, where it is not shown, or pipe it to stdin. The device's private \
            key and token stay in the vault's index.
            """,
        arguments: [ArgumentSpec("URL", .one, "The relay's URL, such as https://relay.example")],
        examples: [
            .init("zg-env postal join https://relay.example", "type the code at a prompt"),
            .init(
                "zg-env postal join https://relay.example < code.txt", "read the code from stdin"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields =
        "relay: string; device?: string; accounts?: [string]; joinedAt?: time; dryRun?: true"

    private let origin: APIOrigin

    init(_ command: ParsedCommand) throws {
        origin = try RelayAccess.origin(command.required("URL"))
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try workspace.session.keysForWriting()
        try check(try RelayAccess.registrations(workspace).all)
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
        try keep(registration, workspace)
        try confirm(registration, workspace)
        workspace.note(
            "Joined \(origin) as \(registration.device). zg-env notify run and zg-env watch now receive events from this relay."
        )
        return CommandResult(json: .object(RelayListing.members(registration)))
    }

    private func check(_ known: [RelayRegistration]) throws {
        guard !known.contains(where: { $0.relay == origin.description }) else {
            throw CommandError(
                .conflict, "This vault has already joined \(origin).",
                hint:
                    "Check the relay with: zg-env postal status. To join again, leave it first with: zg-env postal leave"
            )
        }
        guard known.count < RelayRegistration.limit else {
            throw CommandError(
                .conflict,
                "This vault has already joined \(known.count) relays, the maximum.",
                hint: "Leave another relay first: zg-env postal leave URL")
        }
    }

    private func code(_ workspace: Workspace) throws -> InviteCode {
        let typed = try TypedSecret.read("invite code", prompt: "Invite code: ", workspace)
        let text = typed.withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
        guard let code = InviteCode(typed: text) else {
            throw CommandError(
                .usage, "Not a valid invite code: a code consists of 20 letters and digits.",
                hint: "An invite code looks like XXXX-XXXX-XXXX-XXXX-XXXX.")
        }
        return code
    }

    private func publicKey(of seed: SecretSlice) throws(RelayError) -> [UInt8] {
        do throws(SealingError) {
            return try EventOpener(seed: seed).publicKey
        } catch { throw RelayError(.failed, "cannot allocate guarded memory for the key") }
    }

    private func failure(_ error: RelayError) -> CommandError {
        var failure = CommandError(mapping: error, relay: origin.description)
        if error.code == .outcomeUnknown {
            failure.message +=
                " The code may already have been used, and the relay may have registered a device whose key is lost."
            failure.hint =
                "The vault was not changed. Ask the relay's operator to remove that device and issue a new code."
        }
        return failure
    }

    /// Stores the registration in the vault; if that fails, removes the device from the relay.
    private func keep(
        _ registration: RelayRegistration, _ workspace: Workspace
    ) throws {
        do {
            try workspace.session.commit { transaction, news in
                news.add(AuditedNames(names: [registration.relay]))
                guard
                    try !transaction.index.relays().contains(where: {
                        $0.relay == registration.relay
                    })
                else {
                    throw CommandError(
                        .conflict, "Another command joined \(registration.relay) at the same time.")
                }
                try transaction.join(registration)
            }
        } catch {
            var failure = CommandError(mapping: error)
            let (relay, device) = (registration.relay, registration.device)
            do {
                try RelayAccess.client(of: registration, workspace).leave()
                failure.message += " The device was removed from \(relay)."
                failure.hint = "The invite code has already been used; ask for a new code."
            } catch {
                failure.message +=
                    " \(relay) now has a device \(device) whose key is lost."
                failure.hint = "Ask the relay's operator to remove the device and issue a new code."
            }
            throw failure
        }
    }

    /// Asks the relay for the device, with the credentials read back from the vault.
    private func confirm(
        _ registration: RelayRegistration, _ workspace: Workspace
    ) throws {
        let kept = try RelayAccess.registrations(workspace).all.first {
            $0.id == registration.id
        }
        guard let kept else {
            throw CommandError(
                .conflict, "The vault does not contain the new registration.",
                hint: "Check with: zg-env postal status")
        }
        let relay = registration.relay
        do {
            let found = try RelayAccess.client(of: kept, workspace).device()
            guard found.name == kept.device, found.accounts == kept.accounts else {
                throw CommandError(
                    .failed,
                    "\(relay) now reports a different device or different accounts than when this vault joined.",
                    hint: "Ask the relay's operator, or leave with: zg-env postal leave")
            }
        } catch let error as RelayError {
            var failure = CommandError(mapping: error, relay: relay)
            failure.message =
                "The device is in the vault, but could not be confirmed. \(failure.message)"
            failure.hint = "Check with: zg-env postal status"
            throw failure
        }
    }
}
