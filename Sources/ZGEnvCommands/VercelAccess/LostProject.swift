internal import DotEnv
internal import Vault
internal import VercelAPI

/// A bound project that Vercel does not have where it was: moved to a team, or deleted.
struct LostProject {
    /// What happened, and the command that ties the vault's project to what is there now; nil where it is
    /// there after all.
    let error: CommandError?

    /// So many teams are looked into at most.
    private static let teamLimit = 20

    /// Looks for the project by its id, then for another one of its name, in all places of the user.
    init(_ binding: VaultProject.Binding, of project: VaultProject, _ client: VercelClient) {
        let found = Self.find(binding, client)
        let target = found?.project.name ?? binding.projectName
        let hint =
            "Tie it to the one there with: zg-env link \(word: target)"
            + (found?.team.map { " --team \(word: $0)" } ?? "")
            + (target == project.name ? "" : " --as \(word: project.name)") + " --force"
        guard let found else {
            error = CommandError(
                .notFound,
                "Vercel has no project \(binding.projectName) any more that this account may see.",
                hint:
                    "Nothing was changed. Once there is one again, tie \(project.name) to it with: zg-env link \(word: target) --as \(word: project.name) --force"
            )
            return
        }
        guard found.project.id != binding.projectID || found.teamID != binding.teamID else {
            error = nil
            return
        }
        let place = found.team.map { "the team \($0)" } ?? "the account itself"
        error = CommandError(
            .notFound,
            found.project.id == binding.projectID
                ? "\(project.name) was moved on Vercel, and belongs to \(place) now."
                : "Vercel has no longer the project that \(project.name) belongs to. There is another one named \(found.project.name) in \(place).",
            hint: "Nothing was changed. \(hint)")
    }

    private static func find(
        _ binding: VaultProject.Binding, _ client: VercelClient
    ) -> (project: Project, team: String?, teamID: String?)? {
        let personal = client.scoped(to: .personal)
        let teams = ((try? personal.teams()) ?? []).prefix(teamLimit)
        // Where it was comes first.
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
