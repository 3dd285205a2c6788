internal import VercelAPI

/// The address of the platform's page about a deployment: `https://vercel.com/TEAM/PROJECT/ID`.
struct DeploymentPage {
    /// The id in full; the address has it without `dpl_`.
    let deployment: String
    private let team: Substring
    private let project: Substring

    /// - Returns: nil for an address that is none of such a page.
    init?(_ text: String) {
        let parts = Self.parts(of: text)
        guard let host = parts.first, parts.count >= 4,
            ["vercel.com", "www.vercel.com"].contains(host.lowercased())
        else { return nil }
        (team, project) = (parts[1], parts[2])
        deployment = parts[3].hasPrefix("dpl_") ? String(parts[3]) : "dpl_\(parts[3])"
    }

    /// Takes scheme and path off the address of a deployment; an id stays what it is.
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

    /// Holds team and project of the address against those of the deployment that its id is of: somebody
    /// who wrote them meant something by it.
    ///
    /// The team is compared where the platform tells the page's address. A project that has got another
    /// name since is still the one of its old pages.
    ///
    /// - Throws: ``ExitCode/conflict``.
    func check(_ found: Deployment, of project: Project) throws {
        let own = found.inspectorURL.flatMap { Self($0) }
        let names = [project.name, own.map { String($0.project) }].compactMap { $0?.lowercased() }
        let isProject = names.contains(self.project.lowercased())
        let isTeam = own.map { $0.team.lowercased() == team.lowercased() } ?? true
        guard !isProject || !isTeam else { return }
        let place = own.map { "\($0.team)/\(project.name)" } ?? project.name
        throw CommandError(
            .conflict,
            "The address names \(team)/\(self.project), and \(found.id) is a deployment of \(place).",
            hint: "Nothing was done. Name it by its id if it is meant.")
    }
}
