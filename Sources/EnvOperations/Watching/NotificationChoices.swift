/// The notifications that the user chose for each project. Nothing else is shown.
package struct NotificationChoices: Codable, Equatable, Sendable {
    /// An event that can be chosen.
    package enum Event: String, Codable, Sendable, CaseIterable {
        /// The build started.
        case started
        /// It is built, or was promoted later.
        case ready
        /// It failed or was blocked.
        case failed
        case canceled

        /// Returns the event that a change belongs to.
        package init(_ kind: DeploymentChange.Kind) {
            self =
                switch kind {
                case .started: .started
                case .ready, .promoted: .ready
                case .failed: .failed
                case .canceled: .canceled
                }
        }
    }

    /// The account or team of one list of deployments.
    package struct Scope: Codable, Hashable, Sendable {
        /// The API's origin.
        package let origin: String
        /// Vercel's id of the user through whom the project was bound.
        package let accountID: String
        /// Vercel's id of the team; nil for the user's own projects.
        package let teamID: String?

        package init(origin: String, accountID: String, teamID: String?) {
            self.origin = origin
            self.accountID = accountID
            self.teamID = teamID
        }
    }

    /// The choice for one project.
    package struct Choice: Codable, Equatable, Sendable {
        package let scope: Scope
        /// Vercel's id of the project.
        package let projectID: String
        /// The project's name in the vault at the time of the choice.
        package var name: String
        package var events: Set<Event>
        /// Whether to notify only about production deployments.
        package var productionOnly: Bool
        /// When the choice was made, by this machine's clock, in milliseconds since 1970.
        package var since: Int64

        package init(
            scope: Scope, projectID: String, name: String, events: Set<Event>,
            productionOnly: Bool, since: Int64
        ) {
            self.scope = scope
            self.projectID = projectID
            self.name = name
            self.events = events
            self.productionOnly = productionOnly
            self.since = since
        }

        /// Returns whether to notify about a change.
        package func wants(_ change: DeploymentChange) -> Bool {
            change.deployment.projectID == projectID && events.contains(Event(change.kind))
                && (!productionOnly || change.deployment.target == "production")
        }
    }

    /// The most projects.
    package static let limit = DeploymentWatcher.projectLimit

    /// Sorted by name.
    package private(set) var choices: [Choice]

    package init() { choices = [] }

    /// Sets the choice for a project; removes it if there are no events.
    ///
    /// - Returns: False if there are too many already.
    package mutating func set(_ choice: Choice) -> Bool {
        let earlier = choices.first { $0.isFor(choice) }
        choices.removeAll { $0.isFor(choice) }
        guard !choice.events.isEmpty else { return true }
        guard choices.count < Self.limit else { return false }
        var new = choice
        // The project was watched all along.
        if let earlier { new.since = earlier.since }
        choices.append(new)
        choices.sort { ($0.name, $0.projectID) < ($1.name, $1.projectID) }
        return true
    }

    /// Returns all choices in a scope by project id.
    package func choices(in scope: Scope) -> [String: Choice] {
        Dictionary(choices.filter { $0.scope == scope }.map { ($0.projectID, $0) }) { $1 }
    }

    /// The scopes with at least one choice.
    package var scopes: Set<Scope> { Set(choices.map(\.scope)) }
}

extension NotificationChoices.Choice {
    fileprivate func isFor(_ other: Self) -> Bool {
        scope.origin == other.scope.origin && projectID == other.projectID
    }
}
