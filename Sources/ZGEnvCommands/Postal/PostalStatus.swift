internal import CommandLineKit
internal import JSON
internal import PostalDevice
internal import Vault

/// `postal status`: shows this vault's relays and checks that they know the device.
struct PostalStatus: Command {
    static let spec = CommandSpec(
        ["postal", "status"], "Show this vault's relays",
        discussion: """
            Asks each relay whether the device is still registered, except with --offline.
            """,
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        relays: [{
            \(RelayListing.fields); state: string; lastEventAt: time | null
            number: number | null (of the last event)
            acknowledged?, newest?: number | null (as the relay reports)
        }]
        """

    /// What a relay answered.
    private enum Answer {
        case notChecked
        case known(RelayClient.Device)
        case failed(CommandError)

        var word: String {
            switch self {
            case .notChecked: "not checked"
            case .known: "answers"
            case .failed(let error): error.code == .unauthorized ? "removed" : "unreachable"
            }
        }
    }

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let (all, keys) = try RelayAccess.registrations(workspace)
        let inboxes = try NotificationFiles(workspace, keys: keys).inboxes()
        if all.isEmpty {
            workspace.note(
                "No relays. Join a relay with: zg-env postal join URL")
        }
        var (items, lines): ([JSONValue], [String]) = ([], [])
        var failure: CommandError?
        for registration in all {
            let inbox = inboxes[registration.id.hexadecimal]
            let answer = answer(of: registration, workspace)
            // A removed device needs action; an unreachable relay may come back.
            if case .failed(let error) = answer,
                failure == nil || failure?.code == .unavailable
            {
                failure = error
            }
            if case .known(let device) = answer, failure == nil {
                failure = difference(registration, device)
            }
            var members = RelayListing.members(registration)
            members += [
                .init("state", .string(answer.word)),
                .init("lastEventAt", .time(orNull: inbox?.newestAt)),
                .init(
                    "number", .integer(orNull: inbox.flatMap { $0.number > 0 ? $0.number : nil })),
            ]
            if case .known(let device) = answer {
                members += [
                    .init("acknowledged", .integer(orNull: device.acknowledged)),
                    .init("newest", .integer(orNull: device.newest)),
                ]
            }
            items.append(.object(members))
            lines += text(registration, inbox, answer)
        }
        return CommandResult(
            json: ["relays": .array(items)], text: DisplayText.lines(lines), failure: failure)
    }

    private func answer(
        of registration: RelayRegistration, _ workspace: Workspace
    ) -> Answer {
        if workspace.options.offline { return .notChecked }
        do {
            return .known(try RelayAccess.client(of: registration, workspace).device())
        } catch let error as RelayError {
            return .failed(CommandError(mapping: error, relay: registration.relay))
        } catch {
            return .failed(CommandError(mapping: error))
        }
    }

    private func difference(
        _ registration: RelayRegistration, _ device: RelayClient.Device
    ) -> CommandError? {
        guard
            device.name != registration.device || device.accounts != registration.accounts.sorted()
        else { return nil }
        return CommandError(
            .conflict,
            "\(registration.relay) and the vault disagree about this device's name or accounts.",
            hint: "Leave the relay with: zg-env postal leave, then join again.")
    }

    private func text(
        _ registration: RelayRegistration, _ inbox: PostalInbox?, _ answer: Answer
    ) -> [String] {
        var lines = [
            "\(registration.relay)  \(answer.word)",
            "  device    \(registration.device)",
            "  accounts  \(registration.accounts.joined(separator: ", "))",
            "  joined    \(TimeText.utc(Int64(clamping: registration.joinedAt)))",
            "  newest    \(inbox?.newestAt.map { "event at \(TimeText.utc($0))" } ?? "no events yet")",
        ]
        if case .known(let device) = answer, let newest = device.newest,
            let acknowledged = device.acknowledged, newest > acknowledged
        {
            lines.append("  waiting   newest event \(newest), last one read \(acknowledged)")
        }
        return lines
    }
}
