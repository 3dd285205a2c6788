internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What `watch` shows of a deployment. Its texts are short, but otherwise as somebody else wrote them.
struct WatchRow: Equatable {
    let id: String
    var state = "READY"
    var isFinal = true
    var isFailed = false
    var isStaged = false
    var target = "preview"
    var branch = ""
    var message = ""
    var author = ""
    var cause = ""
    /// Milliseconds since 1970, by the platform's clock.
    var createdAt: Int64 = 0
    var buildingAt: Int64?
    var buildMilliseconds: Int64?
    var site: String?
    var page: String?

    init(id: String) { self.id = id }

    init(_ deployment: Deployment) {
        func short(_ text: String?, _ limit: Int = 200) -> String {
            String((text ?? "").prefix { !$0.isNewline }.unicodeScalars.prefix(limit))
        }
        id = deployment.id
        state = short(deployment.state.rawValue, 40)
        isFinal = deployment.state.isFinal
        isFailed = deployment.state.isFailed || deployment.state == .blocked
        isStaged = deployment.substate == .staged
        target = short(DeploymentListing.target(of: deployment), 100)
        branch = short(deployment.branch)
        message = short(deployment.commitMessage)
        author = short(deployment.author ?? deployment.creator, 100)
        cause = short(DeploymentListing.cause(of: deployment), 100)
        createdAt = deployment.createdAt?.milliseconds ?? 0
        buildingAt = deployment.buildingAt?.milliseconds
        buildMilliseconds = deployment.buildMilliseconds
        site = deployment.url
        page = deployment.inspectorURL
    }

    /// What a browser is to show: what went wrong where something did, else the site.
    var address: String? {
        let first = isFinal && !isFailed ? site : page
        return Browser.address(first) ?? Browser.address(site)
    }
}

/// A variable of a project, without its value.
struct WatchVariable: Equatable {
    let id: Identifier
    let name: String
    let scope: String
    let sync: SyncState
    /// As for `list`: nil where the question does not arise.
    let live: Bool?
}

/// A project and its newest deployments, as `watch` shows them.
struct WatchProject: Equatable {
    /// The platform's id; for a project of the vault alone, a word that is none.
    let id: String
    /// What it is called: in the vault, else on the platform.
    let name: String
    /// Whether the vault has it.
    var isLocal = false
    /// The deployment that serves production.
    var current: String?
    /// Newest first.
    var rows: [WatchRow] = []
    var variables: [WatchVariable] = []

    /// When its newest failure was made; 0 for none.
    var failedAt: Int64 { rows.lazy.filter(\.isFailed).map(\.createdAt).max() ?? 0 }
    var newestAt: Int64 { rows.first?.createdAt ?? 0 }
    /// How many of its variables production does not have as they are.
    var waitingCount: Int { variables.count { $0.live == false } }
}
