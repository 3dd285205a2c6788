import Sandbox
import TestSupport
import Testing

/// The starting point of the tests of deployment actions.
enum FourDeployments {
    /// `web` with an earlier and a live production deployment, a staged one and a preview, oldest
    /// first.
    static let seed = """
        {"projects": [{"name": "web",
          "env": [{"key": "OLD", "value": "a", "target": ["production"]},
                  {"key": "CHANGED", "value": "a", "target": ["production"]},
                  {"key": "GONE", "value": "a", "target": ["production"]},
                  {"key": "PREVIEW", "value": "a", "target": ["preview"]}],
          "deployments": [
            {"target": "production"}, {"target": "production"},
            {"target": "production", "state": "STAGED"}, {"target": "preview"}]}]}
        """

    struct Ids {
        let earlier: String
        let current: String
        let staged: String
        let preview: String
    }

    static func start(
        buildSeconds: Double = 0.3
    ) throws -> (platform: SandboxHome, ids: Ids) {
        let platform = try SandboxHome(seed: Self.seed, buildSeconds: buildSeconds)
        let ids = try platform.deployments()
        #expect(ids.count == 4)
        return (
            platform,
            Ids(earlier: ids[3], current: ids[2], staged: ids[1], preview: ids[0])
        )
    }

    static func act(
        _ platform: SandboxHome, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> ProgramResult {
        try platform.runner(
            ["deployment"] + arguments + ["--yes", "--json"], environment: environment
        ).run()
    }
}
