internal import CommandLineKit
internal import VercelAPI

/// What people call a deployment: `latest`, `live`, a branch, or the beginning of an id.
extension NamedDeployment {
    /// How many characters of an id select a deployment: enough to mean one, and fewer than a whole id.
    private static let prefixLengths = 7..<32

    /// The words for a deployment of the project in use.
    static let words = ["latest", "live"]

    static func isPrefix(_ text: String) -> Bool {
        text.hasPrefix("dpl_") && prefixLengths.contains(text.utf8.count)
    }

    /// Returns the deployment of the project in use that the text names; nil if there is no such deployment,
    /// or no project is in use.
    ///
    /// - Throws: ``ExitCode/usage`` for the beginning of several ids, ``ExitCode/notFound`` for `latest`
    ///   and `live` of a project without one.
    static func ofProject(_ text: String, _ workspace: Workspace) throws -> NamedDeployment? {
        let isWord = words.contains(text)
        if !isWord {
            // Without a project, the text can only be an id, host name or URL.
            guard (try? ProjectResolver(workspace).reference()) != nil else { return nil }
        }
        let bound = try LinkedProject.anywhere(workspace)
        let client = bound.access.client
        let project = try client.project(bound.platform.id, withRollbackInfo: true)
        guard let id = try id(of: text, project, client) else {
            guard !isWord else {
                throw CommandError(
                    .notFound, "\(project.name) has no \(text == "live" ? "live " : "")deployment.",
                    hint: "List deployments with: zg-env deployment list -p \(word: project.name)")
            }
            return nil
        }
        return NamedDeployment(
            client: client, deployment: try client.deployment(id), project: project,
            local: bound.local)
    }

    /// How many characters without `dpl_` can be an id or its beginning, if no branch has that name.
    private static let shortLengths = 3...28

    private static func id(
        of text: String, _ project: Project, _ client: VercelClient
    ) throws -> String? {
        if text == "live" { return project.production?.id }
        if isPrefix(text) { return try id(from: text, project, client) }
        let isBranch = text != "latest"
        var filter = DeploymentFilter(project: project.id)
        if isBranch { filter.branch = text }
        let newest = try client.deployments(filter).first { $0.state != .deleted }?.id
        guard isBranch, newest == nil, shortLengths.contains(text.utf8.count) else {
            return newest
        }
        return try id(from: "dpl_\(text)", project, client)
    }

    /// Returns the only id of the project that begins like this, or nil.
    private static func id(
        from beginning: String, _ project: Project, _ client: VercelClient
    ) throws -> String? {
        let filter = DeploymentFilter(project: project.id, limit: 100)
        let found = try client.deployments(filter).filter {
            $0.id.hasPrefix(beginning) && $0.state != .deleted
        }
        guard found.count > 1 else { return found.first?.id }
        throw CommandError(
            .usage, "\(beginning) matches \(found.count) deployment IDs.",
            hint: "Use a longer prefix: \(found.prefix(5).map(\.id).joined(separator: ", "))")
    }

    /// The hint that names the list of deployments: of the project in use, if there is one.
    static func listHint(_ workspace: Workspace) -> String {
        let isInUse =
            !workspace.options.namesProject && (try? ProjectResolver(workspace).reference()) != nil
        let place =
            isInUse ? "" : " -p \(workspace.options.project.map { "\(word: $0)" } ?? "NAME")"
        return "List deployments with: zg-env deployment list\(place)"
    }

    /// Whether a text can be the name of a branch rather than a host name, id or URL.
    static func isBranchLike(_ text: String) -> Bool {
        !text.hasPrefix("dpl_") && !text.contains("://")
            && text.prefix { $0 != "/" }.contains(".") == false && !text.isEmpty
            && text.utf8.count <= 250 && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
    }
}
