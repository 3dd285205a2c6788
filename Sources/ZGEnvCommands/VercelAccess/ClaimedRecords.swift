internal import EnvOperations
internal import SharedProjects
internal import Vault

/// What colleagues pushed of a shared project, as far as a fresh listing shows it.
struct ClaimedRecords {
    /// By variable.
    private var remotes: [Identifier: RemoteState] = [:]

    var isEmpty: Bool { remotes.isEmpty }

    /// No claims.
    init() {}

    /// - Parameters:
    ///   - index: The whole index.
    ///   - variables: All records of the project, with what is known of Vercel.
    ///   - platform: A fresh listing.
    ///   - account: The account that listed it, for ``RemoteState``.
    init(
        _ index: VaultIndex, of project: Identifier, _ variables: [Variable],
        _ platform: ListedRecords, account: String
    ) throws {
        guard let shared = try SharedProject.of(project, in: index),
            let state = try SharedState.of(shared.compartment, shared.group, in: index)
        else { return }
        let claims = Dictionary(
            state.records.map { record in
                (
                    record.variable,
                    record.claims.map {
                        ColleagueClaims.Claim(
                            version: $0.version, remoteID: $0.remoteID, key: $0.key,
                            updatedAt: $0.updatedAt)
                    }
                )
            }, uniquingKeysWith: { first, _ in first })
        remotes =
            ColleagueClaims(claims, among: variables, platform: platform, account: account).remotes
    }

    /// The claims about a project that is only displayed: none unless the values open without a prompt,
    /// because only the root says which record of Vercel a variable is.
    init(
        of project: VaultProject, _ platform: ListedRecords, _ workspace: Workspace
    ) throws {
        self.init()
        let session = workspace.session
        let own = try session.index(.listing) { $0.project(project.id) }
        guard try SharedProject.of(project.id, in: own) != nil,
            try session.bestKeysWithoutPrompt().opensValues
        else { return }
        let index = try session.index(.everything)
        self = try ClaimedRecords(
            index, of: project.id, index.variables.filter { $0.project == project.id }, platform,
            account: project.binding?.accountID ?? "")
    }

    func apply(to variables: inout [Variable]) {
        if remotes.isEmpty { return }
        for position in variables.indices {
            guard let remote = remotes[variables[position].id] else { continue }
            variables[position].remote = remote
        }
    }
}
