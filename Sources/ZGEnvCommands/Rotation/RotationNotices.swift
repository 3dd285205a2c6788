internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// What the groups of shared projects and a rotation tell each other.
struct RotationNotices {
    private let workspace: Workspace

    init(_ workspace: Workspace) { self.workspace = workspace }

    /// Exchanges changes with the groups of projects that have a variable, so that the newest value
    /// is replaced.
    func exchange(about key: String) throws {
        let index = try workspace.session.index(.listing)
        exchange(about: Set(index.variables.lazy.filter { $0.name == key }.map(\.project)))
    }

    /// Exchanges changes with the groups of a rotation's projects.
    func exchange(about rotation: RotationEntry) {
        exchange(about: Set(rotation.plan.members.map(\.project)))
    }

    /// Exchanges changes with the groups of some projects: when a rotation began, so that nobody else
    /// changes the value, and when it ended.
    ///
    /// A group that cannot be reached does not keep anybody from replacing a value that leaked.
    func exchange(about projects: Set<Identifier>) {
        do {
            let known = try SharedProject.all(in: try workspace.session.index(.listing))
            guard known.contains(where: { projects.contains($0.project) }) else { return }
            let index = try workspace.session.index(.everything, with: .values)
            let groups = Set(
                try SharedProject.all(in: index).filter { projects.contains($0.project) }
                    .map(\.group))
            for membership in try GroupMembership.all(in: index)
            where groups.contains(membership.group) && membership.standing == .active {
                exchange(with: membership)
            }
        } catch {
            warn(error, "your groups")
        }
    }

    private func exchange(with membership: GroupMembership) {
        let quiet = workspace.beside(
            workspace.command, workspace.options, workspace.context, ScriptInteraction())
        do {
            guard !workspace.options.offline else {
                throw CommandError(.unavailable, "Requests are turned off (--offline).")
            }
            let report = try GroupSync.sync(
                try GroupAccess(membership, quiet), quiet, admits: false)
            report.news.forEach(workspace.note)
            if let failure = report.failure { throw failure }
        } catch {
            warn(error, membership.name)
        }
    }

    private func warn(_ error: any Error, _ group: String) {
        workspace.context.warn(
            "group-not-told",
            "\(group) was not notified of this rotation. \(CommandError(mapping: error).message)")
    }

    /// - Throws: ``ExitCode/conflict`` if a colleague took over: then the value is theirs to replace.
    func checkNotTakenOver(_ rotation: RotationEntry) throws {
        let index = try workspace.session.index(.everything)
        let variables = Set(rotation.plan.members.flatMap(\.records).map(\.variable))
        for entry in index.groupEntries(.sharedState) {
            let state = try SharedState(entry)
            guard
                state.records.contains(where: { $0.isTakenOver && variables.contains($0.variable) })
            else { continue }
            throw CommandError(
                .conflict,
                "A colleague took over the rotation of \(rotation.plan.key), so it can neither be resumed nor reverted.",
                hint:
                    "Check whether --apply already installed a value, and tell your colleague. Then run: "
                    + "zg-env rotate \(word: rotation.plan.key) --close")
        }
    }

    /// `rotate --take-over`: ends the rotations of colleagues of one variable, for everybody.
    func takeOver(_ key: String?) throws -> CommandResult {
        guard let key else {
            throw CommandError(.usage, "--take-over needs a KEY.")
        }
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let project = try ProjectResolver(workspace).existing(in: index)
        let variables = Set(index.variables(of: project.id, named: key).map(\.id))
        let found = try RotationNotice.all(about: variables, in: index)
        guard !found.isEmpty else {
            throw CommandError(
                .notFound, "No colleague is rotating \(key) in \(project.name).",
                hint: "Get the newest state with: zg-env sync")
        }
        let authors = try found.map { try RotationNoticeGate.author(of: $0, in: index) }
        let answer = try workspace.confirm(
            authors.map { "end the rotation of \(key) that \($0) began" },
            "Are you certain that no rotation is running?")
        if answer {
            let news = GroupNews(takenOver: Set(found.map(\.notice.variable)))
            try workspace.session.commit {
                $1.add(news)
                $1.add(AuditedNames(project: project.name, names: [key]))
            }
            workspace.note("Ended the rotation of \(key) by \(authors.joined(separator: ", ")).")
        }
        let names = authors.joined(separator: ", ")
        return CommandResult(
            json: [
                "key": .string(key), "project": .string(project.name),
                "authors": .strings(authors), "dryRun": .bool(!answer),
            ],
            text: answer
                ? ""
                : DisplayText.safe(sentence: "Would end the rotation of \(key) by \(names)") + "\n")
    }

    /// Rotations of colleagues, for `rotate --status`.
    ///
    /// - Parameters:
    ///   - key: nil for all.
    ///   - project: nil for all.
    func all(of key: String?, in project: Identifier? = nil) throws -> (
        json: [JSONValue], lines: [String]
    ) {
        let index = try workspace.session.index(.everything)
        let variables = index.variables.keyed(by: \.id)
        var (json, lines): ([JSONValue], [String]) = ([], [])
        for found in try RotationNotice.all(about: Set(variables.keys), in: index) {
            let name = variables[found.notice.variable]?.name ?? ""
            if let key, key != name { continue }
            if let project, project != found.shared.project { continue }
            let project = index.project(found.shared.project)?.name ?? ""
            let author = try RotationNoticeGate.author(of: found, in: index)
            let age = TimeText.age(
                of: Int64(clamping: found.notice.beganAt), at: Int64(workspace.context.now()))
            json.append([
                "key": .string(name), "project": .string(project), "author": .string(author),
                "startedAt": .time(orNull: Int64(clamping: found.notice.beganAt)),
            ])
            lines.append("\(name) in \(project): \(author) began to rotate it \(age)\n")
        }
        return (json, lines.map { DisplayText.safe(sentence: $0) })
    }
}
