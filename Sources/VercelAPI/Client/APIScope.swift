/// On whose behalf a request is made.
package enum APIScope: Hashable, Sendable {
    /// The owner of the token.
    case personal
    /// A team by its id, `team_…`.
    case team(id: String)
    /// A team by the name in its URLs.
    case teamSlug(String)

    /// A team by its id, or the owner of the token where there is none.
    package init(teamID: String?) { self = teamID.map { .team(id: $0) } ?? .personal }

    /// What it adds to a query.
    var query: [(name: String, value: String)] {
        switch self {
        case .personal: []
        case .team(let id): [("teamId", id)]
        case .teamSlug(let slug): [("slug", slug)]
        }
    }
}
