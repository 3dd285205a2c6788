extension Deployment {
    /// Why a deployment was created.
    package enum Cause: Equatable, Sendable {
        case commit
        /// An older deployment was rebuilt.
        case redeploy
        /// A preview was promoted to production.
        case promotion
        /// Production was rolled back to an older deployment.
        case rollback
        /// A deploy hook was called, with its name if Vercel reports it. Untrusted text.
        case hook(String?)
        /// Another program created it: Vercel's own word, such as `cli`. Untrusted text.
        case other(String)
    }

    /// Why the deployment was created, as far as Vercel reports it.
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

    /// The message of the commit it was built from. Untrusted text.
    package var commitMessage: String? { ofCommit("Message") }

    /// The author of the commit. Untrusted text.
    package var author: String? { ofCommit("AuthorName") }

    /// The names of the commit's author and of the user who created the deployment.
    package var authorNames: [String] {
        Self.services.flatMap {
            [meta[$0 + "CommitAuthorName"], meta[$0 + "CommitAuthorLogin"]]
        }.compactMap { $0 } + [creator].compactMap { $0 }
    }

    /// Whether Vercel can fetch the code again. Otherwise its files were uploaded.
    package var hasRepository: Bool { branch != nil || commit != nil }

    /// The build time in milliseconds; nil before the end, and if it was never built.
    package var buildMilliseconds: Int64? {
        guard let buildingAt, let readyAt, readyAt >= buildingAt else { return nil }
        let (span, overflow) = readyAt.milliseconds.subtractingReportingOverflow(
            buildingAt.milliseconds)
        return overflow ? nil : span
    }

    static let services = ["github", "gitlab", "bitbucket"]

    /// A text about the commit, by the service that it comes from.
    func ofCommit(_ name: String) -> String? {
        Self.services.lazy.compactMap { meta["\($0)Commit\(name)"] }.first
    }
}
