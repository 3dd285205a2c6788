/// A deployment, from a list or read by itself, where Vercel uses different member names.
package struct Deployment: Codable, Sendable, Equatable {
    /// The build state of a deployment.
    package struct State: OpenText {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Waiting for its turn.
        package static var queued: Self { Self(rawValue: "QUEUED") }
        package static var initializing: Self { Self(rawValue: "INITIALIZING") }
        package static var building: Self { Self(rawValue: "BUILDING") }
        /// Built, but perhaps not yet reachable under its domains.
        package static var ready: Self { Self(rawValue: "READY") }
        package static var error: Self { Self(rawValue: "ERROR") }
        /// Stopped by a user or by a rule of the project.
        package static var canceled: Self { Self(rawValue: "CANCELED") }
        /// Not allowed to continue.
        package static var blocked: Self { Self(rawValue: "BLOCKED") }
        package static var deleted: Self { Self(rawValue: "DELETED") }

        /// Whether it failed. Older failure states end in `_ERROR`.
        package var isFailed: Bool { self == .error || rawValue.hasSuffix("_ERROR") }
        /// Whether the state will not change any more, except by deletion.
        package var isFinal: Bool {
            isFailed || self == .ready || self == .canceled || self == .blocked || self == .deleted
        }
    }

    /// The release state of a deployment that is ready.
    package struct Substate: OpenText {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Never had production traffic.
        package static var staged: Self { Self(rawValue: "STAGED") }
        /// In a gradual release.
        package static var rolling: Self { Self(rawValue: "ROLLING") }
        /// Has or had production traffic.
        package static var promoted: Self { Self(rawValue: "PROMOTED") }
    }

    /// The id, `dpl_…`.
    package let id: String
    /// The project's name.
    package let name: String?
    /// The project's id.
    package let projectId: String?
    /// Its own host name, without a scheme.
    package let url: String?
    package let state: State
    package let substate: Substate?
    /// `production`, `staging`, or nil for a preview.
    package let target: String?
    /// The id of its custom environment.
    package let customEnvironmentId: String?
    /// The name of its custom environment.
    package let customEnvironmentSlug: String?
    /// What created it, in Vercel's words, such as `git` or `cli`.
    package let source: String?
    /// The name of the user who created it.
    package let creator: String?
    package let createdAt: APITime?
    /// When the build started.
    package let buildingAt: APITime?
    /// When it became ready.
    package let readyAt: APITime?
    /// Whether its domains point to it.
    package let isAliasAssigned: Bool
    /// When the domains were assigned, if the response contains it.
    package let aliasAssignedAt: APITime?
    /// Why its domains could not be assigned. Untrusted text.
    package let aliasError: String?
    /// Its domains; only when read by itself.
    package let aliases: [String]
    /// The names of the variables that it was created with; only when read by itself, and not always
    /// complete.
    package let variableNames: [String]
    /// Whether production can be rolled back to it.
    package let isRollbackCandidate: Bool?
    package let errorCode: String?
    /// The error message. Untrusted text.
    package let errorMessage: String?
    /// The part of the build that failed, such as `buildStep`; only when read by itself.
    package let errorStep: String?
    /// The deployment's page on vercel.com.
    package let inspectorURL: String?
    /// The metadata about its source and cause that zg-env uses: `githubCommitRef`, `action` and so
    /// on. Untrusted texts.
    package let meta: [String: String]
    /// Its deployment marker, ``NewDeployment/mark``.
    package let mark: String?
    /// The state of the check that its domains wait for, if there is one.
    package let aliasCheckState: String?

    /// The branch it was built from.
    package var branch: String? { ofCommit("Ref") }

    /// The commit it was built from.
    package var commit: String? { ofCommit("Sha") }

    /// Whether there is nothing left to wait for: its domains are assigned, or it ended without
    /// them.
    package var isSettled: Bool {
        isAliasAssigned || aliasError != nil || aliasCheckState == "failed"
            || (state.isFinal && state != .ready)
    }

    /// The members of the cached form.
    private enum CodingKeys: String, CodingKey {
        case id, name, projectId, url, target, customEnvironmentId, customEnvironmentSlug, source
        case creator, createdAt, buildingAt, errorCode, meta
        case state = "readyState"
        case substate = "readySubstate"
        case readyAt = "ready"
    }

    /// Other members are dropped, because users of the Vercel CLI can put anything into `meta`.
    private static let metaNames = Set(
        services.flatMap { service in
            ["Ref", "Sha", "Message", "AuthorName", "AuthorLogin"].map { "\(service)Commit\($0)" }
        } + ["action", "originalDeploymentId", "deployHookName"])

    /// Decodes either form of the API, or the cached one.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.text("id") ?? object.requiredText("uid")
        name = object.text("name")
        projectId = object.text("projectId") ?? object.object("project")?.text("id")
        url = object.text("url")
        // All three names mean the same; `status` is the newest.
        state = State(
            rawValue: object.text("readyState") ?? object.text("state") ?? object.text("status")
                ?? "UNKNOWN")
        substate = object.text("readySubstate").map { Substate(rawValue: $0) }
        target = object.text("target")
        let custom = object.object("customEnvironment")
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
        aliasError = object.aliasError
        aliases = object.texts("alias") ?? []
        variableNames =
            (object.texts("env") ?? []) + (object.object("build")?.texts("env") ?? [])
        isRollbackCandidate = object.bool("isRollbackCandidate")
        errorCode = object.text("errorCode")
        errorMessage = object.text("errorMessage")
        errorStep = object.text("errorStep")
        inspectorURL = object.text("inspectorUrl")
        let meta = object.object("meta")
        self.meta = Self.texts(meta)
        mark = meta?.text(JSONKey(stringValue: NewDeployment.markName))
        aliasCheckState = object.object("checks")?.object("deployment-alias")?.text("state")
    }

    private static func texts(_ meta: JSONObject?) -> [String: String] {
        var texts: [String: String] = [:]
        for key in meta?.allKeys ?? [] where metaNames.contains(key.stringValue) {
            texts[key.stringValue] = meta?.text(key) ?? meta?.number(key).map { String($0) }
        }
        return texts
    }
}

extension JSONObject {
    /// Why the domains of a deployment could not be assigned: an object or a text.
    var aliasError: String? {
        guard let error = object("aliasError") else { return text("aliasError") }
        return error.text("message") ?? error.text("code") ?? "unknown"
    }
}

extension Deployment: ListElement {
    static var listNames: [JSONKey] { ["deployments"] }
}
