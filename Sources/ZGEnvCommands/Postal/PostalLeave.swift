internal import CommandLineKit
internal import JSON
internal import PostalDevice
internal import Vault

/// `postal leave`: ends being a device of a relay.
struct PostalLeave: Command {
    static let spec = CommandSpec(
        ["postal", "leave"], "Be told nothing by a relay any more", section: "Platform",
        discussion: """
            The relay forgets the device first, and the vault then. What waited there for this device \
            is gone. Where the relay cannot be reached nothing is changed, unless with --force.
            """,
        arguments: [ArgumentSpec("URL", .optional, "The relay, where the vault knows several")],
        options: [
            OptionSpec(flag: "force", "Forget it here, even if the relay cannot be told")
        ],
        exitCodes: ExitCode.ofOpening(and: .unavailable))

    private let relay: String?
    private let isForced: Bool

    init(_ command: ParsedCommand) {
        relay = command.argument("URL")
        isForced = command.has("force")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let registration = try RelayAccess.registration(relay, workspace)
        let members = RelayListing.members(registration)
        let plan = ["leave \(registration.relay): \(registration.device) is told nothing any more"]
        if try !workspace.confirm(plan, "Leave it?") {
            return CommandResult(
                json: .object(members + [.init("dryRun", true)]),
                text: plan.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        let isGone = try forgetThere(registration, workspace)
        let keys = try workspace.session.keys(.index)
        do {
            try workspace.session.update(with: keys) { $0.leave(registration.id) }
        } catch {
            var failure = CommandError(mapping: error)
            if isGone {
                failure.message +=
                    " The relay has forgotten the device, and the vault still names it."
                failure.hint = "Run it again once the vault can be written."
            }
            throw failure
        }
        workspace.note(
            isGone
                ? "Left \(registration.relay)."
                : "Forgot \(registration.relay) here. It still has the device \(registration.device): ask whoever runs it to remove that."
        )
        return CommandResult(
            json: .object(members + [.init("removedThere", .bool(isGone))]))
    }

    /// Has the relay forget the device, and looks that it has.
    ///
    /// - Returns: Whether it is gone there; false only with `--force`.
    private func forgetThere(
        _ registration: RelayRegistration, _ workspace: Workspace
    ) throws -> Bool {
        do {
            let client = try RelayAccess.client(of: registration, workspace)
            do throws(RelayError) {
                try client.leave()
            } catch {
                // An answer that is lost may have been a yes; the question below tells.
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
                "\(registration.relay) was told to forget the device, and still knows it.",
                hint: "Nothing was changed here. Ask whoever runs the relay, or say --force.")
        } catch {
            if isForced { return false }
            guard let error = error as? RelayError else { throw error }
            var failure = CommandError(mapping: error, relay: registration.relay)
            failure.hint =
                "Nothing was changed here. Try again, or say --force: the relay then still has the device."
            throw failure
        }
    }
}
