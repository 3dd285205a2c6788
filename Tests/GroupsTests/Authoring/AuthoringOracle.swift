import Vault

@testable import Groups

/// Who has which key after a history of entries, from the wording of the format's page and without the
/// code under test.
struct AuthoringOracle {
    struct Member {
        var role: GroupRole
        var limit: Set<Identifier>?
        var isActive = true

        func reads(_ compartment: Identifier) -> Bool {
            isActive && (limit?.contains(compartment) ?? true)
        }

        func readsValues(_ compartment: Identifier) -> Bool {
            reads(compartment) && role != .writer
        }

        var rights: MemberRights { MemberRights(role: role, limit: limit?.sorted()) }
    }

    struct State {
        var members: [Identifier: Member] = [:]
        /// The entry that made the current epoch.
        var current: [Identifier: GroupHash] = [:]

        var admins: [Identifier] {
            members.filter { $0.value.isActive && $0.value.role == .admin }.keys.sorted()
        }

        var active: [Identifier] { members.filter(\.value.isActive).keys.sorted() }
    }

    struct Step {
        let parents: [GroupHash]
        let after: State
        let made: Set<Identifier>
        /// Which member was given which epoch without a new one.
        let granted: [(member: Identifier, epoch: EpochName)]
    }

    private(set) var steps: [GroupHash: Step] = [:]

    /// Whether all that `old` allows is allowed by `new`.
    static func isRaise(from old: Member, to new: Member) -> Bool {
        let ranks: [GroupRole: Set<Int>] = [
            .admin: [1, 2, 3, 4], .member: [1, 2, 3], .writer: [1], .reader: [2],
        ]
        guard let now = ranks[new.role], let then = ranks[old.role], then.isSubset(of: now) else {
            return false
        }
        guard let limit = new.limit else { return true }
        return old.limit?.isSubset(of: limit) ?? false
    }

    /// The compartments that get an epoch by an entry.
    static func epochs(of draft: EntryDraft, after before: State) -> Set<Identifier> {
        var made = Set(draft.firstEpochs + draft.renewedEpochs)
        let lowered =
            draft.removals.map(\.member) + draft.keyReplacements.map(\.member)
            + draft.roles.filter { $0.cut != nil }.map(\.member)
        for member in lowered {
            made.formUnion(before.current.keys.filter { before.members[member]?.reads($0) == true })
        }
        return made
    }

    mutating func add(_ draft: EntryDraft, as name: GroupHash, after parent: GroupHash?) {
        let before = parent.flatMap { steps[$0]?.after } ?? State()
        var after = before
        for item in draft.admissions {
            after.members[item.member] = Member(
                role: item.rights.role, limit: item.rights.limit.map(Set.init))
        }
        for item in draft.roles {
            after.members[item.member]?.role = item.rights.role
            after.members[item.member]?.limit = item.rights.limit.map(Set.init)
        }
        for item in draft.removals { after.members[item.member]?.isActive = false }
        let made = Self.epochs(of: draft, after: before)
        var granted: [(Identifier, EpochName)] = []
        let gaining =
            draft.admissions.map(\.member) + draft.roles.map(\.member)
        for member in gaining {
            for (compartment, entry) in before.current where !made.contains(compartment) {
                let (old, now) = (before.members[member], after.members[member])
                guard now?.reads(compartment) == true else { continue }
                let gainsValues =
                    now?.readsValues(compartment) == true
                    && old?.readsValues(compartment) != true
                if old?.reads(compartment) != true || gainsValues {
                    granted.append((member, EpochName(compartment: compartment, entry: entry)))
                }
            }
        }
        for compartment in made { after.current[compartment] = name }
        steps[name] = Step(
            parents: parent.map { [$0] } ?? [], after: after, made: made, granted: granted)
    }

    /// - Parameter replaced: Members whose keys differ between the two sides.
    mutating func join(
        _ left: GroupHash, _ right: GroupHash, as name: GroupHash, replaced: Set<Identifier>
    ) {
        guard let one = steps[left]?.after, let two = steps[right]?.after else { return }
        var after = one
        for (id, theirs) in two.members {
            guard let mine = one.members[id] else {
                after.members[id] = theirs
                continue
            }
            let lowers =
                Self.isRaise(from: Member(role: mine.role), to: Member(role: theirs.role))
            let raises =
                Self.isRaise(from: Member(role: theirs.role), to: Member(role: mine.role))
            after.members[id] = Member(
                role: lowers ? mine.role : theirs.role,
                limit: mine.limit.map { $0.intersection(theirs.limit ?? $0) } ?? theirs.limit,
                isActive: mine.isActive && theirs.isActive && (lowers || raises)
                    && !replaced.contains(id))
        }
        let made = Set(one.current.keys).union(two.current.keys)
        for compartment in made { after.current[compartment] = name }
        steps[name] = Step(parents: [left, right], after: after, made: made, granted: [])
    }

    /// The entry and everything before it.
    private func past(_ name: GroupHash) -> Set<GroupHash> {
        var (seen, open) = (Set<GroupHash>(), [name])
        while let next = open.popLast() {
            if seen.insert(next).inserted { open += steps[next]?.parents ?? [] }
        }
        return seen
    }

    /// The epochs whose keys a member was given, and all earlier ones of their compartments.
    func epochs(of member: Identifier, values: Bool) -> Set<EpochName> {
        var given: Set<EpochName> = []
        for (name, step) in steps {
            guard let rights = step.after.members[member] else { continue }
            for compartment in step.made
            where values ? rights.readsValues(compartment) : rights.reads(compartment) {
                given.insert(EpochName(compartment: compartment, entry: name))
            }
            for grant in step.granted where grant.member == member {
                let compartment = grant.epoch.compartment
                if values ? rights.readsValues(compartment) : rights.reads(compartment) {
                    given.insert(grant.epoch)
                }
            }
        }
        var all: Set<EpochName> = []
        for epoch in given {
            for earlier in past(epoch.entry)
            where steps[earlier]?.made.contains(epoch.compartment) == true {
                all.insert(EpochName(compartment: epoch.compartment, entry: earlier))
            }
        }
        return all
    }
}
