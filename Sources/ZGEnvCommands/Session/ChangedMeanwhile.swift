internal import Vault

/// The one error for a vault that changed between a plan and its write.
enum ChangedMeanwhile {
    private static let shownCount = 5

    /// - Parameters:
    ///   - planned: The plan, with what it was made from.
    ///   - now: The index under the lock.
    static func error<Plan>(since planned: Planned<Plan>, _ now: VaultIndex) -> CommandError {
        let changes = projects(since: planned, now) + variables(since: planned, now)
        return error(
            changes.isEmpty
                ? "The vault changed while the command was running."
                : "The vault changed while the command was running: \(text(changes)).")
    }

    /// The same about one thing, as a clause.
    static func error(about change: String) -> CommandError {
        error("The vault changed while the command was running: \(change).")
    }

    /// Checks that a name still belongs to the project that a command read, so that the command
    /// does not create a second one. A project that was new to the command may exist now, but not
    /// be another one that was renamed.
    static func check(
        _ known: VaultProject?, named name: String, in index: VaultIndex, since before: VaultIndex
    ) throws {
        let found = index.project(named: name)
        if let known, found?.id != known.id {
            throw error(about: "project \(name) was renamed or removed")
        }
        if known == nil, let old = before.projects.first(where: { $0.id == found?.id }) {
            throw error(about: "project \(old.name) was renamed to \(name)")
        }
    }

    private static func error(_ message: String) -> CommandError {
        CommandError(
            .conflict, message, hint: "Nothing was written. Run the command again.")
    }

    private static func text(_ changes: [String]) -> String {
        let rest = changes.count - shownCount
        return changes.prefix(shownCount).joined(separator: "; ")
            + (rest > 0 ? "; and \(rest) more" : "")
    }

    private static func projects<Plan>(since planned: Planned<Plan>, _ now: VaultIndex) -> [String]
    {
        guard let before = planned.projects else { return [] }
        let known = before.keyed(by: \.id)
        let left = Set(now.projects.map(\.id))
        return now.projects.compactMap { project in
            guard let old = known[project.id] else { return "project \(project.name) was created" }
            if !old.name.utf8.elementsEqual(project.name.utf8) {
                return "project \(old.name) was renamed to \(project.name)"
            }
            return old.binding == project.binding
                ? nil : "project \(project.name) was linked elsewhere"
        } + before.filter { !left.contains($0.id) }.map { "project \($0.name) was removed" }
    }

    private static func variables<Plan>(
        since planned: Planned<Plan>, _ now: VaultIndex
    ) -> [String] {
        let known = planned.variables.keyed(by: \.id)
        return now.variables.compactMap { variable in
            guard known[variable.id] != nil || planned.whole.contains(variable.project) else {
                return nil
            }
            return clause(about: variable, before: known[variable.id])
        }
    }

    private static func clause(about now: Variable, before: Variable?) -> String? {
        let name = "\(now.name) for \(now.attributes.scope.description)"
        guard let before, before.isLive || now.isLive else {
            return before == nil && now.isLive ? "\(name) was added" : nil
        }
        if !now.isLive { return "\(name) was removed" }
        if !before.isLive { return "\(name) was added" }
        if !before.name.utf8.elementsEqual(now.name.utf8) {
            return "\(before.name) was renamed to \(now.name)"
        }
        if before.currentVersion != now.currentVersion { return "\(name) has another value" }
        if before.attributes.scope != now.attributes.scope {
            return "\(now.name) now applies to \(now.attributes.scope.description)"
        }
        if before.attributes != now.attributes { return "\(name) has another type or comment" }
        return before.remote == now.remote ? nil : "\(name) was pushed or pulled"
    }
}
