package import Groups
package import Vault

extension GroupUpdate {
    /// What a sync did to the vault.
    package struct Outcome: Sendable {
        /// A shared project, with what came from colleagues.
        package struct Project: Sendable {
            package let name: String
            package let isNew: Bool
            package let arrivals: [StateApplication.Arrival]
            /// Late and waiting changes.
            package let lateCount: Int
            /// Late changes that this vault had not seen.
            package let newLateCount: Int
            package let waitingCount: Int
            package let contestedCount: Int
            /// Variables with changes of colleagues that the user has not accepted.
            package let heldCount: Int
            /// A Vercel project that the group proposes now, other than the one of this vault.
            package let newProposal: GroupBinding?
            /// Values that came, and that somebody who was removed can read.
            package var lateValues: [LateValue] = []
            /// Late changes of this member that were not reported before.
            package var ownLate: [LateChange] = []
            /// Whether the project was shared before, and is again.
            package var isAttached = false
            /// Variables that only this vault had in it, and the project that has them now.
            package var movedAside: (names: [String], project: String)?

            /// Returns the result of two syncs after another.
            package func merged(after first: Project?) -> Project {
                Project(
                    name: name, isNew: first?.isNew ?? isNew,
                    arrivals: (first?.arrivals ?? []) + arrivals, lateCount: lateCount,
                    newLateCount: (first?.newLateCount ?? 0) + newLateCount,
                    waitingCount: waitingCount, contestedCount: contestedCount,
                    heldCount: heldCount,
                    newProposal: newProposal ?? first?.newProposal,
                    lateValues: (first?.lateValues ?? []) + lateValues,
                    ownLate: (first?.ownLate ?? []) + ownLate,
                    isAttached: first?.isAttached ?? isAttached,
                    movedAside: first?.movedAside ?? movedAside)
            }
        }

        /// A value that was stored with keys from before a removal.
        package struct LateValue: Equatable, Sendable {
            package let name: String
            package let author: Identifier
            /// The members who were removed and can read it.
            package let readers: [Identifier]
        }

        /// A change of this member that does not count.
        package struct LateChange: Sendable {
            package let createdAt: UInt64
            package let reason: LateReason
            /// The names of variables that it is about.
            package let names: [String]
        }

        /// Somebody who is no longer a member.
        package struct Departure: Equatable, Sendable {
            package let member: Identifier
            package let author: Identifier
        }

        /// What became of the invite that this vault answered.
        package enum InviteState: Sendable {
            case open, void
            /// Somebody else was admitted with it.
            case usedByOther
        }

        package var projects: [Project] = []
        /// People who came and went, by name.
        package var joined: [String] = []
        package var removed: [Departure] = []
        /// Whether this member is now active, or no longer.
        package var standing: GroupMembership.Standing = .active
        package var invite: InviteState = .open
        /// Finished changes that the place does not hold.
        package var waitingCount = 0
        /// Finished changes that the place was seen to hold.
        package var publishedCount = 0
        /// Changes that do not decode or open.
        package var refused: Set<GroupHash> = []
        package var isForked = false
    }
}
