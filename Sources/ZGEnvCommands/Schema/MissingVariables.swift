internal import EnvOperations
internal import Vault

/// The required variables that the vault lacks, by names alone.
struct MissingVariables {
    /// The keys by target, without targets that lack nothing.
    let keys: [(target: String, keys: [String])]
    private let schema: String

    /// - Parameter targets: The targets to look at.
    /// - Returns: Nil without a schema.
    init?(
        of project: VaultProject, in index: VaultIndex, targets: [String], _ workspace: Workspace
    ) throws {
        guard let advice = try SchemaAdvice.find(for: project, in: index, workspace) else {
            return nil
        }
        let look = VaultLook(of: project, in: index, nil)
        keys = try targets.map { target in
            let missing = try advice.problems([look.look(at: target)]).filter {
                $0.state == .missing
            }
            return (target, missing.map(\.key).sorted())
        }.filter { !$0.keys.isEmpty }
        schema = advice.name
    }

    /// Each key once, sorted.
    var names: [String] { Set(keys.flatMap(\.keys)).sorted() }

    /// "Declared but missing in production: 3": nil if nothing is missing.
    var count: String? {
        guard !keys.isEmpty else { return nil }
        return keys.map { "Declared but missing in \($0.target): \($0.keys.count)" }
            .joined(separator: "; ")
    }

    /// "Declared in .env.schema but still missing in production: A, B": nil if nothing is missing.
    var list: String? {
        guard !keys.isEmpty else { return nil }
        let parts = keys.map { "in \($0.target): \(VariableName.list($0.keys))" }
        return "Declared in \(schema) but still missing \(parts.joined(separator: "; "))"
    }
}
