internal import CommandLineKit
internal import SharedProjects
internal import Vault

/// Keeps values in dispute from being given out or sent: two members stored different ones, or
/// somebody who had lost the right changed them.
enum ContestGate {
    /// Checks the variables of a use.
    ///
    /// - Parameter warnsOnly: For programs in development, which go on with this vault's value.
    /// - Throws: ``ExitCode/conflict`` if one is contested.
    static func check(
        _ variables: Set<Identifier>, in index: VaultIndex, warnsOnly: Bool = false,
        _ context: Context
    ) throws {
        if index.journal.isEmpty { return }
        for shared in try SharedProject.all(in: index) where !shared.contested.isEmpty {
            let found = shared.contested.filter { variables.contains($0.variable) }
            guard let first = found.first else { continue }
            let names = found.compactMap { item in
                index.variables.first { $0.id == item.variable }?.name
            }.sorted()
            let project = index.project(shared.project)?.name ?? ""
            let message =
                found.count == 1
                ? "\(names.first ?? "") is contested: \(reason(of: first.contest))."
                : "These variables are contested: \(names.joined(separator: ", "))."
            // Of two variables with one name, neither is this vault's own.
            if warnsOnly, !found.contains(where: { hasTwin($0.variable, in: index) }) {
                context.warn("contested", "\(message) The value in this vault is used.")
                continue
            }
            throw CommandError(
                .conflict, message,
                hint:
                    "Decide with: zg-env resolve \(word: names.first ?? "KEY") -p \(word: project)")
        }
    }

    /// Whether another variable has the name in development.
    private static func hasTwin(_ id: Identifier, in index: VaultIndex) -> Bool {
        guard let variable = index.variables.first(where: { $0.id == id }) else { return false }
        return index.variables.contains { other in
            other.id != id && other.isLive && other.project == variable.project
                && other.name.utf8.elementsEqual(variable.name.utf8)
                && other.attributes.scope.targets.contains(.development)
        }
    }

    /// A clause for messages and listings.
    ///
    /// - Parameter contest: Empty for a variable with an offer.
    static func reason(of contest: SharedProject.Contest) -> String {
        if contest.isEmpty { return "a writer offers another value" }
        if contest.contains(.unreadable) { return "a colleague's value cannot be opened" }
        let attributes: String? =
            contest.contains(.name)
            ? "members gave it different names"
            : contest.contains(.scope) ? "members gave it different scopes" : nil
        let value: String? =
            if contest.contains(.value) {
                "members stored different values at the same time"
            } else if contest.contains(.late) {
                "it was changed by someone who no longer had the right"
            } else if contest.contains(.twin) {
                "two variables have this name and share a target"
            } else { nil }
        return [attributes, value].compactMap { $0 }.joined(separator: ", and ")
    }
}
