internal import CommandLineKit
internal import JSON
internal import VercelAPI

extension DeploymentListing {
    static let listedFields = """
        \(fields); cause, commit, commitMessage, author, creator: string | null
        buildMilliseconds: number | null; errorCode: string | null
        """

    /// The members of a deployment of a list, with its cause and origin.
    static func listed(_ deployment: Deployment, current: Bool) -> [JSONValue.Member] {
        members(deployment, current: current) + [
            .init("cause", .string(orNull: cause(of: deployment))),
            .init("commit", .string(orNull: deployment.commit)),
            .init("commitMessage", .string(orNull: deployment.commitMessage)),
            .init("author", .string(orNull: deployment.author)),
            .init("creator", .string(orNull: deployment.creator)),
            .init("buildMilliseconds", .integer(orNull: deployment.buildMilliseconds)),
            .init("errorCode", .string(orNull: deployment.errorCode)),
        ]
    }

    /// Returns why a deployment was created, in a few words.
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

    /// Returns a table of deployments.
    ///
    /// - Parameter current: The id of the live deployment.
    static func table(_ deployments: [Deployment], current: String?, now: UInt64) -> Table {
        var table = Table([
            .init("DEPLOYMENT"), .init("STATE"), .init("TARGET", canShrink: true), .init("AGE"),
            .init("BUILD", trailing: true), .init("CAUSE", canShrink: true),
            .init("BRANCH", canShrink: true), .init("COMMIT", canShrink: true),
        ])
        for deployment in deployments {
            let isCurrent = deployment.id == current
            table.append([
                .init(deployment.id),
                .init(
                    state(of: deployment, isCurrent: isCurrent),
                    as: role(of: deployment, isCurrent: isCurrent)),
                .init(target(of: deployment)),
                .init(age(of: deployment, now: now) ?? "", as: .dim),
                .init(buildTime(of: deployment, now: now) ?? "", as: .dim),
                .init(cause(of: deployment) ?? ""), .init(deployment.branch ?? ""),
                .init(firstLine(deployment.commitMessage ?? "")),
            ])
        }
        return table
    }

    /// Returns state, target, branch and age in a line, as beside an id to choose.
    static func summary(of deployment: Deployment, isCurrent: Bool, now: UInt64) -> String {
        [
            state(of: deployment, isCurrent: isCurrent), target(of: deployment),
            deployment.branch, age(of: deployment, now: now),
        ].compactMap { $0 }.joined(separator: ", ")
    }

    /// Returns how long ago a deployment was created.
    static func age(of deployment: Deployment, now: UInt64) -> String? {
        deployment.createdAt.map {
            TimeText.age(of: $0.milliseconds, at: Int64(clamping: now))
        }
    }

    /// Returns the state, with "live" or "staged".
    static func state(of deployment: Deployment, isCurrent: Bool) -> String {
        if isCurrent { return deployment.state.rawValue + ", live" }
        return deployment.state.rawValue + (deployment.substate == .staged ? ", staged" : "")
    }

    /// Returns the build time, or the time since the build started.
    static func buildTime(of deployment: Deployment, now: UInt64) -> String? {
        if let span = deployment.buildMilliseconds { return self.span(milliseconds: span) }
        guard deployment.state == .building, let begin = deployment.buildingAt,
            let elapsed = UInt64(exactly: begin.milliseconds).flatMap({ $0 <= now ? now - $0 : nil }
            )
        else { return nil }
        return self.span(milliseconds: Int64(clamping: elapsed)) + "…"
    }

    /// Returns a duration such as `850 ms`, `42 s` or `3 min 5 s`.
    static func span(milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        if milliseconds < 1_000 { return "\(max(milliseconds, 0)) ms" }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
        return "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    }

    /// Returns at most 120 characters of the first line of a text.
    static func firstLine(_ text: String) -> String {
        String(text.prefix { !$0.isNewline }.prefix(120))
    }

    /// Returns the style of a state.
    static func role(of deployment: Deployment, isCurrent: Bool) -> Style.Role {
        if isCurrent { return .good }
        if deployment.state.isFailed || deployment.state == .blocked { return .bad }
        return deployment.state.isFinal ? .plain : .warning
    }
}
