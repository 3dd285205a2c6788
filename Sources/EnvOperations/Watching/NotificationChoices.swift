/// What somebody wants to be told, by project. Nothing is told that is not chosen here.
package struct NotificationChoices: Codable, Equatable, Sendable {
    /// What can be chosen.
    package enum Event: String, Codable, Sendable, CaseIterable {
        /// Building began.
        case started
        /// It is built, or went live afterwards.
        case ready
        /// It failed, or may not go on.
        case failed
        /// It was stopped.
        case canceled

        /// The choice that a change belongs to.
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

    /// Whose deployments one list of the platform holds.
    package struct Scope: Codable, Hashable, Sendable {
        /// The API's origin.
        package let origin: String
        /// The platform's id of the user through whom the project was bound.
        package let accountID: String
        /// The platform's id of the team; nil for the user's own projects.
        package let teamID: String?

        /// Names all parts.
        package init(origin: String, accountID: String, teamID: String?) {
            self.origin = origin
            self.accountID = accountID
            self.teamID = teamID
        }
    }

    /// What is chosen for one project.
    package struct Choice: Codable, Equatable, Sendable {
        /// Where its deployments are listed.
        package let scope: Scope
        /// The platform's id of the project.
        package let projectID: String
        /// What the vault called it when it was chosen.
        package var name: String
        /// What is told.
        package var events: Set<Event>
        /// Whether only deployments to production are told of.
        package var productionOnly: Bool
        /// Since when it is watched, by this machine's clock, in milliseconds since 1970.
        package var since: Int64

        /// Names all parts.
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

        /// Tells whether a change is to be told.
        package func wants(_ change: DeploymentChange) -> Bool {
            change.deployment.projectID == projectID && events.contains(Event(change.kind))
                && (!productionOnly || change.deployment.target == "production")
        }
    }

    /// Most projects.
    package static let limit = DeploymentWatcher.projectLimit

    /// By name.
    package private(set) var choices: [Choice]

    /// Nothing is chosen.
    package init() { choices = [] }

    /// Chooses for a project, in place of what was chosen for it; nothing for no events.
    ///
    /// - Returns: False where there are too many already.
    package mutating func set(_ choice: Choice) -> Bool {
        let earlier = choices.first { $0.isFor(choice) }
        choices.removeAll { $0.isFor(choice) }
        guard !choice.events.isEmpty else { return true }
        guard choices.count < Self.limit else { return false }
        var new = choice
        // It was watched all along.
        if let earlier { new.since = earlier.since }
        choices.append(new)
        choices.sort { ($0.name, $0.projectID) < ($1.name, $1.projectID) }
        return true
    }

    /// Everything that is chosen in a scope, by the id of the project.
    package func choices(in scope: Scope) -> [String: Choice] {
        Dictionary(choices.filter { $0.scope == scope }.map { ($0.projectID, $0) }) { $1 }
    }

    /// The scopes that something is chosen in.
    package var scopes: Set<Scope> { Set(choices.map(\.scope)) }
}

extension NotificationChoices.Choice {
    fileprivate func isFor(_ other: Self) -> Bool {
        scope.origin == other.scope.origin && projectID == other.projectID
    }
}
