internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Which variables of a project an integration of Vercel put there and may write again, as of the last
/// listing. The vault does not store that; it comes from the response cache.
struct IntegrationLabels {
    /// What the integration says of each, by Vercel's id.
    private let kinds: [String: String]

    /// Labels nothing.
    init() { kinds = [:] }

    /// Reads what is cached of a project. Sends nothing; a failure labels nothing.
    init(of project: VaultProject, _ answers: VercelResponses?) {
        let kept: VercelResponses.Timed<IntegrationNote>? = project.binding.flatMap {
            try? answers?.kept(.integrations(project: $0.projectID), $0)
        }
        kinds = kept?.answer.kinds ?? [:]
    }

    /// Returns what an integration says of a variable; nil if none manages it.
    func kind(of variable: Variable) -> String? { variable.remote.flatMap { kinds[$0.id] } }

    /// Caches the labels of a project. A failure is not reported: only the labels are missing then.
    static func keep(
        _ listed: ListedRecords, of project: String, _ access: VercelSession.Access,
        teamID: String?, askedAt: UInt64, _ workspace: Workspace
    ) {
        guard let keys = try? workspace.session.keys(.index),
            let answers = try? VercelResponses(workspace, keys: keys)
        else { return }
        let kinds = Dictionary(
            listed.compactMap { record in record.integration.map { (record.id, $0) } },
            uniquingKeysWith: { first, _ in first })
        let subject = ResponseKey.Subject.integrations(project: project)
        guard !kinds.isEmpty else { return answers.drop { $0.address.subject == subject } }
        try? answers.keep(
            [subject: IntegrationNote(kinds: kinds)], from: access, scope: APIScope(teamID: teamID),
            askedAt: askedAt)
    }
}

extension LinkedProject {
    /// Caches which of its variables integrations manage.
    func keepLabels(_ listed: ListedRecords, askedAt: UInt64, _ workspace: Workspace) {
        IntegrationLabels.keep(
            listed, of: platform.id, access, teamID: platform.teamID, askedAt: askedAt, workspace)
    }
}
