internal import JSON

/// A variable as a deployment was built with it.
struct ResolvedVariable: Codable, Sendable {
    var key: String
    var value: String
    var type: VariableType
}

/// The state of a deployment.
enum ReadyState: String, Codable, Sendable {
    case queued = "QUEUED"
    case initializing = "INITIALIZING"
    case building = "BUILDING"
    case ready = "READY"
    case error = "ERROR"
    case canceled = "CANCELED"
    case blocked = "BLOCKED"

    /// True when no build step follows.
    var isFinal: Bool {
        switch self {
        case .queued, .initializing, .building: false
        case .ready, .error, .canceled, .blocked: true
        }
    }
}

/// One deployment of a project; `SandboxState.advance` moves it on.
struct Deployment: Codable, Sendable {
    /// A failure's code and message.
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
    /// The host name.
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
    /// True when neither the build nor the aliases will change by themselves any more.
    var isSettled = false
    var log: [DeploymentEvent] = []
    /// What the build prints besides, in the notation of ``BuildScript``; `nil` for nothing.
    var script: [String]?
    /// How many lines of the script have been printed.
    var printed: Int?

    /// The branch, from where clients look for it.
    var branch: String? { meta["githubCommitRef"] ?? gitSource?.branch }

    /// The host names meant for it besides those of production.
    func automaticHosts(project: Project, ownerSlug: String) -> [String] {
        let label = (branch ?? "deploy").lowercased().map {
            $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-"
        }
        return ["\(project.name)-git-\(String(label).prefix(28))-\(ownerSlug).vercel.app"]
    }
}
