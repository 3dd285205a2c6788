internal import CommandLineKit
internal import JSON
internal import PostalDevice
internal import Vault

/// `postal leave`: removes this vault's device from a relay.
struct PostalLeave: Command {
    static let spec = CommandSpec(
        ["postal", "leave"], "Leave a relay",
        discussion: """
            Removes the device from the relay, then from the vault. Events waiting on the relay \
            for this device are lost. If the relay cannot be reached, nothing is changed without \
            --force.
            """,
        arguments: [
            ArgumentSpec("URL", .optional, "The relay, if the vault has joined several")
        ],
        options: [
            OptionSpec(flag: "force", "Leave even if the relay cannot be reached")
        ],
        exitCodes: ExitCode.ofOpening(and: .unavailable))
    static let fields =
        "\(RelayListing.fields); removedThere?: boolean (from the relay); dryRun?: true"

    private let relay: String?
    private let isForced: Bool

    init(_ command: ParsedCommand) {
        relay = command.argument("URL")
        isForced = command.has("force")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let registration = try RelayAccess.registration(relay, workspace)
        let members = RelayListing.members(registration)
        let plan = [
            "leave \(registration.relay): \(registration.device) stops receiving events"
        ]
        if try !workspace.confirm(plan, "Leave this relay?") {
            return CommandResult(
                json: .object(members + [.init("dryRun", true)]),
                text: DisplayText.lines(plan, after: "Would "))
        }
        _ = try workspace.session.keys(.values)
        let isGone = try removeFromRelay(registration, workspace)
        do {
            try workspace.session.commit { transaction, news in
                news.add(AuditedNames(names: [registration.relay]))
                transaction.leave(registration.id)
            }
        } catch {
            var failure = CommandError(mapping: error)
            if isGone {
                failure.message +=
                    " The device was removed from the relay, but is still in the vault."
                failure.hint = "Run the command again once the vault is writable."
            }
            throw failure
        }
        workspace.note(
            isGone
                ? "Left \(registration.relay)."
                : "Removed \(registration.relay) from the vault only. Ask the relay's operator to remove the device \(registration.device)."
        )
        return CommandResult(
            json: .object(members + [.init("removedThere", .bool(isGone))]))
    }

    /// Removes the device from the relay, and checks that it is gone.
    ///
    /// - Returns: Whether it is gone there; false only with `--force`.
    private func removeFromRelay(
        _ registration: RelayRegistration, _ workspace: Workspace
    ) throws -> Bool {
        do {
            let client = try RelayAccess.client(of: registration, workspace)
            do throws(RelayError) {
                try client.leave()
            } catch {
                // The lost answer may have been a success; the next request shows it.
                if error.code == .deviceRefused { return true }
                guard error.code == .outcomeUnknown else { throw error }
            }
            do throws(RelayError) {
                _ = try client.device()
            } catch {
                if error.code == .deviceRefused { return true }
                throw error
            }
            throw CommandError(
                .failed,
                "\(registration.relay) accepted the removal of the device, but still lists it.",
                hint: "The vault was not changed. Ask the relay's operator, or use --force.")
        } catch {
            if isForced { return false }
            guard let error = error as? RelayError else { throw error }
            var failure = CommandError(mapping: error, relay: registration.relay)
            failure.hint =
                "The vault was not changed. Try again, or use --force; the relay then keeps the device."
            throw failure
        }
    }
}
