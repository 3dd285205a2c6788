internal import CommandLineKit
internal import Vault
internal import VercelAPI

/// A linked project that Vercel no longer has in its place: moved to a team, or deleted.
enum MissingProject {
    /// The maximum number of teams to search.
    private static let teamLimit = 20

    /// Searches the user's account and teams for the project's id, then for its name.
    ///
    /// - Returns: What happened, with the command that links to the project's new place; nil if it is
    ///   still there.
    static func error(
        _ binding: VaultProject.Binding, of project: VaultProject, _ client: VercelClient
    ) -> CommandError? {
        let found = find(binding, client)
        let target = found?.project.name ?? binding.projectName
        let hint =
            "Link to the project with: zg-env link \(word: target)"
            + (found?.team.map { " --team \(word: $0)" } ?? "")
            + (target == project.name ? "" : " --as \(word: project.name)") + " --force"
        guard let found else {
            return CommandError(
                .notFound,
                "Vercel no longer has the project \(binding.projectName), or this account has no access to it.",
                hint:
                    "If the project was recreated, link \(project.name) to it with: zg-env link \(word: target) --as \(word: project.name) --force"
            )
        }
        guard found.project.id != binding.projectID || found.teamID != binding.teamID else {
            return nil
        }
        let place = found.team.map { "team \($0)" } ?? "the personal account"
        return CommandError(
            .notFound,
            found.project.id == binding.projectID
                ? "\(project.name) was moved to \(place) on Vercel."
                : "The Vercel project linked to \(project.name) no longer exists. There is another project named \(found.project.name) in \(place).",
            hint: hint)
    }

    private static func find(
        _ binding: VaultProject.Binding, _ client: VercelClient
    ) -> (project: Project, team: String?, teamID: String?)? {
        let personal = client.scoped(to: .personal)
        let teams = ((try? personal.teams()) ?? []).prefix(teamLimit)
        // The old place comes first.
        var places: [(id: String?, slug: String?)] = [(nil, nil)] + teams.map { ($0.id, $0.slug) }
        if let place = places.firstIndex(where: { $0.id == binding.teamID }) {
            places.insert(places.remove(at: place), at: 0)
        }
        for name in [binding.projectID, binding.projectName] {
            for place in places {
                let scoped = client.scoped(to: place.id.map { .team(id: $0) } ?? .personal)
                if let project = try? scoped.project(name) {
                    return (project, place.slug, place.id)
                }
            }
        }
        return nil
    }
}
