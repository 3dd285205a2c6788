internal import EnvOperations
internal import Vault
internal import VercelAPI

/// A deployment in `watch`. Its texts are shortened, but untrusted.
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
    /// In milliseconds since 1970, by Vercel's clock.
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

    /// The URL for a browser: the inspector of a failed or unfinished deployment, else the site.
    var address: String? {
        let first = isFinal && !isFailed ? site : page
        return Browser.address(first) ?? Browser.address(site)
    }
}

/// A variable of a project, without its value.
struct WatchVariable: Equatable {
    let id: Identifier
    let name: String
    let scope: Scope
    let kind: VariableAttributes.Kind
    let sync: SyncState
    /// As in `list`: nil if not applicable.
    let live: Bool?
}

struct WatchProject: Equatable {
    /// The Vercel id; for a project that exists only in the vault, an invalid one.
    let id: String
    /// The name in the vault, else on Vercel.
    let name: String
    /// Whether it is in the vault.
    var isLocal = false
    /// The id of the live deployment.
    var current: String?
    /// Newest first.
    var rows: [WatchRow] = []
    var variables: [WatchVariable] = []

    /// The newest production deployment that is ready but not live, if production was rolled back
    /// or pinned to an older one.
    var passedOver: WatchRow? {
        guard let live = rows.first(where: { $0.id == current }) else { return nil }
        return rows.first { row in
            row.target == "production" && row.state == "READY" && !row.isStaged
                && row.createdAt > live.createdAt
        }
    }

    /// When the newest failed deployment was created; 0 for none.
    var failedAt: Int64 { rows.lazy.filter(\.isFailed).map(\.createdAt).max() ?? 0 }
    var newestAt: Int64 { rows.first?.createdAt ?? 0 }
    /// How many of its variables are not live.
    var waitingCount: Int { variables.count { $0.live == false } }
}
