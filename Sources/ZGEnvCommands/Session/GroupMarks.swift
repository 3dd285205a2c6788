internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// The variables of shared projects that need a decision, for listings. Part of every index.
struct GroupMarks {
    private var projects: Set<Identifier> = []
    private var contested: [Identifier: SharedProject.Contest] = [:]
    private var offered: Set<Identifier> = []

    init(in index: VaultIndex) throws {
        if index.journal.isEmpty { return }
        for shared in try SharedProject.all(in: index) {
            projects.insert(shared.project)
            for item in shared.contested { contested[item.variable] = item.contest }
            offered.formUnion(shared.offered)
        }
    }

    /// Why a variable needs a decision; nil if it does not.
    func reason(of variable: Variable) -> String? {
        if let contest = contested[variable.id] { return ContestGate.reason(of: contest) }
        return offered.contains(variable.id) ? ContestGate.reason(of: []) : nil
    }

    func isContested(_ variable: Variable) -> Bool { contested[variable.id] != nil }

    /// Whether one of these variables needs a decision.
    func concern(_ variables: [Variable]) -> Bool {
        if contested.isEmpty && offered.isEmpty { return false }
        return variables.contains { isContested($0) || offered.contains($0.id) }
    }

    func cell(of variable: Variable) -> Table.Cell {
        if isContested(variable) { return .init("contested", as: .bad) }
        return offered.contains(variable.id) ? .init("offered", as: .warning) : ""
    }

    /// `group`: contested, offered or null; nothing for a variable of a project that is not shared.
    func members(of variable: Variable) -> [JSONValue.Member] {
        guard projects.contains(variable.project) else { return [] }
        let mark: JSONValue =
            isContested(variable)
            ? "contested" : offered.contains(variable.id) ? "offered" : .null
        return [.init("group", mark)]
    }
}
