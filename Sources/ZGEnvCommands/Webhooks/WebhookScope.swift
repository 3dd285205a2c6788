internal import CommandLineKit
internal import VercelAPI

/// Whose webhooks a command means: one project's, or those of the whole account or team.
struct WebhookScope {
    let client: VercelClient
    /// The only project; nil for all.
    let project: Project?

    /// Takes all projects without one to be named.
    static let allOption = OptionSpec(
        flag: "all-projects", "All projects of the account or team, not one")

    /// - Parameter needsChoice: Whether a project, or `--all-projects`, has to be named.
    init(all wantsAll: Bool, needsChoice: Bool, _ workspace: Workspace) throws {
        if wantsAll, workspace.options.project != nil {
            throw CommandError(.usage, "-p and --all-projects do not go together.")
        }
        if wantsAll || (!needsChoice && workspace.options.project == nil) {
            client = try PlatformSession(workspace).access().client
            project = nil
            return
        }
        do {
            let bound = try BoundProject.anywhere(workspace)
            client = bound.access.client
            project = bound.platform
        } catch let error as CommandError where error.code == .usage {
            throw CommandError(
                .usage, error.message,
                hint: "Give -p NAME, or --all-projects for all of the account or team.")
        }
    }
}
