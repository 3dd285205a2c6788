extension Deployment {
    /// Why a deployment was made.
    package enum Cause: Equatable, Sendable {
        /// A commit was pushed.
        case commit
        /// An older deployment was built anew.
        case redeploy
        /// A preview was made production.
        case promotion
        /// Production went back to an older deployment.
        case rollback
        /// A deploy hook was called, by its name where that is told. Untrusted text.
        case hook(String?)
        /// Somebody's program made it: the platform's own word, such as `cli`. Untrusted text.
        case other(String)
    }

    /// Why it was made, as far as the platform tells.
    package var cause: Cause? {
        switch meta["action"] {
        case "redeploy": return .redeploy
        case "promote": return .promotion
        case "rollback": return .rollback
        default: break
        }
        if let name = meta["deployHookName"] { return .hook(name) }
        if source == "deploy-hook" || source == "deployHook" { return .hook(nil) }
        if meta["originalDeploymentId"] != nil { return .redeploy }
        if source == "git" || (source == nil && commit != nil) { return .commit }
        return source.map { .other($0) }
    }

    /// What the commit says that it was built from. Untrusted text.
    package var commitMessage: String? {
        meta["githubCommitMessage"] ?? meta["gitlabCommitMessage"] ?? meta["bitbucketCommitMessage"]
    }

    /// Who wrote the commit. Untrusted text.
    package var author: String? {
        Self.services.lazy.compactMap { meta[$0 + "CommitAuthorName"] }.first
    }

    /// The names that its author goes by: of the commit, and of the user who made the deployment.
    package var authorNames: [String] {
        Self.services.flatMap {
            [meta[$0 + "CommitAuthorName"], meta[$0 + "CommitAuthorLogin"]]
        }.compactMap { $0 } + [creator].compactMap { $0 }
    }

    /// Whether the platform can fetch its code again: otherwise its files were uploaded.
    package var hasRepository: Bool { branch != nil || commit != nil }

    /// How long it was built, in milliseconds; nil before the end, and for what was never built.
    package var buildMilliseconds: Int64? {
        guard let buildingAt, let readyAt, readyAt >= buildingAt else { return nil }
        let (span, overflow) = readyAt.milliseconds.subtractingReportingOverflow(
            buildingAt.milliseconds)
        return overflow ? nil : span
    }

    static let services = ["github", "gitlab", "bitbucket"]
}
