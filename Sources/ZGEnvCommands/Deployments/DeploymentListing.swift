internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// Formats deployments.
enum DeploymentListing {
    static let fields = """
        id: string; url: string | null; state, target: string; branch: string | null
        createdAt: time | null; current: boolean | null (whether it is live)
        """

    /// Returns a deployment as JSON.
    ///
    /// - Parameter current: Whether it is live; nil if unknown.
    static func json(_ deployment: Deployment, current: Bool?) -> JSONValue {
        .object(members(deployment, current: current))
    }

    static func members(_ deployment: Deployment, current: Bool?) -> [JSONValue.Member] {
        [
            .init("id", .string(deployment.id)),
            .init("url", .string(orNull: address(of: deployment))),
            .init("state", .string(deployment.state.rawValue)),
            .init("target", .string(target(of: deployment))),
            .init("branch", .string(orNull: deployment.branch)),
            .init("createdAt", .time(orNull: deployment.createdAt?.milliseconds)),
            .init("current", .bool(orNull: current)),
        ]
    }

    /// Returns the URL of a deployment.
    static func address(of deployment: Deployment) -> String? {
        deployment.url.map { $0.contains("://") ? $0 : "https://\($0)" }
    }

    /// Returns a line with a deployment's URL, or its id, safe for a terminal.
    static func line(of deployment: Deployment) -> String {
        DisplayText.safe(address(of: deployment) ?? deployment.id) + "\n"
    }

    /// Returns the text of a plan for `--dry-run`.
    static func would(_ plan: [String]) -> String {
        plan.enumerated().map { place, line in
            (place == 0 ? "Would " : "  ") + DisplayText.safe(sentence: line) + "\n"
        }.joined()
    }

    /// Returns the target of a deployment as in `-t`.
    static func target(of deployment: Deployment) -> String {
        deployment.target ?? deployment.customEnvironmentSlug ?? "preview"
    }
}
