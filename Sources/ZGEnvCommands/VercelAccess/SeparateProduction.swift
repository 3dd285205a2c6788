internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// A team's policy that a Secret of production is a variable of its own, with a value of its own.
enum SeparateProduction {
    /// Returns whether a Secret with this scope is for production and for another environment too.
    static func concerns(_ scope: Scope) -> Bool {
        scope.targets.contains(.production)
            && (scope.targets != .production || !scope.customEnvironments.isEmpty)
    }

    /// Returns the line of a plan about Secrets that Vercel may refuse, and warns of them if no
    /// question shows the plan.
    ///
    /// Reads the team only if the policy would concern one of them.
    ///
    /// - Parameter secrets: The name and scope of each Secret that is sent.
    static func planLines(
        _ secrets: [(key: String, scope: Scope)], in project: String, of bound: LinkedProject,
        asks: Bool = true, _ workspace: Workspace
    ) -> [String] {
        let shared = secrets.filter { concerns($0.scope) }
        guard let first = shared.first, let owner = bound.platform.teamID,
            let team = try? bound.access.client.withoutRetries().team(owner),
            team.separatesProductionSecrets
        else { return [] }
        let list = shared.map { "\($0.key) (\($0.scope.description))" }.joined(separator: ", ")
        let line =
            "The team requires production Secrets to be separate variables, so Vercel may refuse \(list); to give production its own value, run: zg-env set \(word: first.key) -p \(word: project) -t production"
        if workspace.options.yes || workspace.options.dryRun || !asks {
            workspace.context.warn("separate-production", line)
        }
        return [line]
    }
}
