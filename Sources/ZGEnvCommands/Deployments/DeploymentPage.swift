internal import VercelAPI

/// The URL of a deployment's page on Vercel: `https://vercel.com/TEAM/PROJECT/ID`.
struct DeploymentPage {
    /// The full id; the URL has it without `dpl_`.
    let deployment: String
    private let team: Substring
    private let project: Substring

    /// Returns nil if the text is not the URL of such a page.
    init?(_ text: String) {
        let parts = Self.parts(of: text)
        guard let host = parts.first, parts.count >= 4,
            ["vercel.com", "www.vercel.com"].contains(host.lowercased())
        else { return nil }
        (team, project) = (parts[1], parts[2])
        deployment = parts[3].hasPrefix("dpl_") ? String(parts[3]) : "dpl_\(parts[3])"
    }

    /// Returns the host of a deployment's URL; an id is returned unchanged.
    static func host(of text: String) -> String {
        parts(of: text).first.map { String($0) } ?? text
    }

    private static func parts(of text: String) -> [Substring] {
        var rest = Substring(text)
        for scheme in ["https://", "http://"] where rest.hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
        }
        return rest.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
    }

    /// Throws ``ExitCode/conflict`` if the team or project of the URL is not that of the deployment.
    ///
    /// The team is compared only if Vercel reports the page's URL. The former name of a renamed project
    /// is accepted.
    func check(_ found: Deployment, of project: Project) throws {
        let own = found.inspectorURL.flatMap { Self($0) }
        let names = [project.name, own.map { String($0.project) }].compactMap { $0?.lowercased() }
        let isProject = names.contains(self.project.lowercased())
        let isTeam = own.map { $0.team.lowercased() == team.lowercased() } ?? true
        guard !isProject || !isTeam else { return }
        let place = own.map { "\($0.team)/\(project.name)" } ?? project.name
        throw CommandError(
            .conflict,
            "The URL belongs to \(team)/\(self.project), but \(found.id) is a deployment of \(place).",
            hint: "If you mean this deployment, use its ID instead of the URL.")
    }
}
