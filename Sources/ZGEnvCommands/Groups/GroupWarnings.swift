internal import CommandLineKit
internal import GroupPlaces
internal import Groups
internal import SharedProjects
internal import Vault

/// What a sync found that needs attention, and is therefore shown even with `--quiet`.
struct GroupWarnings {
    private let membership: GroupMembership
    private let exchange: ObjectExchange.Result
    private let outcome: GroupUpdate.Outcome
    /// Paths that are named at most.
    private static let pathLimit = 3

    init(
        _ membership: GroupMembership, _ exchange: ObjectExchange.Result,
        _ outcome: GroupUpdate.Outcome
    ) {
        (self.membership, self.exchange, self.outcome) = (membership, exchange, outcome)
    }

    func show(_ workspace: Workspace) {
        let group = membership.name
        for project in outcome.projects {
            for late in project.ownLate {
                let names = late.names.isEmpty ? "" : " of \(late.names.joined(separator: ", "))"
                workspace.context.warn(
                    "late",
                    "\(project.name): your change\(names) does not count: \(late.reason.clause).")
            }
            for late in project.lateValues {
                let readers = late.readers.map { membership.label(of: $0) }
                workspace.context.warn(
                    "known-value",
                    "\(project.name): \(readers.joined(separator: ", ")), who left, can read the value of \(late.name) that "
                        + "\(membership.label(of: late.author)) stored before they synced. Replace it. See: "
                        + "zg-env group exposure \(word: readers.first ?? "")")
            }
            let contested = project.contestedCount
            if contested > 0 {
                workspace.context.warn(
                    "contested",
                    "\(project.name): \(DisplayText.count(contested, "variable")) \(contested == 1 ? "is" : "are") contested. Decide with: "
                        + "zg-env resolve KEY -p \(word: project.name)")
            }
        }
        let refused = exchange.refused.union(outcome.refused.map { .change($0) }).map(\.text)
        if !refused.isEmpty {
            let shown = refused.sorted().prefix(Self.pathLimit).map { "\($0.prefix(24))…" }
            let rest = refused.count > shown.count ? ", …" : ""
            workspace.context.warn(
                "invalid-objects",
                "\(group): ignored \(refused.count == 1 ? "1 invalid object" : "\(refused.count) invalid objects") "
                    + "in the place: \(shown.joined(separator: ", "))\(rest)")
        }
        if outcome.isForked {
            workspace.context.warn(
                "forked",
                "\(group): two admins changed the members at the same time; an admin must sync.")
        }
    }

    /// Why a sync cannot succeed: this vault is no member; nil if it is one.
    static func failure(
        _ membership: GroupMembership, _ outcome: GroupUpdate.Outcome
    ) -> CommandError? {
        let group = membership.name
        switch outcome.standing {
        case .active: return nil
        case .ended, .left:
            let waiting = outcome.waitingCount
            let unsent =
                waiting == 0
                ? "" : " \(waiting == 1 ? "1 change was" : "\(waiting) changes were") not sent."
            return CommandError(
                .unauthorized,
                "This vault was removed from \(group)\(MembershipTexts.removal(of: membership)); its copy is no longer updated.\(unsent)",
                hint: "Ask for another invite, or run: zg-env group leave \(word: group)")
        case .invited:
            switch outcome.invite {
            case .open:
                return CommandError(
                    .unauthorized, "No admin of \(group) has admitted this vault yet.",
                    hint: "Ask an admin to run zg-env sync, then run zg-env sync again.")
            case .void:
                return CommandError(
                    .unauthorized, "The invite to \(group) was canceled.",
                    hint: "Ask for another invite, and run zg-env group join again.")
            case .usedByOther:
                return CommandError(
                    .unauthorized,
                    "Someone else was admitted to \(group) with this vault's invite.",
                    hint:
                        "Tell an admin immediately: the code is known to others. Then ask for another invite."
                )
            }
        }
    }
}

extension LateReason {
    /// A clause for people.
    fileprivate var clause: String {
        switch self {
        case .cut: "an admin had already taken that right away"
        case .role, .key: "your role did not allow it"
        case .member: "this vault was not a member"
        case .compartment: "this vault had no access to the project"
        case .epoch, .pastEntry: "it was made with an outdated membership"
        case .widening: "you had no right to widen a scope or weaken a type"
        case .signature, .chain, .record, .replaces: "it is not valid (\(rawValue))"
        }
    }
}
