internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// Everything that a rotation needs, read and checked before any change.
struct RotationSetup {
    /// One project, with its state in the vault and on Vercel.
    struct Place {
        let project: VaultProject
        let records: [Variable]
        /// The number that the new value gets.
        let newVersion: UInt64
        let bound: LinkedProject
        let deployment: RotationDeployments.Choice
        /// What was read from Vercel.
        let reading: VercelReading?
    }

    /// Projects and teams, read in one request per account or team.
    private struct Overview {
        /// By Vercel's project id.
        var projects: [String: Project] = [:]
        /// By id; nil if unreadable.
        var teams: [String: Team?] = [:]
    }

    private let workspace: Workspace
    private let request: RotationRequest
    /// The projects, in the order of the plan.
    let places: [Place]
    /// The value being replaced; nil if the vault does not have it.
    let old: SecretSlice?
    /// Descriptions of the records that keep the old value after it is revoked.
    let copies: [String]

    /// Checks the vault and Vercel.
    ///
    /// - Throws: ``ExitCode/usage`` if the records have different values, ``ExitCode/notFound`` if
    ///   there is no old value to revert to, ``ExitCode/conflict`` if Vercel differs or a rotation of
    ///   the same records is open.
    init(_ request: RotationRequest, _ workspace: Workspace) throws {
        self.workspace = workspace
        self.request = request
        try request.check()
        let session = workspace.session
        // Refuses a file that others can open before anything is sent.
        try session.keysForWriting()
        let keys = try session.keys(.values)
        let platform = try VercelSession(workspace)
        let missing = try RotationSelection.missing(request, workspace, keys: keys)
        if !missing.isEmpty {
            try OldValuePull(request: request, workspace: workspace)
                .take(missing, platform)
        }
        let selection = try RotationSelection(request, workspace, keys: keys)
        old = selection.old
        copies = try selection.copies()
        let found = selection.found
        try RotationNoticeGate.check(
            Set(found.flatMap { $0.records.map(\.id) }), in: try session.index(.everything))
        let overview = try Self.overview(of: found, platform)
        var checked: [Result<Place, any Error>?] = Array(repeating: nil, count: found.count)
        session.turns.run(found.count, limit: RotationMachine.buildLimit) { number in
            let place = Result {
                try Self.place(found[number], request, platform, overview, workspace)
            }
            checked[number] = place
            if case .failure = place { return false }
            return true
        }
        // Throws the first failure; the projects after it may not have been checked.
        places = try checked.compactMap { try $0?.get() }
        try checkDeployments()
        try checkProof()
        try RotationEntry(createdAt: 0, plan: plan).checkSize()
    }

    /// Reads projects and teams with one request for each account or team. Projects missing from the
    /// response are read individually later.
    private static func overview(
        of found: [RotationSelection.Found], _ platform: VercelSession
    ) throws -> Overview {
        var overview = Overview()
        var accesses: [VercelSession.Access] = []
        guard found.count > 1 else { return overview }
        for place in found {
            guard let binding = place.project.binding else { continue }
            let access = try platform.access(binding)
            if let team = binding.teamID, overview.teams[team] == nil {
                overview.teams.updateValue(try? access.client.team(team), forKey: team)
            }
            if accesses.contains(where: { $0.isSame(as: access) }) { continue }
            accesses.append(access)
            let listed = try? access.client.projects(limit: LiveRotationRemote.pageSize)
            for project in listed ?? [] where project.production != nil {
                overview.projects[project.id] = project
            }
        }
        return overview
    }

    private static func place(
        _ found: RotationSelection.Found, _ request: RotationRequest, _ platform: VercelSession,
        _ overview: Overview, _ workspace: Workspace
    ) throws -> Place {
        let bound = try LinkedProject.inVault(
            found.project, platform, workspace,
            knowing: found.project.binding.flatMap { overview.projects[$0.projectID] })
        let reading = try requireSync(found, bound, workspace)
        warnOfPolicy(found, bound, overview, workspace)
        // Also without --redeploy: somebody else may deploy before a revert.
        let deployment: RotationDeployments.Choice
        do {
            deployment = try RotationDeployments.choice(
                for: request.scope.map { [$0] } ?? found.records.map(\.attributes.scope), of: bound)
        } catch let error as CommandError where error.code == .notFound && !request.redeploys {
            deployment = .none
        }
        return Place(
            project: bound.local ?? found.project, records: found.records,
            newVersion: found.newVersion, bound: bound,
            deployment: deployment, reading: reading)
    }

    /// Warns of a team's policies that Vercel may apply to the new value: one makes readable variables
    /// sensitive, one wants Secrets of production to be variables of their own. Whether it does, the
    /// read-back shows.
    private static func warnOfPolicy(
        _ found: RotationSelection.Found, _ bound: LinkedProject, _ overview: Overview,
        _ workspace: Workspace
    ) {
        let readable = found.records.first { record in
            record.attributes.kind != .sensitive && !record.attributes.scope.isOnlyDevelopment
        }
        let mixed = found.records.first { record in
            record.attributes.kind == .sensitive
                && SeparateProduction.concerns(record.attributes.scope)
        }
        guard readable != nil || mixed != nil, let owner = bound.platform.teamID,
            let team = overview.teams[owner] ?? (try? bound.access.client.team(owner))
        else { return }
        let project = found.project.name
        if let readable, team.sensitivePolicy == "on" {
            workspace.context.warn(
                "forced-sensitive",
                "A team policy may make \(readable.name) in \(project) sensitive with the new value, and the rotation could then not be reverted. To make it sensitive first, run: zg-env harden \(word: readable.name) -p \(word: project)"
            )
        }
        if let mixed, team.separatesProductionSecrets {
            workspace.context.warn(
                "separate-production",
                "The team requires production Secrets to be separate variables, and \(mixed.name) in \(project) is for \(mixed.attributes.scope.description): Vercel may refuse the new value."
            )
        }
    }

    /// Requires the vault and Vercel to agree, so that a revert restores what was there.
    private static func requireSync(
        _ found: RotationSelection.Found, _ bound: LinkedProject, _ workspace: Workspace
    ) throws -> VercelReading? {
        let report = try PushWork(
            workspace, bound, bound.local ?? found.project,
            rules: .init(records: Set(found.records.map(\.id))), isPart: true
        ).run(asks: false, sends: false)
        if let records = report.reading?.records, !records.isComplete {
            throw HiddenProduction.refusal(
                records, of: found.project.name,
                "\(found.records[0].name) was not rotated: zg-env could not verify which value "
                    + "production has")
        }
        let owned = Set(found.records.compactMap { $0.remote?.id })
        if let managed = report.reading?.records.first(where: {
            owned.contains($0.id) && $0.integration != nil
        }) {
            throw CommandError(
                .conflict,
                "\(managed.key) in \(found.project.name) is managed by a Vercel integration, which may overwrite it.",
                hint: ConflictAdvice.rotatingIntegration)
        }
        if report.isInSync { return report.reading }
        throw CommandError(
            .conflict,
            "\(found.records[0].name) in \(found.project.name) is not in sync with Vercel.",
            hint:
                "Compare with: zg-env diff --remote -p \(word: found.project.name), then run: zg-env push \(word: found.records[0].name) -p \(word: found.project.name)"
        )
    }

    /// Rejects --redeploy if nothing would be deployed, and --revoke for a place where nothing would be.
    private func checkDeployments() throws {
        guard request.redeploys else { return }
        let undeployed = places.filter { place in
            scopes(of: place).allSatisfy {
                $0.targets.subtracting(.development).isEmpty && $0.customEnvironments.isEmpty
            }
        }
        guard let first = undeployed.first,
            undeployed.count == places.count || request.commands.revoke != nil
        else { return }
        throw CommandError(
            .usage,
            "The rotation replaces \(request.key) in \(first.project.name) only for development, which has no deployments.",
            hint: places.count > 1
                ? "Rotate it in \(first.project.name) by itself, without --redeploy."
                : "Rotate it without --redeploy, --check, --check-url and --revoke.")
    }

    /// Returns the scopes that are replaced in a project.
    private func scopes(of place: Place) -> [Scope] {
        request.scope.map { [$0] } ?? place.records.map(\.attributes.scope)
    }

    /// Rejects --revoke if nothing can prove the new value.
    private func checkProof() throws {
        guard request.commands.revoke != nil, !request.commands.hasCheck else { return }
        let hidden = places.first { place in
            !request.redeploys || place.deployment.target == nil
                || place.records.contains { $0.attributes.kind == .sensitive }
        }
        guard let hidden else { return }
        throw CommandError(
            .usage,
            "--revoke needs proof that \(hidden.project.name) has the new value.",
            hint: "Add --check or --check-url.")
    }

    /// The lines of the plan, as shown to the user.
    var lines: [String] {
        var lines: [String] = []
        for place in places {
            let scopes =
                request.scope?.description
                ?? place.records.map(\.attributes.scope.description).joined(separator: "; ")
            lines.append(
                "replace the value of \(request.key) in \(place.project.name) for \(scopes)")
        }
        if let command = request.commands.apply {
            lines.append("install the new value with: \(command)")
        }
        lines.append("push the new value, and read it back")
        for place in places {
            guard request.redeploys, let target = place.deployment.target,
                let source = place.deployment.source
            else { continue }
            let promotes = request.promotes && target == "production"
            lines.append(
                "redeploy \(source) of \(place.project.name) for \(target)"
                    + (promotes ? ", and promote the new deployment if it is staged" : ""))
        }
        if let warning = stagedWarning { lines.append("note: \(warning)") }
        if let command = request.commands.check {
            lines.append("check the new value with: \(command)")
        }
        if let url = request.commands.checkURL { lines.append("check the new value at: \(url)") }
        if let command = request.commands.revoke {
            lines.append("revoke the old value with: \(command)")
            if let warning = blindCheckWarning { lines.append("rely on --check alone: \(warning)") }
            for place in places {
                let left = leftovers(of: place)
                guard !left.isEmpty else { continue }
                lines.append(
                    "leave the deployments of \(place.project.name) for \(left.joined(separator: ", ")) with the revoked value until they are redeployed"
                )
            }
            lines += copies.map { "leave \($0) with the revoked value" }
        }
        return lines
    }

    /// The warning for a --revoke that relies on --check alone, because Vercel does not show the value
    /// a deployment was built with; nil if it does not apply.
    var blindCheckWarning: String? {
        let hidden = places.filter { place in
            place.records.contains { $0.attributes.kind == .sensitive }
        }
        guard !hidden.isEmpty, request.commands.revoke != nil, request.commands.check != nil,
            request.commands.checkURL == nil
        else { return nil }
        let names = hidden.map { $0.project.name }.joined(separator: ", ")
        return
            "Vercel does not show what a deployment of \(names) was built with, so only --check decides whether the old value is revoked. Have the check command query the deployment at ZG_ENV_DEPLOYMENT_URL, or add --check-url."
    }

    /// The warning for projects whose new production deployments are staged and not promoted; nil if
    /// there are none.
    var stagedWarning: String? {
        guard request.redeploys, !request.promotes else { return nil }
        let staged = places.filter {
            $0.deployment.target == "production" && $0.bound.platform.assignsDomains == false
        }
        guard !staged.isEmpty else { return nil }
        let names = staged.map { $0.project.name }.joined(separator: ", ")
        return
            "New production deployments of \(names) are staged. Without --promote, production keeps the old value and the rotation is reverted."
    }

    /// Returns the targets of a project that this rotation does not redeploy.
    func leftovers(of place: Place) -> [String] {
        RotationLeftovers.targets(
            of: scopes(of: place), deployed: place.deployment.target)
    }

    /// Reads or generates the new value, before any change.
    func newValue() throws -> SecretSlice {
        let value = try RotationInput.value(
            request, old: old, places[0].project.name, workspace)
        if let old, old.equals(value) {
            throw CommandError(
                .usage, "The new value of \(request.key) is the same as the old one.")
        }
        try checkSchema(value)
        return value
    }

    /// Compares the new value, and the names in the vault, with the schema of each project that has one.
    private func checkSchema(_ value: SecretSlice) throws {
        let index = try workspace.session.index(.listing)
        var hasSchema = false
        for place in places {
            let advice = try SchemaAdvice.find(
                for: place.project, in: index, requires: request.checksSchema, mayLack: true,
                isWork: true, workspace)
            guard let advice else { continue }
            hasSchema = true
            try advice.check(value, of: request.key, workspace)
            let look = VaultLook(of: place.project, in: index, nil)
            let targets = Set(
                place.records.flatMap {
                    $0.attributes.scope.targets.names + $0.attributes.scope.customEnvironments
                })
            let problems = try advice.problems(targets.sorted().map { look.look(at: $0) })
            try advice.require(problems, of: place.project.name, "Nothing was changed.")
        }
        guard hasSchema || !request.checksSchema else {
            throw CommandError(
                .usage, "There is no schema to check \(request.key) with.",
                hint: "Run the command in the directory that is linked to the "
                    + "project.")
        }
    }

    /// Stores the new value together with the plan, which starts the rotation.
    func begin(with value: SecretSlice) throws -> (RotationEntry, RotationLock) {
        let session = workspace.session
        let time = workspace.context.now()
        let entry = RotationEntry(createdAt: time, plan: plan)
        let lock = try RotationLock(entry, workspace)
        let records = places.flatMap(\.records)
        let ids = Set(records.map(\.id))
        let change = Change { [places, key = request.key] index, _ in
            RotatedVersions(
                try places.map { try index.nextVersion(of: $0.project.id, named: key) },
                of: index.variables.filter { ids.contains($0.id) && $0.isLive })
        } apply: { transaction, _, _ in
            try RotationSelection.checkNoneIsOpen(
                for: ids, key: request.key, in: transaction.index)
            for place in places {
                let positions = place.records.compactMap { transaction.position(of: $0.id) }
                _ = try value.withBytes { bytes in
                    try transaction.storeAside(bytes, forVariablesAt: positions, at: time)
                }
            }
            try transaction.keep(entry)
        }
        let planned = RotatedVersions(places.map(\.newVersion), of: records)
        try session.commit(change, as: Planned(planned, about: records))
        return (entry, lock)
    }

    private struct RotatedVersions: Equatable {
        /// By project.
        let new: [UInt64]
        /// By record.
        let old: [Identifier: UInt64]

        init(_ new: [UInt64], of records: [Variable]) {
            self.new = new
            old = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.currentVersion) })
        }
    }

    private var plan: RotationPlan {
        RotationPlan(
            key: request.key, options: request.options,
            members: places.map { place in
                RotationPlan.Member(
                    project: place.project.id, name: place.project.name,
                    vercelProject: place.bound.platform.id,
                    vercelName: place.bound.platform.name, target: place.deployment.target,
                    source: place.deployment.source, newestAt: place.deployment.newestAt,
                    records: place.records.map {
                        RotationPlan.Record(
                            variable: $0.id, oldVersion: $0.currentVersion,
                            newVersion: place.newVersion)
                    })
            })
    }
}
