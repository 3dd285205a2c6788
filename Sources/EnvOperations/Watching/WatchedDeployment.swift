package import VercelAPI

/// What is known of a deployment that is watched: short, and without anything that could be a value.
package struct WatchedDeployment: Codable, Equatable, Sendable {
    /// What counts of a deployment's state.
    package enum Phase: String, Codable, Sendable {
        /// Waits, or is in a state that this version does not know.
        case waiting
        /// Builds, or is about to.
        case building
        /// Is built.
        case ready
        /// Failed, or may not go on.
        case failed
        /// Was stopped.
        case canceled
        /// Is gone.
        case deleted

        /// Whether it has ended.
        package var isFinal: Bool { self != .waiting && self != .building }
    }

    /// The id, `dpl_…`.
    package let id: String
    /// The id of its project.
    package let projectID: String
    /// How far it is.
    package let phase: Phase
    /// The platform's own word for that.
    package let state: String
    /// Whether it has, or had, production traffic, as far as that is told.
    package let isPromoted: Bool
    /// Whether it is ready and waits to be promoted.
    package let isStaged: Bool
    /// Whether its building began.
    package let hasBegun: Bool
    /// `production`, a custom environment, or `preview`.
    package let target: String
    /// Its host name. Untrusted text.
    package let url: String?
    /// The page about it. Untrusted text.
    package let inspectorURL: String?
    /// The branch. Untrusted text.
    package let branch: String?
    /// The first line of the commit's message. Untrusted text.
    package let commitMessage: String?
    /// Who made it. Untrusted text.
    package let creator: String?
    /// When it was made, by the platform's clock, in milliseconds since 1970.
    package let createdAt: Int64

    /// A time before 1970 or after the year 9999 is a mistake.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Takes what counts; nil where the platform does not say whose it is, or since when.
    package init?(_ deployment: Deployment) {
        guard let project = deployment.projectId, let created = deployment.createdAt,
            Self.times.contains(created.milliseconds)
        else { return nil }
        func short(_ text: String?, _ limit: Int = 200) -> String? {
            text.map { String($0.prefix { !$0.isNewline }.unicodeScalars.prefix(limit)) }
        }
        id = String(deployment.id.unicodeScalars.prefix(100))
        projectID = project
        state = short(deployment.state.rawValue, 40) ?? ""
        phase =
            switch deployment.state {
            case .initializing, .building: .building
            case .ready: .ready
            case .canceled: .canceled
            case .blocked: .failed
            case .deleted: .deleted
            case let other: other.isFailed ? .failed : .waiting
            }
        isPromoted = deployment.substate == .promoted
        isStaged = deployment.substate == .staged
        hasBegun = deployment.buildingAt != nil
        target =
            short(deployment.target ?? deployment.customEnvironmentSlug ?? "preview", 100) ?? ""
        url = short(deployment.url, 300)
        inspectorURL = short(deployment.inspectorURL, 600)
        branch = short(deployment.branch)
        commitMessage = short(deployment.commitMessage)
        creator = short(deployment.creator, 100)
        createdAt = created.milliseconds
    }

    /// Names what tests of the watching need.
    package init(
        id: String, project: String, phase: Phase, createdAt: Int64, target: String = "preview",
        isPromoted: Bool = false, isStaged: Bool = false, commitMessage: String? = nil,
        url: String? = nil, inspectorURL: String? = nil, branch: String? = nil,
        creator: String? = nil
    ) {
        self.id = id
        projectID = project
        self.phase = phase
        state = phase.rawValue.uppercased()
        self.isPromoted = isPromoted
        self.isStaged = isStaged
        hasBegun = phase != .waiting
        self.target = target
        self.url = url
        self.inspectorURL = inspectorURL
        self.branch = branch
        self.commitMessage = commitMessage
        self.creator = creator
        self.createdAt = createdAt
    }
}

/// Something that happened to a deployment.
package struct DeploymentChange: Codable, Equatable, Sendable {
    /// What happened.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// Building began.
        case started
        /// It is built.
        case ready
        /// It failed, or may not go on.
        case failed
        /// It was stopped.
        case canceled
        /// It waited to be promoted, and has production's traffic now.
        case promoted
    }

    /// What happened.
    package let kind: Kind
    /// To which deployment, as it was then.
    package let deployment: WatchedDeployment

    /// Names both.
    package init(_ kind: Kind, _ deployment: WatchedDeployment) {
        self.kind = kind
        self.deployment = deployment
    }
}
