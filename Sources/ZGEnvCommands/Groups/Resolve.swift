internal import CommandLineKit
internal import EnvOperations
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `resolve`: decides about a contested variable.
struct Resolve: Command {
    static let spec = CommandSpec(
        ["resolve"], "Resolve a contested variable of a shared project",
        discussion: """
            Without --take, lists the versions in question: who stored them and when, not the \
            values. --take makes one of them the value for everyone.
            """,
        arguments: [ArgumentSpec("KEY", .one, "The variable", completion: .dynamic(.variable))],
        options: [
            OptionSpec(
                "take", value: "VERSION",
                "The version to use: the first digits of its ID, mine for this vault's version, or theirs or a member's name if that is unique"
            )
        ],
        examples: [.init("zg-env resolve API_KEY --take mine", "keep this vault's value")],
        exitCodes: ExitCode.ofOpening(and: .conflict, .unauthorized))
    static let fields = """
        With --take:
        key, project: string; taken: string; author?, scope?: string
        others?: [{ scope: string; keeps: string | null }]; scopes?: [string] (with --take mine)
        dryRun: boolean
        Without --take:
        key: string
        candidates: [{
            id, author: string; createdAt: number (in milliseconds since 1970); version: number
            isMine: boolean; scope: string
        }]
        """

    private let key: String
    private let take: String?

    init(_ command: ParsedCommand) throws {
        key = command.required("KEY")
        take = command.value("take")
        try VariableName.check(key)
    }

    /// A version that may be taken.
    private struct Candidate {
        let variable: Variable
        let version: UInt64
        let id: String
        let author: String
        let createdAt: UInt64
        let isMine: Bool
        let scope: String
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (project, shared, index) = try GroupAccess.sharedProject(workspace)
        let named = Set(index.variables.lazy.filter { $0.name == key }.map(\.id))
        var contested = shared.contested.filter { named.contains($0.variable) }
        contested += shared.offered.filter { offer in
            named.contains(offer) && !contested.contains { $0.variable == offer }
        }.map { SharedProject.ContestedVariable(variable: $0, contest: []) }
        guard !contested.isEmpty else {
            throw CommandError(.conflict, "\(key) is not contested in \(project.name).")
        }
        let candidates = try candidates(contested, shared, index)
        guard let take else { return list(candidates, contested, project.name, workspace) }
        // Names and scopes determine which variables there are, so they are decided first.
        let unclear = contested.filter { !$0.contest.isDisjoint(with: Self.attributes) }
        guard unclear.isEmpty else {
            return try decideAttributes(of: unclear, take, index, project.name, workspace)
        }
        let chosen = try choose(take, candidates, project.name)
        let contest = contested.first { $0.variable == chosen.variable.id }?.contest ?? []
        let others = contest.contains(.twin) ? others(than: chosen, contested, index) : []
        if !workspace.options.dryRun {
            try apply(chosen, contest, others, workspace)
            workspace.note(
                "\(key) now has the value stored by \(chosen.author) for \(chosen.scope).")
            others.map { $0.line(key) }.forEach(workspace.note)
        }
        return CommandResult(json: [
            "key": .string(key), "project": .string(project.name), "taken": .string(chosen.id),
            "author": .string(chosen.author), "scope": .string(chosen.scope),
            "others": .array(
                others.map { other in
                    [
                        "scope": .string(other.scope.description),
                        "keeps": .string(orNull: other.isRemoved ? nil : other.rest.description),
                    ]
                }),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }

    private static let attributes: SharedProject.Contest = [.name, .scope]

    /// Gives everybody this vault's names and scopes.
    private func decideAttributes(
        of contested: [SharedProject.ContestedVariable], _ take: String, _ index: VaultIndex,
        _ project: String, _ workspace: Workspace
    ) throws -> CommandResult {
        guard take == "mine" else {
            throw CommandError(
                .usage,
                "Members gave \(key) different names or scopes. Only the name and scope in this "
                    + "vault can be chosen.",
                hint:
                    "--take mine gives everyone this vault's name and scope. To choose a colleague's, first change the variable to match, with zg-env rename, set or rm."
            )
        }
        let scopes = contested.compactMap { item in
            index.variables.first { $0.id == item.variable }?.attributes.scope.description
        }
        if !workspace.options.dryRun {
            var decided = GroupNews()
            for item in contested { decided.decided[item.variable] = [.name, .scope] }
            try workspace.session.commit { [decided] _, news in
                news.add(decided)
                news.add(AuditedNames(project: project, names: [key]))
            }
            for scope in scopes {
                workspace.note(
                    "Everyone now gets this vault's name and scope: \(key) for \(scope).")
            }
            if contested.contains(where: { !$0.contest.isSubset(of: Self.attributes) }) {
                workspace.note(
                    "See what else is contested with: zg-env resolve \(word: key) -p \(word: project)"
                )
            }
        }
        return CommandResult(json: [
            "key": .string(key), "project": .string(project), "taken": "mine",
            "scopes": .strings(scopes), "dryRun": .bool(workspace.options.dryRun),
        ])
    }

    /// Another variable of the name that shares a target with the chosen one.
    private struct Other {
        let variable: Identifier
        let scope: Scope
        /// What the chosen variable leaves it.
        let rest: Scope

        var isRemoved: Bool { rest.isEmpty }

        func line(_ key: String) -> String {
            "\(key) for \(scope.description) "
                + (isRemoved ? "was removed." : "now applies to \(rest.description) only.")
        }
    }

    private func others(
        than chosen: Candidate, _ contested: [SharedProject.ContestedVariable], _ index: VaultIndex
    ) -> [Other] {
        contested.compactMap { item in
            guard item.variable != chosen.variable.id,
                let other = index.variables.first(where: { $0.id == item.variable }), other.isLive,
                other.attributes.scope.overlaps(chosen.variable.attributes.scope)
            else { return nil }
            let scope = other.attributes.scope
            return Other(
                variable: other.id, scope: scope,
                rest: scope.subtracting(chosen.variable.attributes.scope))
        }
    }

    private func choose(
        _ take: String, _ candidates: [Candidate], _ project: String
    ) throws -> Candidate {
        let found =
            switch take {
            case "mine": candidates.filter(\.isMine)
            case "theirs": candidates.filter { !$0.isMine }
            default:
                candidates.filter {
                    $0.author == take || (!take.isEmpty && $0.id.hasPrefix(take))
                }
            }
        guard let chosen = found.first, found.count == 1 else {
            throw CommandError(
                found.isEmpty ? .notFound : .usage,
                found.isEmpty
                    ? "None of the contested versions matches \(take)."
                    : "Several of the contested versions match \(take).",
                hint: "List them with: zg-env resolve \(word: key) -p \(word: project)")
        }
        return chosen
    }

    private func candidates(
        _ contested: [SharedProject.ContestedVariable], _ shared: SharedProject,
        _ index: VaultIndex
    ) throws -> [Candidate] {
        let membership = try GroupMembership.all(in: index).first { $0.group == shared.group }
        let records =
            try SharedState.of(shared.compartment, shared.group, in: index)?.records ?? []
        var found: [Candidate] = []
        for item in contested {
            guard let variable = index.variables.first(where: { $0.id == item.variable }),
                let record = records.first(where: { $0.variable == item.variable })
            else { continue }
            let history = History(of: variable, in: index)
            for number in Set(record.choices + record.offers + [variable.currentVersion]).sorted() {
                guard let version = record.version(number) else { continue }
                found.append(
                    Candidate(
                        variable: variable, version: number, id: version.id.hexadecimal,
                        author: membership?.name(of: version.author) ?? "?",
                        createdAt: history.version(number)?.createdAt ?? 0,
                        isMine: number == variable.currentVersion
                            && version.author == membership?.member,
                        scope: variable.attributes.scope.description))
            }
        }
        return found
    }

    private func list(
        _ candidates: [Candidate], _ contested: [SharedProject.ContestedVariable],
        _ project: String, _ workspace: Workspace
    ) -> CommandResult {
        let now = Int64(clamping: workspace.context.now())
        var lines = contested.map { "\(key): \(ContestGate.reason(of: $0.contest))." }
        for candidate in candidates {
            let age = TimeText.age(of: Int64(clamping: candidate.createdAt), at: now)
            lines.append(
                "  \(candidate.id.prefix(8))  by \(candidate.author), \(age), for \(candidate.scope)"
                    + (candidate.isMine ? " (mine)" : ""))
        }
        let isAboutValues = contested.allSatisfy { $0.contest.isDisjoint(with: Self.attributes) }
        let way = isAboutValues ? "ID" : "mine"
        lines.append("Take one with: zg-env resolve \(key) -p \(word: project) --take \(way)")
        let text = DisplayText.lines(lines)
        return CommandResult(
            json: [
                "key": .string(key),
                "candidates": .array(
                    candidates.map { candidate in
                        [
                            "id": .string(candidate.id), "author": .string(candidate.author),
                            "createdAt": .integer(Int64(clamping: candidate.createdAt)),
                            "version": .integer(Int64(clamping: candidate.version)),
                            "isMine": .bool(candidate.isMine), "scope": .string(candidate.scope),
                        ]
                    }),
            ], text: text)
    }

    private func apply(
        _ chosen: Candidate, _ contest: SharedProject.Contest, _ others: [Other],
        _ workspace: Workspace
    ) throws {
        let now = workspace.context.now()
        let isAboutValues = contest.isDisjoint(with: [.late, .twin])
        var decided = GroupNews(decided: [
            chosen.variable.id: isAboutValues ? [.value, .type] : [.value, .name, .scope, .type]
        ])
        for other in others { decided.decided[other.variable] = [.scope] }
        try workspace.session.commit { [decided] transaction, news in
            news.add(decided)
            guard let position = transaction.position(of: chosen.variable.id),
                transaction.makeCurrent(
                    version: chosen.version, ofVariableAt: position, at: now)
            else { throw CommandError(.notFound, "The version is no longer in this vault.") }
            for other in others {
                guard let place = transaction.position(of: other.variable) else { continue }
                if other.isRemoved {
                    transaction.index.variables[place].deletedAt = now
                } else {
                    transaction.index.variables[place].attributes.scope = other.rest
                }
                transaction.index.variables[place].updatedAt = now
            }
        }
    }
}
