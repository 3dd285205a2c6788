internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// How deployments are shown.
enum DeploymentListing {
    /// A deployment in the form of the contract.
    ///
    /// - Parameter current: Whether it serves production; nil where that was not asked.
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

    /// The address of a deployment's site.
    static func address(of deployment: Deployment) -> String? {
        deployment.url.map { $0.contains("://") ? $0 : "https://\($0)" }
    }

    /// The line that names a deployment to people: its address, or its id where it has none, without what
    /// steers a terminal.
    static func line(of deployment: Deployment) -> String {
        DisplayText.safe(address(of: deployment) ?? deployment.id) + "\n"
    }

    /// A plan that is not carried out, for people: what would be done, and what goes with it.
    static func would(_ plan: [String]) -> String {
        plan.enumerated().map { place, line in
            (place == 0 ? "Would " : "  ") + DisplayText.safe(sentence: line) + "\n"
        }.joined()
    }

    /// What a deployment is for, in the words of `-t`.
    static func target(of deployment: Deployment) -> String {
        deployment.target ?? deployment.customEnvironmentSlug ?? "preview"
    }
}
