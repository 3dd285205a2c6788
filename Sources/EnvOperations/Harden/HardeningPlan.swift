package import Vault

/// Which readable variables of the platform become sensitive, computed from the vault and the
/// platform as it is now. Pure: whether the values agree is for the caller to find out.
///
/// The platform takes no sensitive variable for development, so the part of a scope that stays
/// readable becomes a record of its own.
package struct HardeningPlan: Equatable, Sendable {
    /// A record of the platform that is to become sensitive.
    package struct Candidate: Equatable, Sendable {
        /// The platform's record.
        package let record: PlatformRecord
        /// The vault's record of it; nil where the vault has none.
        package let variable: Variable?
        /// Where it becomes sensitive.
        package let hardened: Scope
        /// Where it stays readable; empty for nowhere, or where the vault has a record for that.
        package let rest: Scope

        /// Names all parts.
        package init(record: PlatformRecord, variable: Variable?, hardened: Scope, rest: Scope) {
            self.record = record
            self.variable = variable
            self.hardened = hardened
            self.rest = rest
        }

        /// Whether the vault must take the platform's value in first.
        package var lacksValue: Bool { (variable?.currentVersion ?? 0) == 0 }

        /// Whether the vault says already what the platform is to be.
        package var isPrepared: Bool { variable?.attributes.kind == .sensitive }
    }

    /// A record of the vault that becomes sensitive there, as Vercel wants it: Vercel has it so already, or
    /// has none yet.
    package struct Declaration: Equatable, Sendable {
        /// The vault's record.
        package let variable: Variable
        /// Where it becomes sensitive.
        package let hardened: Scope
        /// Where it stays readable, as a record of its own; empty for nowhere.
        package let rest: Scope
    }

    /// What the caller wants.
    package struct Rules: Equatable, Sendable {
        /// Keys to look at; nil for all.
        package var keys: Set<String>?
        /// Targets and custom environments to look at; nil for production and preview, with the
        /// custom environments of the same records.
        package var places: Scope?
        /// Records for which the journal has a write whose outcome is not known.
        package var begun: Set<Identifier> = []

        /// Looks at all.
        package init() {}
    }

    /// What becomes sensitive, by key.
    package private(set) var candidates: [Candidate] = []
    /// What is left as it is, and must not be.
    package private(set) var omissions: [RecordNote] = []
    /// What is sensitive already, and of which it is not known that the value arrived: an earlier run
    /// was about to send it. It is sent again.
    package private(set) var unconfirmed: [Candidate] = []
    /// What becomes sensitive in the vault, and is sent.
    package private(set) var declared: [Declaration] = []
    /// Readable parts that an earlier run split off, and did not send or not read back.
    package private(set) var leftovers: [Variable] = []

    private let variables: [Variable]
    private let rules: Rules
    private let vacated: VacatedScopes
    /// Records of the platform that no record of the vault stands for.
    private let strangers: [PlatformRecord]

    /// Plans.
    ///
    /// - Parameters:
    ///   - variables: All records of the project, removed ones included.
    ///   - platform: All records of the platform's project.
    package init(variables: [Variable], platform: [PlatformRecord], rules: Rules) {
        self.variables = variables
        self.rules = rules
        vacated = VacatedScopes(variables)
        let owned = Set(variables.compactMap { $0.remote?.id })
        strangers = platform.filter { !owned.contains($0.id) }
        let ordered = platform.sorted {
            ($0.key, $0.attributes.scope.description, $0.id)
                < ($1.key, $1.attributes.scope.description, $1.id)
        }
        for record in ordered where includes(record.key) {
            if record.attributes.kind == .sensitive { judgeSensitive(record) }
            guard [.plain, .encrypted].contains(record.attributes.kind) else { continue }
            let hardened = part(of: record.attributes.scope)
            if !hardened.isEmpty { judge(record, hardened) }
        }
        for variable in variables.sorted(by: { ($0.name, $0.id) < ($1.name, $1.id) })
        where rules.keys?.contains(variable.name) ?? false {
            judgeUnsent(variable, platform)
        }
        leftovers = variables.filter { includes($0.name) && isLeftover($0) }
            .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    private func includes(_ key: String) -> Bool { rules.keys?.contains(key) ?? true }

    /// The part of a scope that becomes sensitive.
    private func part(of scope: Scope) -> Scope {
        guard let places = rules.places else {
            let targets = scope.targets.subtracting(.development)
            return targets.isEmpty
                ? Scope(targets: [])
                : Scope(
                    targets: targets, customEnvironments: scope.customEnvironments,
                    branch: scope.branch)
        }
        return Scope(
            targets: scope.targets.intersection(places.targets).subtracting(.development),
            customEnvironments: scope.customEnvironments.filter {
                places.customEnvironments.contains($0)
            }, branch: scope.branch)
    }

    private mutating func judge(_ record: PlatformRecord, _ hardened: Scope) {
        let scope = record.attributes.scope
        func omit(_ reason: String, _ way: RecordNote.Way = .either) {
            omissions.append(RecordNote(key: record.key, scope: scope, reason: reason, way: way))
        }
        guard let variable = variables.first(where: { $0.remote?.id == record.id }) else {
            let isTaken = variables.contains {
                $0.isLive && $0.name == record.key && $0.attributes.scope.overlaps(scope)
            }
            guard !isTaken else { return omit("the vault has another one for that place") }
            let isLeft = variables.contains { vacated.place(of: $0)?.isTaken(by: record) ?? false }
            guard !isLeft else {
                return omit("Vercel has it in a place that the vault's has left")
            }
            candidates.append(
                Candidate(
                    record: record, variable: nil, hardened: hardened,
                    rest: scope.subtracting(hardened)))
            return
        }
        guard variable.isLive else { return omit("it was removed in the vault, and not yet there") }
        guard variable.name == record.key else {
            return omit(
                "it has another name in the vault", .together(with: variable.name, force: false))
        }
        // Once it is hardened nothing tells any more that the other one is in its place.
        if let place = vacated.place(of: variable), strangers.contains(where: place.isTaken) {
            return omit("Vercel has another one in a place that it has left")
        }
        if variable.attributes.kind == .sensitive {
            let own = variable.attributes.scope
            guard own.subtracting(scope).isEmpty, own.branch == scope.branch else {
                return omit("its targets differ in the vault and there")
            }
            candidates.append(
                Candidate(
                    record: record, variable: variable, hardened: own, rest: Scope(targets: [])))
            return
        }
        guard variable.attributes.scope == scope else {
            return omit("its targets differ in the vault and there")
        }
        candidates.append(
            Candidate(
                record: record, variable: variable, hardened: hardened,
                rest: scope.subtracting(hardened)))
    }

    /// The platform does not show the value, so all that is known is whether it was sent for certain.
    private mutating func judgeSensitive(_ record: PlatformRecord) {
        guard let variable = variables.first(where: { $0.remote?.id == record.id }),
            let remote = variable.remote, variable.isLive, variable.currentVersion > 0
        else { return }
        let isReadable = [.plain, .encrypted].contains(variable.attributes.kind)
        // A team's policy made it sensitive, or somebody who did it there is followed, who was named.
        let isForced = isReadable && (remote.agreed.kind == .sensitive || rules.keys != nil)
        guard isForced || variable.attributes.kind == .sensitive && remote.pushedVersion == 0
        else { return }
        // A record that moved since is sent only where the push knows of a write of its own.
        let isSeen = record.updatedAt == remote.agreedUpdatedAt
        guard isSeen || rules.begun.contains(variable.id) else {
            omissions.append(
                RecordNote(
                    key: record.key, scope: record.attributes.scope,
                    reason: "it was changed there, and its value is not known"))
            return
        }
        if isForced { return declare(variable) }
        unconfirmed.append(
            Candidate(
                record: record, variable: variable, hardened: variable.attributes.scope,
                rest: Scope(targets: [])))
    }

    /// A variable that Vercel does not have, and that was named: a team may take sensitive ones alone.
    private mutating func judgeUnsent(_ variable: Variable, _ platform: [PlatformRecord]) {
        let isThere = platform.contains {
            $0.key == variable.name && $0.attributes.scope.overlaps(variable.attributes.scope)
        }
        guard variable.isLive, variable.remote == nil, variable.currentVersion > 0,
            [.plain, .encrypted].contains(variable.attributes.kind), !isThere
        else { return }
        declare(variable)
    }

    private mutating func declare(_ variable: Variable) {
        let hardened = part(of: variable.attributes.scope)
        guard !hardened.isEmpty else { return }
        declared.append(
            Declaration(
                variable: variable, hardened: hardened,
                rest: variable.attributes.scope.subtracting(hardened)))
    }

    /// A part that was split off is made in the same moment as the other part becomes sensitive.
    private func isLeftover(_ variable: Variable) -> Bool {
        guard variable.isLive, (variable.remote?.pushedVersion ?? 0) == 0,
            variable.currentVersion > 0, variable.attributes.kind != .sensitive
        else { return false }
        return variables.contains {
            $0.isLive && $0.project == variable.project && $0.name == variable.name
                && $0.attributes.kind == .sensitive && $0.updatedAt == variable.createdAt
        }
    }
}
