internal import JSON

/// A variable in a deployment's build.
struct ResolvedVariable: Codable, Sendable {
    var key: String
    var value: String
    var type: VariableType
}

enum ReadyState: String, Codable, Sendable {
    case queued = "QUEUED"
    case initializing = "INITIALIZING"
    case building = "BUILDING"
    case ready = "READY"
    case error = "ERROR"
    case canceled = "CANCELED"
    case blocked = "BLOCKED"

    /// True after the last build step.
    var isFinal: Bool {
        switch self {
        case .queued, .initializing, .building: false
        case .ready, .error, .canceled, .blocked: true
        }
    }
}

/// A deployment of a project; `SandboxState.advance` changes its state.
struct Deployment: Codable, Sendable {
    struct Failure: Codable, Sendable {
        var code: String
        var message: String

        var json: JSONValue { ["code": .string(code), "message": .string(message)] }
    }

    /// Whether it has had production traffic.
    enum Substate: String, Codable, Sendable {
        case staged = "STAGED"
        case promoted = "PROMOTED"
    }

    /// Where the code came from.
    struct GitSource: Codable, Sendable {
        var type: String
        var branch: String
        var commit: String?
        var repositoryId: String?
    }

    var id: String
    var projectId: String
    var ownerId: String
    var creatorId: String
    var name: String
    var host: String
    /// `production`, `staging` or `nil` for a preview.
    var target: String?
    var customEnvironmentId: String?
    var source: String
    var meta: [String: String]
    var gitSource: GitSource?
    var originalDeploymentId: String?
    var createdAt: Int64
    var mode: BuildMode
    var buildMilliseconds: Int64
    var forceNew: Bool
    var withCache: Bool
    var variables: [ResolvedVariable]

    var state: ReadyState = .queued
    var buildingAt: Int64?
    var readyAt: Int64?
    var endedAt: Int64?
    var substate: Substate?
    var aliasAssignedAt: Int64?
    var aliasError: Failure?
    var failure: Failure?
    /// True when neither the build nor the aliases will change by themselves.
    var isSettled = false
    var log: [DeploymentEvent] = []
    /// Additional build output in the notation of ``BuildScript``.
    var script: [String]?
    /// Number of script lines printed so far.
    var printed: Int?

    /// The branch, from where clients look for it.
    var branch: String? { meta["githubCommitRef"] ?? gitSource?.branch }

    /// Returns the deployment's host names other than those of production.
    func automaticHosts(project: Project, ownerSlug: String) -> [String] {
        let label = (branch ?? "deploy").lowercased().map {
            $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-"
        }
        return ["\(project.name)-git-\(String(label).prefix(28))-\(ownerSlug).vercel.app"]
    }
}
