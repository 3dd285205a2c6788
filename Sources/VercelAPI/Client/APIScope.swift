/// The account or team that a request acts for.
package enum APIScope: Hashable, Sendable {
    /// The owner of the token.
    case personal
    /// A team by its id, `team_…`.
    case team(id: String)
    /// A team by its URL slug.
    case teamSlug(String)

    /// Creates the scope of a team, or of the token's owner if `teamID` is nil.
    package init(teamID: String?) { self = teamID.map { .team(id: $0) } ?? .personal }

    /// The query items that select the scope.
    var query: [(name: String, value: String)] {
        switch self {
        case .personal: []
        case .team(let id): [("teamId", id)]
        case .teamSlug(let slug): [("slug", slug)]
        }
    }
}
