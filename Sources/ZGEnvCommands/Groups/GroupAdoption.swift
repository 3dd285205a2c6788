internal import CommandLineKit
internal import EnvOperations
internal import Groups
internal import HTTPClient
internal import JSON
internal import SharedProjects
internal import Vault
internal import VercelAPI

/// Takes projects of groups into use: a name, and the link to Vercel that the group proposes.
struct GroupAdoption {
    private let workspace: Workspace
    /// Whether to accept the proposed link; nil to ask a person.
    private let binds: Bool?

    init(_ workspace: Workspace, binds: Bool?) {
        (self.workspace, self.binds) = (workspace, binds)
    }

    /// Gives a project a name of this vault. An own project of that name is kept beside it.
    func adopt(_ project: String, as name: String) throws -> CommandResult {
        let keys = try workspace.session.keys(.values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        guard let found = index.project(named: project) else {
            throw ProjectResolver.notFound(project, in: index)
        }
        guard let shared = try SharedProject.of(found.id, in: index) else {
            throw CommandError(.conflict, "\(project) is not shared with a group.")
        }
        if shared.isAdopted {
            guard binds == true else {
                throw CommandError(.conflict, "\(project) is already adopted.")
            }
            guard name == project || project.hasPrefix("\(name)@") else {
                throw CommandError(
                    .conflict, "\(project) is already adopted, so it was not named \(name).",
                    hint: "Rename it with: zg-env project rename \(word: project) \(word: name)")
            }
            let (bound, target) = try bind(shared, found)
            let link = bound == nil ? target.map { ["link \(name) to \($0.description)"] } : nil
            return CommandResult(
                json: [
                    "project": .string(project), "bound": .string(orNull: bound),
                    "wouldLink": bound == nil ? target?.json ?? .null : .null,
                    "dryRun": .bool(workspace.options.dryRun),
                ], text: DisplayText.lines(link ?? [], after: "Would "))
        }
        guard let values = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        func newPlan(_ index: VaultIndex, _ values: ValueReader) throws -> AdoptionPlan? {
            guard let own = index.project(named: name), own.id != found.id else { return nil }
            return try AdoptionPlan(of: own, found.id, shared.proposal, in: index, values)
        }
        var plan = try newPlan(index, values)
        let lines = plan?.lines(name) ?? []
        // An own project of the name may be linked already, and hands its link over.
        let own = index.project(named: name)?.binding
        let target =
            try binds == true && shared.proposal?.isSame(as: own) == false
            ? shared.proposal.map { try Target(of: $0, for: name, workspace) } : nil
        let link = target == nil ? "" : ", linked to this Vercel project"
        guard
            try workspace.confirm(
                lines + (target?.lines ?? []), "Adopt \(project) as \(name)\(link)?")
        else {
            let all = ["rename \(project) to \(name)"] + lines
            let link = target.map { ["link \(name) to \($0.description)"] } ?? []
            return CommandResult(
                json: json(project, name, plan, bound: nil, wouldLink: target),
                text: DisplayText.lines(all + link, after: "Would "))
        }
        let time = workspace.context.now()
        let change = Change { index, values in
            try newPlan(index, values)?.lines(name) ?? []
        } apply: { transaction, _, _ in
            guard let place = transaction.index.projects.firstIndex(where: { $0.id == found.id })
            else { throw ProjectResolver.notFound(project, in: transaction.index) }
            let current = try newPlan(transaction.index, transaction.values)
            transaction.index.projects[place].name = name
            var adopted = shared
            adopted.isAdopted = true
            try transaction.keep(adopted.entry)
            try current?.apply(to: &transaction, found.id, at: time)
            return current
        }
        plan = try workspace.session.commit(change, as: Planned(lines, in: index))
        workspace.note(
            "Adopted \(project) as \(name). Link a directory with: zg-env link --local \(word: name)"
        )
        for command in plan?.commands(name) ?? [] {
            workspace.note("To give the group your own values, run: \(command)")
        }
        // The result's JSON is computed only where it is printed.
        let bound = try bindNew(shared, name, target)
        return CommandResult(json: json(project, name, plan, bound: bound))
    }

    private func json(
        _ project: String, _ name: String, _ plan: AdoptionPlan?, bound: String?,
        wouldLink target: Target? = nil
    ) -> JSONValue {
        [
            "project": .string(name), "was": .string(project),
            "kept": .string(orNull: plan?.keptName), "equal": .strings(plan?.equal ?? []),
            "differing": .strings(plan?.differing ?? []), "missing": .strings(plan?.missing ?? []),
            "commands": .strings(plan?.commands(name) ?? []), "bound": .string(orNull: bound),
            "wouldLink": target?.json ?? .null,
            "dryRun": .bool(workspace.options.dryRun),
        ]
    }

    // MARK: The link to Vercel

    /// Offers the link that the group proposes for a project that was just adopted.
    private func bindNew(
        _ shared: SharedProject, _ name: String, _ target: Target?
    ) throws -> String? {
        let index = try workspace.session.index(.everything)
        guard let proposal = shared.proposal, let project = index.project(shared.project),
            !proposal.isSame(as: project.binding)
        else { return nil }
        switch binds {
        case true?:
            if let target { return try bind(project, to: target) }
            return try bind(shared, project).bound
        case false?: break
        case nil:
            guard !workspace.options.yes, workspace.interaction.canConfirm else { break }
            let found: Target
            do {
                found = try Target(of: proposal, for: name, workspace)
            } catch {
                workspace.context.warn("not-linked", CommandError(mapping: error).message)
                break
            }
            if try workspace.interaction.confirm(nil, found.lines, found.question(name)) {
                return try bind(project, to: found)
            }
        }
        workspace.note(Self.offer(proposal, name))
        return nil
    }

    /// How to accept a proposal.
    static func offer(_ proposal: GroupBinding, _ name: String) -> String {
        "The group links \(name) to \(words(of: proposal)). To do the same in this vault, run: "
            + "zg-env group adopt \(word: name) --bind"
    }

    /// The Vercel project of a proposal, for people. Its name is a colleague's claim, the ids decide.
    private static func words(of proposal: GroupBinding) -> String {
        "the Vercel project \(proposal.name) (\(proposal.project)"
            + (proposal.team.map { ", team \($0)" } ?? "")
            + (proposal.origin == APIOrigin.vercel.description ? ")" : ", at \(proposal.origin))")
    }

    /// Links a project to the Vercel project that the group proposes.
    ///
    /// - Returns: The id of the Vercel project, nil with `--dry-run`; and the project, unless it is
    ///   linked already.
    private func bind(
        _ shared: SharedProject, _ project: VaultProject
    ) throws -> (bound: String?, target: Target?) {
        guard let proposal = shared.proposal else {
            throw CommandError(
                .conflict, "The group does not propose a Vercel project for \(project.name).",
                hint: "Link it with: zg-env link NAME --as \(word: project.name)")
        }
        if proposal.isSame(as: project.binding) {
            workspace.note("\(project.name) is already linked to \(Self.words(of: proposal)).")
            return (proposal.project, nil)
        }
        let found = try Target(of: proposal, for: project.name, workspace)
        guard try workspace.confirm(found.lines, found.question(project.name)) else {
            return (nil, found)
        }
        return (try bind(project, to: found), found)
    }

    private func bind(_ project: VaultProject, to found: Target) throws -> String {
        let final = try found.binding()
        try LinkedProject.checkOwner(
            of: final, is: project, try workspace.session.index(.everything))
        let forgotten = try workspace.session.commit { transaction, _ in
            guard
                let place = transaction.index.projects.firstIndex(where: { $0.id == project.id })
            else { throw ProjectResolver.notFound(project.name, in: transaction.index) }
            return transaction.bind(projectAt: place, to: final)
        }
        workspace.note("Linked \(project.name) to \(found.words).")
        if forgotten > 0 {
            let verb = forgotten == 1 ? "is" : "are"
            workspace.note(
                "\(DisplayText.count(forgotten, "variable")) \(verb) no longer counted as pushed.")
        }
        return final.projectID
    }
}

extension GroupAdoption {
    /// The Vercel project of a proposal, as Vercel describes it: the name in the proposal is a
    /// colleague's claim, and a push to the linked project sends values there.
    private struct Target {
        private let access: VercelSession.Access
        private let proposed: VaultProject.Binding
        private let platform: Project
        private let team: Team?

        /// - Throws: ``ExitCode/conflict`` if Vercel has another name for it.
        init(of proposal: GroupBinding, for project: String, _ workspace: Workspace) throws {
            proposed = VaultProject.Binding(
                origin: proposal.origin, accountID: "", teamID: proposal.team, teamSlug: nil,
                projectID: proposal.project, projectName: proposal.name)
            access = try VercelSession(workspace).access(proposed)
            guard access.client.origin.description == proposal.origin else {
                throw CommandError(
                    .unauthorized, "You have no token for \(proposal.origin).",
                    hint: "Log in with: zg-env login --api-url \(word: proposal.origin)")
            }
            platform = try Self.platform(of: proposal, access)
            guard platform.name.utf8.elementsEqual(proposal.name.utf8) else {
                throw CommandError(
                    .conflict,
                    "The group proposes the Vercel project \(proposal.project) as \(proposal.name), but on Vercel its name is \(platform.name).",
                    hint: "If \(project) belongs there, link it yourself: zg-env link "
                        + "\(word: platform.name) --as \(word: project)")
            }
            team = try Self.team(of: proposal, access)
            // A token of one project can read it without its team.
            guard platform.accountId == nil || platform.teamID == proposal.team else {
                throw CommandError(
                    .conflict,
                    "The group proposes the Vercel project \(proposal.project) of \(proposal.team.map { "the team \($0)" } ?? "a personal account"), but on Vercel it belongs to \(platform.teamID.map { "the team \($0)" } ?? "a personal account").",
                    hint: "If \(project) belongs there, link it yourself: zg-env link "
                        + "\(word: platform.name) --as \(word: project)")
            }
        }

        private static func platform(
            of proposal: GroupBinding, _ access: VercelSession.Access
        ) throws -> Project {
            do throws(VercelAPIError) {
                return try access.client.project(proposal.project)
            } catch {
                throw access.refusal(error, of: proposal.name, id: proposal.project) ?? error
            }
        }

        /// Reads the proposed team; nil for a personal account, or if the token may read the project but
        /// not its team.
        private static func team(
            of proposal: GroupBinding, _ access: VercelSession.Access
        ) throws -> Team? {
            guard let id = proposal.team else { return nil }
            do throws(VercelAPIError) {
                return try access.client.team(id)
            } catch {
                guard error.isDenial else { throw error }
                return nil
            }
        }

        var words: String {
            "the Vercel project \(proposed.projectName) (\(proposed.projectID))"
        }

        /// What Vercel says of the project.
        private var facts: String {
            let owner =
                team.map { "team \($0.name ?? $0.slug) (\($0.slug))" }
                ?? proposed.teamID.map { "team \($0)" } ?? "personal account"
            return "\(proposed.projectName) (\(proposed.projectID)), \(owner)"
                + (platform.framework.map { ", framework \($0)" } ?? "")
                + (proposed.origin == APIOrigin.vercel.description
                    ? "" : ", at \(proposed.origin)")
        }

        var lines: [String] { ["Vercel project: \(facts)"] }

        var description: String { "the Vercel project \(facts)" }

        var json: JSONValue {
            [
                "projectID": .string(proposed.projectID), "name": .string(proposed.projectName),
                "team": .string(orNull: team?.slug ?? proposed.teamID),
                "teamName": .string(orNull: team?.name),
                "framework": .string(orNull: platform.framework),
                "origin": .string(proposed.origin),
            ]
        }

        func question(_ name: String) -> String { "Link \(name) to it?" }

        func binding() throws -> VaultProject.Binding {
            var binding = proposed
            binding.accountID = try access.userID(orOwnerOf: platform)
            return binding
        }
    }
}
