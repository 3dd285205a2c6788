internal import DotEnv
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// Everything that a rotation needs, found and checked before anything is changed.
struct RotationPreparation {
    /// One project, with what the vault and the platform have of it.
    struct Place {
        let project: VaultProject
        let records: [Variable]
        let bound: BoundProject
        let deployment: RotationDeployments.Choice
        /// What was read of the platform.
        let reading: PlatformReading?
    }

    /// What one request tells of several projects.
    private struct Overview {
        /// By the platform's id.
        var projects: [String: Project] = [:]
        /// The words of teams' policies by their ids; nil where it cannot be read.
        var policies: [String: String?] = [:]
    }

    private let workspace: Workspace
    private let request: RotationRequest
    /// The projects, in the order of the plan.
    let places: [Place]
    /// The value that is replaced; nil where nobody has it.
    let old: SecretSlice?
    /// The records that keep the old value though it is ended.
    let copies: [String]

    /// Looks at the vault and at the platform.
    ///
    /// - Throws: ``ExitCode/usage`` where the records hold several values, ``ExitCode/notFound`` where
    ///   there is no old value to go back to, ``ExitCode/conflict`` where the platform differs or a
    ///   rotation of the same records is open.
    init(_ request: RotationRequest, _ workspace: Workspace) throws {
        self.workspace = workspace
        self.request = request
        try request.check()
        let session = workspace.session
        let keys = try session.keys(.values)
        let platform = try PlatformSession(workspace)
        let missing = try RotationSelection.missing(request, workspace, keys: keys)
        if !missing.isEmpty {
            try RotationOldValues(request: request, workspace: workspace)
                .take(missing, platform)
        }
        let selection = try RotationSelection(request, workspace, keys: keys)
        old = selection.old
        copies = try selection.copies()
        let found = selection.found
        let overview = try Self.overview(of: found, platform)
        var looked: [Result<Place, any Error>?] = Array(repeating: nil, count: found.count)
        session.turns.run(found.count, limit: RotationMachine.buildLimit) { number in
            let place = Result {
                try Self.place(found[number], request, platform, overview, workspace)
            }
            looked[number] = place
            if case .failure = place { return false }
            return true
        }
        // The first of those that failed; those behind it may not have been looked at.
        places = try looked.compactMap { try $0?.get() }
        try checkProof()
        try RotationEntry(createdAt: 0, plan: plan).checkSize()
    }

    /// Reads the projects and teams of several with one request for each account or team. What is not in
    /// the answer is read by itself.
    private static func overview(
        of found: [RotationSelection.Found], _ platform: PlatformSession
    ) throws -> Overview {
        var overview = Overview()
        var accesses: [PlatformSession.Access] = []
        guard found.count > 1 else { return overview }
        for place in found {
            guard let binding = place.project.binding else { continue }
            let access = try platform.access(binding)
            if let team = binding.teamID, overview.policies[team] == nil {
                overview.policies.updateValue(
                    (try? access.client.team(team))?.sensitivePolicy, forKey: team)
            }
            if accesses.contains(where: { $0.isSame(as: access) }) { continue }
            accesses.append(access)
            let listed = try? access.client.projects(limit: LiveRotationPlatform.pageSize)
            for project in listed ?? [] where project.production != nil {
                overview.projects[project.id] = project
            }
        }
        return overview
    }

    private static func place(
        _ found: RotationSelection.Found, _ request: RotationRequest, _ platform: PlatformSession,
        _ overview: Overview, _ workspace: Workspace
    ) throws -> Place {
        let bound = try BoundProject.inVault(
            found.project, platform, workspace,
            knowing: found.project.binding.flatMap { overview.projects[$0.projectID] })
        try checkPolicy(found, bound, overview)
        let reading = try checkStep(found, bound, workspace)
        // Also where nothing is deployed: somebody else may do it before this goes back.
        let deployment: RotationDeployments.Choice
        do {
            deployment = try RotationDeployments.choice(for: found.records, of: bound)
        } catch let error as CommandError where error.code == .notFound && !request.redeploys {
            deployment = .none
        }
        return Place(
            project: bound.local ?? found.project, records: found.records, bound: bound,
            deployment: deployment, reading: reading)
    }

    /// A team may have the platform make what it gets sensitive: then the old value could not be put back as
    /// what it was. Where the policy cannot be read, the read-back tells.
    private static func checkPolicy(
        _ found: RotationSelection.Found, _ bound: BoundProject, _ overview: Overview
    ) throws {
        let readable = found.records.first { record in
            let scope = record.attributes.scope
            return record.attributes.kind != .sensitive
                && (scope.targets.names.contains { $0 != "development" }
                    || !scope.customEnvironments.isEmpty)
        }
        guard let readable, let owner = bound.platform.accountId, owner.hasPrefix("team_"),
            overview.policies[owner] ?? (try? bound.access.client.team(owner))?.sensitivePolicy
                == "on"
        else { return }
        let (key, project) = (readable.name, found.project.name)
        throw CommandError(
            .conflict,
            "The team of \(project) has the platform make \(key) sensitive, which it is not in the vault, so the old value could not be put back.",
            hint:
                "Nothing was changed. Make it sensitive first: zg-env harden \(word: key) -p \(word: project)"
        )
    }

    /// What is rolled back to must be what was there: both sides have to agree beforehand.
    private static func checkStep(
        _ found: RotationSelection.Found, _ bound: BoundProject, _ workspace: Workspace
    ) throws -> PlatformReading? {
        var rules = PushPlan.Rules()
        rules.records = Set(found.records.map(\.id))
        let report = try PushWork(
            workspace, bound, bound.local ?? found.project, rules: rules, isPart: true
        ).run(asks: false, sends: false)
        if report.isInStep { return report.reading }
        throw CommandError(
            .conflict,
            "\(found.records[0].name) of \(found.project.name) is not in step with the platform.",
            hint:
                "Nothing was changed. Look with: zg-env diff --remote -p \(word: found.project.name), then: zg-env push \(word: found.records[0].name) -p \(word: found.project.name)"
        )
    }

    /// With nothing that can prove the new value the old one must not be revoked.
    private func checkProof() throws {
        guard request.commands.revoke != nil, !request.commands.hasCheck else { return }
        let hidden = places.first { place in
            !request.redeploys || place.deployment.target == nil
                || place.records.contains { $0.attributes.kind == .sensitive }
        }
        guard let hidden else { return }
        throw CommandError(
            .usage,
            "Nothing would prove the new value in \(hidden.project.name), so the old one must not be revoked.",
            hint: "Nothing was changed. Say with --check or --check-url how it shows.")
    }

    /// The plan for people.
    var lines: [String] {
        var lines: [String] = []
        for place in places {
            let scopes =
                request.scope?.description
                ?? place.records.map(\.attributes.scope.description).joined(separator: "; ")
            lines.append("give \(request.key) of \(place.project.name) a new value for \(scopes)")
        }
        if let command = request.commands.apply { lines.append("teach it with: \(command)") }
        lines.append("push it, and read it back")
        for place in places {
            guard request.redeploys, let target = place.deployment.target,
                let source = place.deployment.source
            else { continue }
            let promotes = request.promotes && target == "production"
            lines.append(
                "redeploy \(source) of \(place.project.name) for \(target)"
                    + (promotes ? ", and promote it where it is staged" : ""))
        }
        if let warning = stagedWarning { lines.append("note: \(warning)") }
        if let command = request.commands.check { lines.append("check it with: \(command)") }
        if let url = request.commands.checkURL { lines.append("check it at: \(url)") }
        if let command = request.commands.revoke {
            lines.append("end the old value with: \(command)")
            if let warning = blindCheck { lines.append("rely on --check alone: \(warning)") }
            for place in places {
                let left = leftovers(of: place)
                guard !left.isEmpty else { continue }
                lines.append(
                    "leave what is deployed for \(left.joined(separator: ", ")) of \(place.project.name) with the ended value, until it is built anew"
                )
            }
            lines += copies.map { "leave \($0) with the ended value" }
        }
        return lines
    }

    /// What to know where --revoke rests on a command alone, since nothing else sees what a deployment was
    /// built with; nil where it does not.
    var blindCheck: String? {
        let hidden = places.filter { place in
            place.records.contains { $0.attributes.kind == .sensitive }
        }
        guard !hidden.isEmpty, request.commands.revoke != nil, request.commands.check != nil,
            request.commands.checkURL == nil
        else { return nil }
        let names = hidden.map { $0.project.name }.joined(separator: ", ")
        return
            "Vercel does not show what a deployment of \(names) was built with, so --check alone decides whether the old value is revoked. It must ask the deployment itself, at ZG_ENV_DEPLOYMENT_URL; or add --check-url."
    }

    /// What to know where a new production deployment of a project is staged, and nothing promotes it; nil
    /// where there is no such project.
    var stagedWarning: String? {
        guard request.redeploys, !request.promotes else { return nil }
        let staged = places.filter {
            $0.deployment.target == "production" && $0.bound.platform.assignsDomains == false
        }
        guard !staged.isEmpty else { return nil }
        let names = staged.map { $0.project.name }.joined(separator: ", ")
        return
            "New production deployments of \(names) are staged: production keeps what it has, and the rotation goes back, unless --promote is given."
    }

    /// What else is deployed of what is rotated in a project.
    func leftovers(of place: Place) -> [String] {
        RotationLeftovers.targets(
            of: request.scope.map { [$0] } ?? place.records.map(\.attributes.scope),
            deployed: place.deployment.target)
    }

    /// Takes the new value, before anything is changed.
    func newValue() throws -> SecretSlice {
        let value = try RotationInput.value(
            request, old: old, places[0].project.name, workspace)
        if let old, old.equals(value) {
            throw CommandError(
                .usage, "The new value of \(request.key) is the old one.",
                hint: "Nothing was changed.")
        }
        return value
    }

    /// Seals the new value together with the plan: from here on there is a rotation.
    func begin(
        with value: SecretSlice, _ lock: (RotationEntry) throws -> RotationLock
    ) throws -> (RotationEntry, RotationLock) {
        let session = workspace.session
        let time = workspace.context.now()
        let entry = RotationEntry(createdAt: time, plan: plan)
        let held = try lock(entry)
        try session.update(with: try session.keys(.values)) { transaction in
            try RotationSelection.checkNoneIsOpen(
                for: Set(places.flatMap { $0.records.map(\.id) }), key: request.key,
                in: transaction.index)
            for record in places.flatMap(\.records) {
                guard let position = transaction.position(of: record.id),
                    transaction.index.variables[position].currentVersion == record.currentVersion,
                    transaction.index.variables[position].highestVersion == record.highestVersion,
                    transaction.index.variables[position].isLive
                else {
                    throw CommandError(
                        .conflict,
                        "Somebody changed \(request.key) meanwhile.",
                        hint: "Nothing was changed; run the command again.")
                }
                _ = try value.withBytes { bytes in
                    try transaction.storeAside(bytes, forVariableAt: position, at: time)
                }
            }
            try transaction.keep(entry)
        }
        return (entry, held)
    }

    private var plan: RotationPlan {
        RotationPlan(
            key: request.key, commands: request.commands, redeploys: request.redeploys,
            promotes: request.promotes, failurePolicy: request.failurePolicy,
            timeoutSeconds: request.timeoutSeconds,
            members: places.map { place in
                RotationPlan.Member(
                    project: place.project.id, name: place.project.name,
                    platformProject: place.bound.platform.id,
                    platformName: place.bound.platform.name, target: place.deployment.target,
                    source: place.deployment.source, newestAt: place.deployment.newestAt,
                    records: place.records.map {
                        RotationPlan.Record(
                            variable: $0.id, oldVersion: $0.currentVersion,
                            newVersion: $0.highestVersion + 1)
                    })
            })
    }
}
