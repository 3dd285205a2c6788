internal import CommandLineKit
internal import EnvOperations
internal import Groups
internal import SharedProjects
internal import Vault

/// Keeps changes of colleagues from having effects here before the user accepts them.
enum HeldGate {
    /// A change that a use depends on.
    struct Finding {
        let change: HeldChange
        let variable: Variable
        let effects: HeldChange.Effects
        let author: String
    }

    /// Checks that nothing is held in the projects of a group, before this vault stops sharing them.
    static func checkAll(of group: GroupHash, in index: VaultIndex) throws {
        let held = try SharedProject.all(of: group, in: index)
            .first { try !findings($0, in: index).isEmpty }
        guard let held else { return }
        let project = index.project(held.project)?.name ?? ""
        throw CommandError(
            .conflict, "Changes by colleagues to \(project) have not been accepted.",
            hint:
                "Accept them with: zg-env group accept -p \(word: project), or remove the variables"
        )
    }

    /// Returns the changes of a project that are not accepted, by name.
    static func findings(_ shared: SharedProject, in index: VaultIndex) throws -> [Finding] {
        // With a part of the index, the names of members are not there.
        let membership = try GroupMembership.of(shared.group, in: index)
        return shared.changesToAccept(in: index).map { change, variable, effects in
            Finding(
                change: change, variable: variable, effects: effects,
                author: membership?.name(of: change.author) ?? "a colleague")
        }.sorted { ($0.variable.name, $0.variable.id) < ($1.variable.name, $1.variable.id) }
    }

    /// Returns the variables of a project that writers created and no one else has taken. Programs, files and
    /// Vercel get the rest, as if these did not exist: a writer stops nothing that worked before.
    static func offers(
        in project: Identifier, of index: VaultIndex
    ) throws -> [Identifier: Variable] {
        if index.journal.isEmpty { return [:] }
        guard let shared = try SharedProject.of(project, in: index) else { return [:] }
        let offers = shared.changesToAccept(in: index).filter { $0.effects.contains(.offer) }
        return Dictionary(
            offers.map { ($0.variable.id, $0.variable) }, uniquingKeysWith: { first, _ in first })
    }

    /// Warns of variables that were left out because writers offer them.
    static func warn(leftOut offers: [Variable], of project: String, _ context: Context) {
        if offers.isEmpty { return }
        let text = words(of: offers, project)
        context.warn("offered", "Left out: \(text.what). \(text.way)")
    }

    /// The error for variables that were named, although writers only offer them.
    static func refusal(of offers: [Variable], in project: String) -> CommandError {
        let text = words(of: offers, project)
        return CommandError(.conflict, "Not accepted: \(text.what).", hint: text.way)
    }

    private static func words(
        of offers: [Variable], _ project: String
    ) -> (what: String, way: String) {
        let names = Set(offers.map(\.name)).sorted()
        let keys = Set(offers.filter { $0.currentVersion > 0 }.map(\.name)).sorted()
        return (
            "\(names.prefix(10).joined(separator: ", "))\(names.count > 10 ? " and \(names.count - 10) more" : ""), which a writer added",
            keys.isEmpty
                ? "Set a value, or remove \(names.count == 1 ? "it" : "them") with: zg-env rm\(names.prefix(10).map { " \(word: $0)" }.joined()) -p \(word: project)"
                : "Accept with: zg-env group accept\(keys.count > 10 ? "" : keys.map { " \(word: $0)" }.joined()) -p \(word: project)"
        )
    }

    /// Checks the variables of a use.
    ///
    /// - Parameters:
    ///   - effects: What matters to this use.
    ///   - place: Where the values are used; nil for everywhere.
    ///   - warnsOnly: For a plan that is only shown.
    /// - Throws: ``ExitCode/conflict`` if a change that matters is not accepted.
    static func check(
        _ variables: Set<Identifier>, in index: VaultIndex, _ effects: HeldChange.Effects,
        in place: ValueTarget? = nil, warnsOnly: Bool = false, _ context: Context
    ) throws {
        if index.journal.isEmpty { return }
        for shared in try SharedProject.all(in: index) where !shared.held.isEmpty {
            let found = try findings(shared, in: index).filter { finding in
                var mattering = finding.effects.intersection(effects)
                if let place, finding.change.scope.applies(in: place) {
                    mattering.remove(.scope)
                }
                return variables.contains(finding.variable.id) && !mattering.isEmpty
            }
            guard !found.isEmpty else { continue }
            let project = index.project(shared.project)?.name ?? ""
            let lines = found.flatMap { clauses($0, effects) }
            let message =
                "Changes by colleagues have not been accepted: \(lines.joined(separator: "; "))."
            if warnsOnly {
                context.warn("not-accepted", message)
                continue
            }
            let keys = Set(found.map(\.variable.name)).sorted().map { "\(word: $0)" }
            throw CommandError(
                .conflict, message,
                hint:
                    "Accept with: zg-env group accept \(keys.joined(separator: " ")) -p \(word: project)"
            )
        }
    }

    /// A clause for each effect, for messages and plans.
    static func clauses(
        _ finding: Finding, _ effects: HeldChange.Effects = .all
    ) -> [String] {
        let (change, variable, author) = (finding.change, finding.variable, finding.author)
        let name = variable.name
        let shown = finding.effects.intersection(effects)
        var lines: [String] = []
        if shown.contains(.offer) {
            let rest = variable.currentVersion > 0 ? "" : ", without a value"
            lines.append("\(author), a writer, added \(name)\(rest)")
        }
        if shown.contains(.program) {
            let effect = CodeLoadingName.effect(of: name)?.text ?? "may change what programs do"
            lines.append("\(author) set \(name), which \(effect)")
        }
        if shown.contains(.name) { lines.append("\(author) renamed \(change.name) to \(name)") }
        if shown.contains(.scope) {
            lines.append(
                "\(author) changed the scope of \(name) from \(change.scope.description) to \(variable.attributes.scope.description)"
            )
        }
        if shown.contains(.weakerType) {
            lines.append(
                "\(author) changed the type of \(name) from \(change.kind.name) to \(variable.attributes.kind.name)"
            )
        }
        return lines
    }
}
