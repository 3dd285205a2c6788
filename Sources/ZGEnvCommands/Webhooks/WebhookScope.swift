internal import CommandLineKit
internal import VercelAPI

/// The scope of a webhook command: one project, or the whole account or team.
struct WebhookScope {
    let client: VercelClient
    /// nil for all projects.
    let project: Project?

    static let allOption = OptionSpec(
        flag: "all-projects", "Receive events for all projects of the account or team")

    /// - Parameter needsChoice: Whether `-p` or `--all-projects` is required.
    init(all wantsAll: Bool, needsChoice: Bool, _ workspace: Workspace) throws {
        if wantsAll, workspace.options.project != nil {
            throw CommandError(.usage, "-p and --all-projects cannot be used together.")
        }
        if wantsAll || (!needsChoice && workspace.options.project == nil) {
            client = try VercelSession(workspace).access().client
            project = nil
            return
        }
        do {
            let bound = try LinkedProject.anywhere(workspace)
            client = bound.access.client
            project = bound.platform
        } catch let error as CommandError where error.code == .usage {
            throw CommandError(
                .usage, error.message,
                hint: "Use -p NAME, or --all-projects for the whole account or team.")
        }
    }
}
