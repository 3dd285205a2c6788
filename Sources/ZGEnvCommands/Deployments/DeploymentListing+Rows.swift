internal import CommandLineKit
internal import VercelAPI

extension DeploymentListing {
    /// A deployment of a list: the form of the contract, and where it came from.
    static func listed(_ deployment: Deployment, current: Bool) -> JSONValue {
        .object(
            members(deployment, current: current) + [
                .init("cause", .string(orNull: cause(of: deployment))),
                .init("commit", .string(orNull: deployment.commit)),
                .init("commitMessage", .string(orNull: deployment.commitMessage)),
                .init("creator", .string(orNull: deployment.creator)),
                .init("errorCode", .string(orNull: deployment.errorCode)),
            ])
    }

    /// Why a deployment was made, in a few words.
    static func cause(of deployment: Deployment) -> String? {
        switch deployment.cause {
        case .commit: "commit"
        case .redeploy: "redeploy"
        case .promotion: "promotion"
        case .rollback: "rollback"
        case .hook(let name?): "deploy hook \(name)"
        case .hook(nil): "deploy hook"
        case .other(let source): source
        case nil: nil
        }
    }

    /// Deployments as a table.
    ///
    /// - Parameter current: The id of the one that serves production.
    static func table(_ deployments: [Deployment], current: String?, now: UInt64) -> Table {
        var table = Table([
            .init("DEPLOYMENT"), .init("STATE"), .init("TARGET", canShrink: true), .init("AGE"),
            .init("BRANCH", canShrink: true), .init("CAUSE", canShrink: true),
            .init("COMMIT", canShrink: true),
        ])
        for deployment in deployments {
            let isCurrent = deployment.id == current
            table.append([
                .init(deployment.id),
                .init(
                    deployment.state.rawValue + (isCurrent ? ", live" : ""),
                    as: role(of: deployment, isCurrent: isCurrent)),
                .init(target(of: deployment)),
                .init(
                    deployment.createdAt.map {
                        TimeText.age(of: $0.milliseconds, at: Int64(clamping: now))
                    } ?? "", as: .dim),
                .init(deployment.branch ?? ""), .init(cause(of: deployment) ?? ""),
                .init(firstLine(deployment.commitMessage ?? "")),
            ])
        }
        return table
    }

    private static func firstLine(_ text: String) -> String {
        String(text.prefix { !$0.isNewline }.prefix(120))
    }

    private static func role(of deployment: Deployment, isCurrent: Bool) -> Style.Role {
        if isCurrent { return .good }
        if deployment.state.isFailed || deployment.state == .blocked { return .bad }
        return deployment.state.isFinal ? .plain : .warning
    }
}
