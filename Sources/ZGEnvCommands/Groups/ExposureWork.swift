internal import CommandLineKit
internal import EnvOperations
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// Finds out what members of a group know, and records decisions about it.
struct ExposureWork {
    /// Members whose knowledge is examined, with the name that the user gave.
    struct Subject {
        let name: String
        let subject: GroupView.Subject
    }

    /// A member who can write and was not seen since.
    struct SilentMember {
        let member: Identifier
        let name: String
        /// Why it was accepted; nil if it was not.
        let reason: String?
    }

    /// A decision to record.
    struct Decision {
        let matter: Settlement.Matter
        let object: Identifier
        /// The project that the object belongs to; nil for any.
        let project: Identifier?

        init(_ matter: Settlement.Matter, _ object: Identifier, in project: Identifier?) {
            (self.matter, self.object, self.project) = (matter, object, project)
        }
    }

    /// What was found.
    struct Found {
        let rows: [ExposureRow]
        let isStillMember: Bool
        let missingCount: Int
        /// Changes of this vault that the group does not have yet.
        let waitingCount: Int
        /// Projects of the group that this vault does not have: what is known of them was not compared.
        let unusedProjects: [String]
        /// Projects for which the group proposes a link to Vercel that this vault does not have: what
        /// is live was not seen.
        let unlinkedProjects: [String]
        /// What Vercel has and this vault does not know: its values were not compared.
        let unknown: [ExposureView.Unknown]
        let silent: [SilentMember]
        /// The state words of what was examined.
        let words: String
        /// When, in milliseconds since 1970.
        let time: UInt64
        let group: String

        /// Whether nothing has to be replaced.
        var isSettled: Bool {
            !isStillMember && missingCount == 0 && waitingCount == 0 && unusedProjects.isEmpty
                && unlinkedProjects.isEmpty && unknown.isEmpty
                && silent.allSatisfy { $0.reason != nil }
                && !rows.contains(where: \.isLeft)
        }

        /// What was not compared or not seen, for people.
        func remarks(_ group: String) -> [String] {
            unusedProjects.map {
                "This vault does not use \($0), so its values were not compared. Get it with: "
                    + "zg-env group adopt \(word: "\($0)@\(group)")"
            }
                + unlinkedProjects.map {
                    "\($0) is not linked as the group proposes, so it is not known which values "
                        + "are live. Link it with: zg-env group adopt \(word: $0) --bind"
                } + unknown.lines
        }

        /// Why this is not the end; nil if nothing is left.
        func failure(about who: String) -> CommandError? {
            if isSettled { return nil }
            let left = rows.filter(\.isLeft)
            guard !left.isEmpty || waitingCount == 0 else {
                return CommandError(
                    .failed,
                    "\(WaitingChanges.text(waitingCount)): colleagues may still use earlier values.",
                    hint: "Publish with: zg-env sync")
            }
            guard !left.isEmpty else {
                return unknown.failure
                    ?? CommandError(
                        .failed, "It is not certain yet that everything was replaced.",
                        hint: "See: zg-env group exposure \(word: who)")
            }
            return ExposureRow.failure(
                left,
                accepting: "zg-env group exposure \(word: who) --accept KEY --reason TEXT")
        }

        static let fields = """
            group, who: string; asOf: time; stateWords: string; isSettled, isStillMember: boolean
            missingChanges, waitingChanges: number; unusedProjects, unlinkedProjects: [string]
            unknownOnVercel: [{ \(ExposureView.Unknown.fields) }]
            silent: [{ (members who have not synced since the removal)
                member, name: string; reason: string | null
            }]
            variables: [{zg-env exposure, variables}]
            """

        func json(about who: String) -> JSONValue {
            [
                "group": .string(group), "who": .string(who),
                "asOf": .time(orNull: Int64(clamping: time)),
                "stateWords": .string(words), "isSettled": .bool(isSettled),
                "isStillMember": .bool(isStillMember),
                "missingChanges": .integer(Int64(missingCount)),
                "waitingChanges": .integer(Int64(waitingCount)),
                "unusedProjects": .strings(unusedProjects),
                "unlinkedProjects": .strings(unlinkedProjects),
                "unknownOnVercel": .array(unknown.map(\.json)),
                "silent": .array(
                    silent.map {
                        [
                            "member": .string($0.member.hexadecimal), "name": .string($0.name),
                            "reason": .string(orNull: $0.reason),
                        ]
                    }),
                "variables": .array(rows.map(\.json)),
            ]
        }
    }

    private let access: GroupAccess
    private let workspace: Workspace

    init(_ access: GroupAccess, _ workspace: Workspace) {
        (self.access, self.workspace) = (access, workspace)
    }

    /// - Throws: ``ExitCode/unauthorized`` unless this vault is an admin, who sees all projects.
    func requireAdmin() throws {
        try access.membership.requireAdmin(
            "sees all of its projects, and can tell what a member could read")
    }

    /// Returns all machines of a person who left, or else the members with the name or ID.
    func subject(named who: String) throws -> Subject {
        let people = access.membership.people
        let found = people.named(who)
        guard let first = found.first else {
            throw CommandError(
                .notFound, "\(access.membership.name) never had a member \(who).",
                hint: "List the members with: zg-env group show \(word: access.membership.name)")
        }
        let persons = Set(found.map(\.person))
        if persons.count == 1 {
            let machines = people.filter { $0.person == first.person }
            // A machine of somebody who is still there stands for itself.
            if !machines.contains(where: \.isActive) || machines.count == found.count {
                return Subject(
                    name: who,
                    subject: .init(members: Set(machines.map(\.member)), id: first.person))
            }
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "Several members are called \(who).",
                hint: "Specify one by the first digits of its ID: "
                    + found.map { String($0.member.hexadecimal.prefix(8)) }.joined(separator: ", "))
        }
        return Subject(name: who, subject: .init(members: [first.member], id: first.member))
    }

    /// Compares what the members know with what is in use.
    ///
    /// - Parameter looksAtVercel: Whether to ask Vercel first what is live.
    func statement(of subject: Subject, looksAtVercel: Bool = true) throws -> Found {
        let membership = access.membership
        let keys = try workspace.session.keys(.values)
        let sights = looksAtVercel ? try look(membership) : [:]
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        let view = try access.view()
        let statement = try view.exposure(
            of: subject.subject, askedBy: membership.member, index, reader)
        let shared = try SharedProject.all(of: membership.group, in: index)
        let unused = view.compartments.filter { compartment in
            !shared.contains { $0.compartment == compartment }
        }
        let exposed = Set(statement.variables.map(\.project))
        let unlinked = shared.filter { shared in
            guard let proposal = shared.proposal, exposed.contains(shared.project) else {
                return false
            }
            return !proposal.isSame(as: index.project(shared.project)?.binding)
        }
        let states = try SharedState.all(of: membership.group, in: index)
        let heads = Dictionary(
            states.map { ($0.compartment, $0.heads.sorted()) }, uniquingKeysWith: { $1 })
        let exposure = try ExposureView(index, seeing: sights)
        let rows = try statement.variables.map {
            try ExposureRow($0, in: exposure, name: membership.name(of:))
        }
        return Found(
            rows: rows, isStillMember: statement.isStillMember,
            missingCount: statement.missingCount,
            waitingCount: try OutgoingChange.all(of: membership.group, in: index).count,
            unusedProjects: unused.map { view.state(of: $0).projectNames.first ?? "?" }.sorted(),
            unlinkedProjects: unlinked.compactMap { index.project($0.project)?.name }.sorted(),
            unknown: exposure.unknown(besides: rows),
            silent: statement.silent.map {
                SilentMember(
                    member: $0.member, name: membership.name(of: $0.member),
                    reason: $0.acceptance?.reason)
            },
            words: membership.stateWords(heads), time: workspace.context.now(),
            group: membership.name)
    }

    private func look(
        _ membership: GroupMembership
    ) throws -> [Identifier: VercelComparison.Sight] {
        let index = try workspace.session.index(.listing)
        let shared = Set(try SharedProject.all(of: membership.group, in: index).map(\.project))
        return try ExposureRow.look(at: index.projects.filter { shared.contains($0.id) }, workspace)
    }

    /// Writes a signed report.
    func write(_ found: Found, about subject: Subject, to path: String, replaces: Bool) throws {
        let membership = access.membership
        try ExposureReport(
            found.json(about: subject.name), group: membership.group, member: membership.member,
            signedBy: try access.secrets().signingKeyPair(.authority)
        ).write(to: path, replaces: replaces)
    }

    /// Publishes decisions, which otherwise wait like other changes. If that fails, they do.
    func publish() {
        if workspace.options.offline { return }
        do { try GroupSync.syncAndReport(access, workspace) } catch {
            workspace.context.warn(
                "not-sent", "The decision was not sent. \(CommandError(mapping: error).message)")
        }
    }

    /// Signs decisions as a change of the group.
    func record(_ decisions: [Decision], about subject: Subject, reason: String) throws {
        let index = try workspace.session.index(.listing)
        let shared = try SharedProject.all(of: access.membership.group, in: index)
        var settlements: [Identifier: [Settlement]] = [:]
        for decision in decisions {
            guard
                let project = shared.first(where: {
                    decision.project == nil || $0.project == decision.project
                })
            else { continue }
            settlements[project.compartment, default: []].append(
                Settlement(
                    matter: decision.matter, subject: subject.subject.id, object: decision.object,
                    reason: reason))
        }
        let news = GroupNews(settlements: settlements)
        let names = AuditedNames(names: [access.membership.name])
        try workspace.session.commit {
            $1.add(news)
            $1.add(names)
        }
    }
}
