internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// The variables of shared projects that need a decision, for listings. Part of every index.
struct GroupMarks {
    private var projects: Set<Identifier> = []
    private var contested: [Identifier: SharedProject.Contest] = [:]
    private var offered: Set<Identifier> = []
    private var held: [Identifier: HeldGate.Finding] = [:]

    init(in index: VaultIndex) throws {
        if index.journal.isEmpty { return }
        for shared in try SharedProject.all(in: index) {
            projects.insert(shared.project)
            for item in shared.contested { contested[item.variable] = item.contest }
            offered.formUnion(shared.offered)
            for finding in try HeldGate.findings(shared, in: index) {
                held[finding.variable.id] = finding
            }
        }
    }

    /// Why a variable needs a decision; nil if it does not.
    func reason(of variable: Variable) -> String? {
        if let contest = contested[variable.id] { return ContestGate.reason(of: contest) }
        if offered.contains(variable.id) { return ContestGate.reason(of: []) }
        return held[variable.id].map { HeldGate.clauses($0).joined(separator: ", and ") }
    }

    /// The decision that a variable needs.
    enum Mark: String, CaseIterable {
        case contested, offered
        /// A colleague's change is not accepted.
        case toAccept
    }

    func mark(of variable: Variable) -> Mark? {
        if isContested(variable) { return .contested }
        if offered.contains(variable.id) { return .offered }
        return held[variable.id] == nil ? nil : .toAccept
    }

    /// The command that decides about a variable.
    func command(for variable: Variable, in project: String) -> String {
        let rest = "\(word: variable.name) -p \(word: project)"
        guard mark(of: variable) == .toAccept else { return "zg-env resolve \(rest)" }
        let isEmpty =
            variable.currentVersion == 0 && held[variable.id]?.effects.contains(.offer) == true
        return "zg-env \(isEmpty ? "rm" : "group accept") \(rest)"
    }

    func isContested(_ variable: Variable) -> Bool { contested[variable.id] != nil }

    /// Whether one of these variables needs a decision.
    func concern(_ variables: [Variable]) -> Bool {
        if contested.isEmpty && offered.isEmpty && held.isEmpty { return false }
        return variables.contains { mark(of: $0) != nil }
    }

    func cell(of variable: Variable) -> Table.Cell {
        switch mark(of: variable) {
        case .contested: .init("contested", as: .bad)
        case .offered: .init("offered", as: .warning)
        case .toAccept: .init("to accept", as: .warning)
        case nil: ""
        }
    }

    static let fields =
        "group?: \(oneOf: Mark.self) | null (only for a project shared with a group)"

    func members(of variable: Variable) -> [JSONValue.Member] {
        guard projects.contains(variable.project) else { return [] }
        return [.init("group", .string(orNull: mark(of: variable)?.rawValue))]
    }
}
