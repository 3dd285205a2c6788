package import VercelAPI

/// A short record of a watched deployment, without anything that could be a value.
package struct WatchedDeployment: Codable, Equatable, Sendable {
    /// The relevant part of a deployment's state.
    package enum Phase: String, Codable, Sendable {
        /// Waiting, or in a state that this version does not know.
        case waiting
        /// Building or about to.
        case building
        case ready
        /// Failed or blocked.
        case failed
        case canceled
        case deleted

        /// Whether it has ended.
        package var isFinal: Bool { self != .waiting && self != .building }
    }

    /// The id, `dpl_…`.
    package let id: String
    /// The project's id.
    package let projectID: String
    package let phase: Phase
    /// Vercel's own word for the phase.
    package let state: String
    /// Whether it has or had production traffic, as far as Vercel reports it.
    package let isPromoted: Bool
    /// Whether it is staged.
    package let isStaged: Bool
    /// Whether its build started.
    package let hasBegun: Bool
    /// `production`, a custom environment, or `preview`.
    package let target: String
    /// The host name. Untrusted text.
    package let url: String?
    /// The deployment's page on vercel.com. Untrusted text.
    package let inspectorURL: String?
    /// The branch. Untrusted text.
    package let branch: String?
    /// The first line of the commit message. Untrusted text.
    package let commitMessage: String?
    /// The user who created it. Untrusted text.
    package let creator: String?
    /// When it was created, by Vercel's clock, in milliseconds since 1970.
    package let createdAt: Int64

    /// The range of plausible times: 1970 to the year 9999.
    static let times: ClosedRange<Int64> = 0...253_402_300_799_999
}

extension WatchedDeployment {
    /// Creates a record, or returns nil if Vercel reports no project or no creation time.
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
}

/// Something that happened to a deployment.
package struct DeploymentChange: Codable, Equatable, Sendable {
    /// What happened.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// The build started.
        case started
        case ready
        /// It failed or was blocked.
        case failed
        case canceled
        /// It was staged and is live now.
        case promoted
    }

    package let kind: Kind
    /// The deployment as it was then.
    package let deployment: WatchedDeployment

    package init(_ kind: Kind, _ deployment: WatchedDeployment) {
        self.kind = kind
        self.deployment = deployment
    }
}
