@testable import EnvOperations

extension WatchedDeployment {
    /// Creates a record.
    init(
        id: String, project: String, phase: Phase, createdAt: Int64, target: String = "preview",
        isPromoted: Bool = false, isStaged: Bool = false, commitMessage: String? = nil,
        url: String? = nil, inspectorURL: String? = nil, branch: String? = nil,
        creator: String? = nil
    ) {
        self.init(
            id: id, projectID: project, phase: phase, state: phase.rawValue.uppercased(),
            isPromoted: isPromoted, isStaged: isStaged, hasBegun: phase != .waiting, target: target,
            url: url, inspectorURL: inspectorURL, branch: branch, commitMessage: commitMessage,
            creator: creator, createdAt: createdAt)
    }
}
