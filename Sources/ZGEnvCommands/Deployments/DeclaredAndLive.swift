internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// How many of the declared variables a new deployment was built with.
struct DeclaredAndLive {
    private let schema: String
    private let results: [SchemaResult]

    /// Looks at a deployment, if the project has a schema. A failure is only a warning: the deployment
    /// itself is live.
    ///
    /// - Returns: Nil without a schema, or after a failure.
    init?(
        _ deployment: String, for target: String, of named: NamedDeployment, _ workspace: Workspace
    ) {
        guard let local = named.local else { return nil }
        do {
            guard let index = try workspace.session.indexWithoutPrompt(),
                let advice = try SchemaAdvice.find(for: local, in: index, workspace)
            else { return nil }
            let bound = LinkedProject(
                access: .init(client: named.client, account: nil), platform: named.project,
                local: local)
            let look = try VercelLook(bound, workspace).liveLook(at: target, deployment: deployment)
            schema = advice.name
            results = try advice.results(look).filter(\.isRequired)
        } catch {
            workspace.context.warn(
                "declared-not-checked",
                "The declared variables were not checked. \(CommandError(mapping: error).message)")
            return nil
        }
    }

    private func keys(_ isMeant: (SchemaResult) -> Bool) -> [String] {
        results.filter(isMeant).map(\.key).sorted()
    }

    private var missing: [String] { keys { $0.state == .missing || $0.state == .empty } }
    private var unknown: [String] { keys { $0.state == .unknown } }
    /// Not among the deployment's variables: a default or a function of the schema must supply them.
    private var supplied: [String] {
        keys { [.default, .elsewhere, .depends].contains($0.state) && $0.level != .ok }
    }
    private var liveCount: Int {
        results.count - missing.count - unknown.count - supplied.count
    }

    /// "Declared and live: 14 of 15; missing: X."
    var line: String {
        var line = "Declared in \(schema) and live: \(liveCount) of \(results.count)"
        if !missing.isEmpty { line += "; missing: \(missing.joined(separator: ", "))" }
        if !supplied.isEmpty {
            line += "; not set, left to the schema's defaults: \(supplied.joined(separator: ", "))"
        }
        if !unknown.isEmpty { line += "; unknown: \(unknown.joined(separator: ", "))" }
        return line + "."
    }

    static let fields = """
        { (the declared variables, with --wait)
            live, required: number; missing, unknown, defaults: [string]
        }
        """

    var json: JSONValue {
        [
            "live": .integer(Int64(liveCount)), "required": .integer(Int64(results.count)),
            "missing": .strings(missing), "unknown": .strings(unknown),
            "defaults": .strings(supplied),
        ]
    }
}
