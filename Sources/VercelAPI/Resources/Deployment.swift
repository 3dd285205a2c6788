/// A deployment, from a list or by itself; the platform names the same things differently there.
package struct Deployment: Codable, Sendable, Equatable {
    /// How far a deployment is.
    package struct State: OpenText {
        /// The platform's own word.
        package let rawValue: String
        /// Wraps the platform's own word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Waits for its turn.
        package static var queued: Self { Self(rawValue: "QUEUED") }
        /// Is about to build.
        package static var initializing: Self { Self(rawValue: "INITIALIZING") }
        /// Builds.
        package static var building: Self { Self(rawValue: "BUILDING") }
        /// Is built; may not have its addresses yet.
        package static var ready: Self { Self(rawValue: "READY") }
        /// Failed.
        package static var error: Self { Self(rawValue: "ERROR") }
        /// Was stopped, by a user or by the project's own rule.
        package static var canceled: Self { Self(rawValue: "CANCELED") }
        /// Is not allowed to go on.
        package static var blocked: Self { Self(rawValue: "BLOCKED") }
        /// Is gone.
        package static var deleted: Self { Self(rawValue: "DELETED") }

        /// Whether it failed; old words end in `_ERROR`.
        package var isFailed: Bool { self == .error || rawValue.hasSuffix("_ERROR") }
        /// Whether nothing will change it any more, short of deletion.
        package var isFinal: Bool {
            isFailed || self == .ready || self == .canceled || self == .blocked || self == .deleted
        }
    }

    /// What became of a deployment that is ready.
    package struct Substate: OpenText {
        /// The platform's own word.
        package let rawValue: String
        /// Wraps the platform's own word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Never had production traffic.
        package static var staged: Self { Self(rawValue: "STAGED") }
        /// Is being released bit by bit.
        package static var rolling: Self { Self(rawValue: "ROLLING") }
        /// Has or had production traffic.
        package static var promoted: Self { Self(rawValue: "PROMOTED") }
    }

    /// The id, `dpl_…`.
    package let id: String
    /// The name of its project.
    package let name: String?
    /// The id of its project.
    package let projectId: String?
    /// Its own host name, without a scheme.
    package let url: String?
    /// How far it is.
    package let state: State
    /// What became of it once it was ready.
    package let substate: Substate?
    /// `production`, `staging`, or nil for a preview.
    package let target: String?
    /// The custom environment it is for: its id.
    package let customEnvironmentId: String?
    /// The custom environment it is for: its name.
    package let customEnvironmentSlug: String?
    /// Who or what made it.
    package let source: String?
    /// The name of the user who made it.
    package let creator: String?
    /// When it was made.
    package let createdAt: APITime?
    /// When building began.
    package let buildingAt: APITime?
    /// When it became ready.
    package let readyAt: APITime?
    /// Whether its addresses point to it.
    package let isAliasAssigned: Bool
    /// When that happened, where the answer tells.
    package let aliasAssignedAt: APITime?
    /// Why its addresses could not be set. Untrusted text.
    package let aliasError: String?
    /// Its addresses; only when read by itself.
    package let aliases: [String]
    /// Whether production can be rolled back to it.
    package let isRollbackCandidate: Bool?
    /// The code of what went wrong.
    package let errorCode: String?
    /// What went wrong. Untrusted text.
    package let errorMessage: String?
    /// The part of the build that failed, such as `buildStep`; only when read by itself.
    package let errorStep: String?
    /// The page about it.
    package let inspectorURL: String?
    /// Where the code came from, and why it was made: `githubCommitRef`, `action` and so on, and nothing
    /// that has no meaning here. Untrusted texts.
    package let meta: [String: String]
    /// What ``NewDeployment/mark`` it was made with.
    package let mark: String?
    /// The state of the check that holds its addresses back, where there is one.
    package let aliasCheckState: String?

    /// The branch it was built from.
    package var branch: String? {
        meta["githubCommitRef"] ?? meta["gitlabCommitRef"] ?? meta["bitbucketCommitRef"]
    }

    /// The commit it was built from.
    package var commit: String? {
        meta["githubCommitSha"] ?? meta["gitlabCommitSha"] ?? meta["bitbucketCommitSha"]
    }

    /// Whether nothing is left to wait for: its addresses are set, or it ended without.
    package var isSettled: Bool {
        isAliasAssigned || aliasError != nil || aliasCheckState == "failed"
            || (state.isFinal && state != .ready)
    }

    /// All that is ever written of one, to be kept.
    private enum CodingKeys: String, CodingKey {
        case id, name, projectId, url, target, customEnvironmentId, customEnvironmentSlug, source
        case creator, createdAt, buildingAt, errorCode, meta
        case state = "readyState"
        case substate = "readySubstate"
        case readyAt = "ready"
    }

    /// Users of the Vercel CLI put into `meta` what they like.
    private static let metaNames = Set(
        services.flatMap { service in
            ["Ref", "Sha", "Message", "AuthorName", "AuthorLogin"].map { "\(service)Commit\($0)" }
        } + ["action", "originalDeploymentId", "deployHookName"])

    /// Reads a deployment in either form, or in the one that is kept.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.text("id") ?? object.requiredText("uid")
        name = object.text("name")
        let project = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: "project")
        projectId = object.text("projectId") ?? project?.text("id")
        url = object.text("url")
        // `status` is the newest of the three names, and all of them mean the same.
        state = State(
            rawValue: object.text("readyState") ?? object.text("state") ?? object.text("status")
                ?? "UNKNOWN")
        substate = object.text("readySubstate").map { Substate(rawValue: $0) }
        target = object.text("target")
        let custom = try? object.nestedContainer(
            keyedBy: JSONKey.self, forKey: "customEnvironment")
        customEnvironmentId = custom?.text("id") ?? object.text("customEnvironmentId")
        customEnvironmentSlug = custom?.text("slug") ?? object.text("customEnvironmentSlug")
        source = object.text("source")
        creator = object.object("creator")?.text("username") ?? object.text("creator")
        createdAt = object.time("createdAt") ?? object.time("created")
        buildingAt = object.time("buildingAt")
        readyAt = object.time("ready")
        aliasAssignedAt = object.time("aliasAssigned")
        isAliasAssigned =
            object.bool("aliasAssigned") ?? aliasAssignedAt.map { $0.milliseconds > 0 } ?? false
        if let error = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: "aliasError") {
            aliasError = error.text("message") ?? error.text("code") ?? "unknown"
        } else {
            aliasError = object.text("aliasError")
        }
        aliases = object.texts("alias") ?? []
        isRollbackCandidate = object.bool("isRollbackCandidate")
        errorCode = object.text("errorCode")
        errorMessage = object.text("errorMessage")
        errorStep = object.text("errorStep")
        inspectorURL = object.text("inspectorUrl")
        let meta = object.object("meta")
        self.meta = Self.texts(meta)
        mark = meta?.text(JSONKey(stringValue: NewDeployment.markName))
        let checks = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: "checks")
        let check = try? checks?.nestedContainer(
            keyedBy: JSONKey.self, forKey: "deployment-alias")
        aliasCheckState = check?.text("state")
    }

    private static func texts(_ meta: JSONObject?) -> [String: String] {
        var texts: [String: String] = [:]
        for key in meta?.allKeys ?? [] where metaNames.contains(key.stringValue) {
            texts[key.stringValue] = meta?.text(key) ?? meta?.number(key).map { String($0) }
        }
        return texts
    }
}

extension Deployment: ListElement {
    static var listNames: [JSONKey] { ["deployments"] }
}
