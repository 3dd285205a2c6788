internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import SharedProjects
internal import Vault

/// The vault beside what Vercel was just seen to have, for judging what is exposed.
struct ExposureView {
    /// Variables of one project that Vercel has and this vault does not know.
    struct Unknown {
        let project: String
        let keys: [String]

        var text: String {
            "Vercel has variables of \(project) that are not in this vault: \(VariableName.list(keys))."
        }

        /// How to learn their values.
        var way: String { "Get their values with: zg-env pull -p \(word: project)" }

        static let fields = "project: string; keys: [string]"

        var json: JSONValue { ["project": .string(project), "keys": .strings(keys)] }
    }

    let index: VaultIndex
    private let variables: [Identifier: Variable]
    private let comparisons: [Identifier: VercelComparison]

    /// - Parameter sights: What Vercel has now, by project.
    init(_ vault: VaultIndex, seeing sights: [Identifier: VercelComparison.Sight]) throws {
        var index = vault
        for project in vault.projects {
            guard let snapshot = sights[project.id]?.snapshot else { continue }
            try ClaimedRecords(
                vault, of: project.id, vault.variables.filter { $0.project == project.id },
                snapshot.records, account: project.binding?.accountID ?? ""
            ).apply(to: &index.variables)
            index.see(snapshot)
        }
        self.index = index
        variables = Dictionary(
            index.variables.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let records = Dictionary(grouping: index.variables, by: \.project)
        comparisons = Dictionary(
            index.projects.map { project in
                (
                    project.id,
                    VercelComparison(
                        of: project, among: records[project.id] ?? [], seeing: sights[project.id])
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    func variable(_ id: Identifier) -> Variable? { variables[id] }

    func project(_ id: Identifier) -> VaultProject? { comparisons[id]?.project }

    /// Returns how Vercel stands to an exposed variable; nil if this vault does not have its project.
    func standing(of exposed: ExposedVariable) -> VercelStanding? {
        let found = exposed.variable.flatMap(variable)
        return comparisons[found?.project ?? exposed.project].map {
            VercelStanding(
                of: found, named: found?.name ?? exposed.name,
                for: found?.attributes.scope ?? exposed.scope, comparing: $0)
        }
    }

    /// Returns what Vercel has and this vault does not know, of the projects with variables that were
    /// not accepted: a value that someone knows may be there under another name.
    func unknown(besides rows: [ExposureRow]) -> [Unknown] {
        let projects = Set(
            rows.filter { $0.acceptedBy == nil }.map { row in
                row.variable.variable.flatMap(variable)?.project ?? row.variable.project
            })
        return projects.compactMap { comparisons[$0] }.filter { !$0.unknownNames.isEmpty }
            .map { Unknown(project: $0.project.name, keys: $0.unknownNames) }
            .sorted { $0.project < $1.project }
    }
}

extension [ExposureView.Unknown] {
    var lines: [String] { map { "\($0.text) \($0.way)" } }

    /// Why nothing is settled while there are any; nil without.
    var failure: CommandError? {
        first.map {
            CommandError(.failed, map(\.text).joined(separator: " "), hint: $0.way)
        }
    }
}
